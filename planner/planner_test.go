package planner_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner"
)

var update = flag.Bool("update", false, "rewrite the wanted part of testdata/plans")

// scenario is the request in a file in testdata/plans.
type scenario struct {
	// Domains are files in testdata/domains; those of the file itself are added.
	Domains   []string            `json:"domains"`
	SiteRoles map[string]string   `json:"site_roles"`
	Goal      string              `json:"goal"`
	Intents   []contracts.Intent  `json:"intents"`
	Owner     contracts.Principal `json:"owner"`
	Instances map[string]string   `json:"instances"`
	Roles     map[string]string   `json:"roles"`
	Budgets   contracts.Budgets   `json:"budgets"`
	DryRun    bool                `json:"dry_run"`
	Phase     string              `json:"phase"`
}

func (s scenario) request(catalog *contracts.Catalog) planner.Request {
	return planner.Request{
		Goal: s.Goal, Intents: s.Intents, Catalog: catalog, Owner: s.Owner, Instances: s.Instances,
		Roles: s.Roles, Budgets: s.Budgets, DryRun: s.DryRun, Phase: s.Phase,
	}
}

// TestPlans compares the results of Compile with the files. The head of a file describes what it
// tests.
func TestPlans(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "plans", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in testdata/plans: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			t.Parallel()
			testPlan(t, name)
		})
	}
}

func testPlan(t *testing.T, name string) {
	t.Helper()
	parts := readParts(t, name)
	var s scenario
	decode(t, parts["request.json"], &s)
	catalog := catalogOf(t, s, parts)
	result, err := planner.Compile(s.request(catalog))
	got := render(result, err)
	if err == nil && len(result.Questions) == 0 {
		if err := planner.Validate(result.Plan, catalog); err != nil {
			t.Errorf("the plan does not validate: %v", err)
		}
	}
	if *update {
		writeWant(t, name, got)
		return
	}
	if diff := cmp.Diff(parts["want"], got); diff != "" {
		t.Errorf("plan differs (-want +got):\n%s", diff)
	}
}

// readParts parses a file with sections that begin with "-- name --".
func readParts(t *testing.T, name string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	parts, section := map[string]string{}, ""
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "-- "); ok {
			section = strings.TrimSuffix(strings.TrimSpace(rest), " --")
			continue
		}
		parts[section] += line
	}
	return parts
}

func writeWant(t *testing.T, name, got string) {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(raw), "-- want --\n")
	if err := os.WriteFile(name, []byte(head+"-- want --\n"+got), 0o600); err != nil {
		t.Fatal(err)
	}
}

func decode(tb testing.TB, text string, v any) {
	tb.Helper()
	if err := contracts.DecodeStrict([]byte(text), v); err != nil {
		tb.Fatalf("%v in %s", err, text)
	}
}

func catalogOf(tb testing.TB, s scenario, parts map[string]string) *contracts.Catalog {
	tb.Helper()
	var manifests []*contracts.Manifest
	for _, name := range s.Domains {
		raw, err := os.ReadFile(filepath.Join("testdata", "domains", name+".json"))
		if err != nil {
			tb.Fatal(err)
		}
		m := new(contracts.Manifest)
		decode(tb, string(raw), m)
		manifests = append(manifests, m)
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if strings.HasPrefix(name, "domain") {
			m := new(contracts.Manifest)
			decode(tb, parts[name], m)
			manifests = append(manifests, m)
		}
	}
	return newCatalog(tb, contracts.SitePolicy{Roles: s.SiteRoles}, manifests...)
}

// newCatalog computes effective policies and digests like the registry.
func newCatalog(tb testing.TB, site contracts.SitePolicy, manifests ...*contracts.Manifest) *contracts.Catalog {
	tb.Helper()
	var domains []*contracts.DomainEntry
	for _, m := range manifests {
		d := &contracts.DomainEntry{Name: m.Domain, Manifest: m}
		for i := range m.Capabilities {
			c := &m.Capabilities[i]
			policy := contracts.EffectivePolicy(m.Domain, c, c.Metadata.Compensation != nil, contracts.Overlay{}, site)
			digest, err := contracts.CapabilityDigest(c, policy)
			if err != nil {
				tb.Fatal(err)
			}
			d.Capabilities = append(d.Capabilities, &contracts.CapabilityEntry{
				Domain: m.Domain, Capability: c, Policy: policy, Digest: digest,
			})
		}
		domains = append(domains, d)
	}
	return contracts.NewCatalog("snapshot", domains, site.Roles)
}

