package flowise_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/conformance"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/flowise"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/planner/workflow"
)

// saveExample saves the chatflow that the manifest's examples refer to.
func (b *bench) saveExample() {
	b.Helper()
	made := b.execute("compile_flow", object{"ops": replyOps("Pong")}, in{})
	flow := object{"id": exampleID, "name": "Support Bot", "type": "AGENTFLOW", "flowData": b.graph(made)}
	b.direct(http.MethodPost, "/chatflows", flow, &struct{}{})
}

func TestTheServiceKeepsTheContract(t *testing.T) {
	t.Parallel()
	servers := map[string]func(*testing.T) *bench{"in front of the sandbox": setup, "in front of a real server": real}
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			b.saveExample()
			b.facts("apply_patch", object{"chatflow_id": exampleID, "ops": setReply("Ping")}, in{key: "patch"})
			b.facts("save_pattern", object{"chatflow_id": exampleID}, in{key: "pattern"})
			b.config.Authorization = []string{"secret"}
			b.restart()
			report := conformance.Run(t.Context(), conformance.Options{URL: b.url, Authorization: "Bearer secret", AllowWrites: true})
			for _, f := range report.Findings() {
				t.Errorf("%s %s: %s %s", f.Severity, f.Rule, f.Message, f.Pointer)
			}
			for _, c := range report.Checks {
				if strings.Contains(c.Detail, "not there") {
					t.Errorf("%s was skipped: %s", c.Name, c.Detail)
				}
			}
		})
	}
}

// TestAnEmptyServerIsNoDefectOfTheDomain: the manifest's examples refer to a chatflow that a new
// server does not have.
func TestAnEmptyServerIsNoDefectOfTheDomain(t *testing.T) {
	t.Parallel()
	report := conformance.Run(t.Context(), conformance.Options{URL: setup(t).url, AllowWrites: true})
	for _, f := range report.Findings() {
		if f.Rule != "open" { // this service requires no token
			t.Errorf("%s %s: %s %s", f.Severity, f.Rule, f.Message, f.Pointer)
		}
	}
	skipped := 0
	for _, c := range report.Checks {
		if strings.Contains(c.Detail, "speaks of what is not there") {
			skipped++
		}
	}
	if skipped < 10 {
		t.Errorf("%d checks say that their example is not there", skipped)
	}
}

func (b *bench) manifest() *contracts.Manifest {
	b.Helper()
	svc, err := flowise.New(b.config)
	if err != nil {
		b.Fatal(err)
	}
	return domaintest.Manifest(b, svc)
}

// catalog is a catalog with this domain only, including its workflows.
func (b *bench) catalog() *contracts.Catalog {
	b.Helper()
	manifest := b.manifest()
	out := domaintest.Catalog(b, manifest)
	for i := range manifest.Workflows {
		entry, missing, err := workflow.Entry(manifest, &manifest.Workflows[i], out)
		if err != nil || len(missing) > 0 {
			b.Fatalf("workflow %s: %v, it waits for %v", manifest.Workflows[i].Name, err, missing)
		}
		out.Domains[0].Capabilities = append(out.Domains[0].Capabilities, entry)
	}
	return out
}

func TestTheManifestsOwnSentencesFindTheirWay(t *testing.T) {
	t.Parallel()
	adapter, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, failure := range local.RunRoutingTests(t.Context(), adapter, setup(t).catalog(), "flowise") {
		t.Errorf("%q: %s", failure.Say, failure.Problem)
	}
}

func TestEveryCapabilityIsDeclaredInFull(t *testing.T) {
	t.Parallel()
	for _, c := range setup(t).manifest().Capabilities {
		md := c.Metadata
		if c.Description == "" || md.SideEffectClass == "" || md.Idempotency == "" || md.RiskLevel == "" {
			t.Errorf("%s: description, class, idempotency or risk is missing", c.Name)
		}
		if md.SideEffectClass.Writes() && (md.Verify == nil || len(md.Locks) == 0 || !md.Idempotency.Repeatable()) {
			t.Errorf("%s: a write without verify, lock or key", c.Name)
		}
		if md.SideEffectClass == contracts.ClassWriteReversible && md.Compensation == nil {
			t.Errorf("%s: nothing undoes it", c.Name)
		}
		if md.IntentHints != nil && (len(md.IntentHints.Examples) < 5 || len(md.IntentHints.Not) < 2 || md.Present == nil) {
			t.Errorf("%s: too few examples, or no table", c.Name)
		}
	}
}