// render formats a result for review.
func render(r planner.Result, err error) string {
	var out strings.Builder
	if err != nil {
		fmt.Fprintf(&out, "error %s\n", contracts.CodeOf(err))
		if e, ok := errors.AsType[*contracts.Error](err); ok {
			fmt.Fprintf(&out, "  %s\n", e.Message)
			for _, f := range e.Faults {
				fmt.Fprintf(&out, "  %s: %s\n", f.Pointer, f.Message)
			}
		}
		return out.String()
	}
	for _, q := range r.Questions {
		renderQuestion(&out, q)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&out, "note %s\n", n)
	}
	if len(r.Questions) > 0 {
		return out.String()
	}
	fmt.Fprintf(&out, "goal %s\nstrategy %s\n", r.Plan.Goal, r.Plan.Strategy)
	for _, n := range r.Plan.Nodes {
		renderNode(&out, n)
	}
	for _, domain := range slices.Sorted(maps.Keys(r.Plan.Instances)) {
		fmt.Fprintf(&out, "instance %s=%s\n", domain, r.Plan.Instances[domain])
	}
	fmt.Fprintf(&out, "pinned %s\n", strings.Join(slices.Sorted(maps.Keys(r.Plan.CapabilityDigests)), " "))
	return out.String()
}

func renderQuestion(out *strings.Builder, q planner.Question) {
	fmt.Fprintf(out, "question %s intent=%s", q.Kind, q.IntentID)
	for _, target := range [][2]string{{"param", q.Param}, {"role", q.Role}, {"domain", q.Domain}} {
		if target[1] != "" {
			fmt.Fprintf(out, " %s=%s", target[0], target[1])
		}
	}
	fmt.Fprintf(out, "\n  %s\n", q.Prompt)
	for _, o := range q.Options {
		fmt.Fprintf(out, "  - %s %q %q %v\n", o.ID, o.Label, o.Detail, o.Value)
	}
	fmt.Fprintf(out, "  schema %s\n", canonical(q.Schema))
}

func renderNode(out *strings.Builder, n contracts.Node) {
	fmt.Fprintf(out, "%s %s", n.NodeID, n.Kind)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(out, " %s=%s", name, value)
		}
	}
	line("tool", n.Tool)
	line("role", n.Role)
	line("of", n.ForNode)
	line("after", strings.Join(n.DependsOn, ","))
	line("behind", strings.Join(n.RunAfter, ","))
	line("intent", n.IntentID)
	line("branch", n.BranchID)
	line("join", n.JoinKey)
	line("phase", n.Phase)
	line("instance", n.Instance)
	if n.Group != "" {
		fmt.Fprintf(out, " group=%s/%d", n.Group, n.GroupLimit)
	}
	if !n.Required {
		out.WriteString(" optional")
	}
	if n.Policy != nil && n.Policy.ApprovalRequired {
		out.WriteString(" gate")
	}
	fmt.Fprintf(out, "\n  %s\n", n.Title)
	if n.Params != nil {
		fmt.Fprintf(out, "  params %s\n", canonical(n.Params))
	}
	for _, extra := range []struct {
		name  string
		value any
		set   bool
	}{{"when", n.When, n.When != nil}, {"locks", n.Locks, n.Locks != nil}, {"for_each", n.ForEach, n.ForEach != nil}, {"human", n.Human, n.Human != nil}} {
		if extra.set {
			fmt.Fprintf(out, "  %s %s\n", extra.name, canonical(extra.value))
		}
	}
}

func canonical(v any) string {
	raw, err := contracts.Canonical(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
