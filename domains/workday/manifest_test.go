package workday_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

func (b *bench) manifest() *contracts.Manifest {
	b.Helper()
	svc, err := workday.New(b.config)
	if err != nil {
		b.Fatal(err)
	}
	return domaintest.Manifest(b, svc)
}

func find(t *testing.T, m *contracts.Manifest, name string) contracts.Capability {
	t.Helper()
	i := slices.IndexFunc(m.Capabilities, func(c contracts.Capability) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no capability %q", name)
	}
	return m.Capabilities[i]
}

func TestEveryCapabilityIsDeclaredInFull(t *testing.T) {
	t.Parallel()
	m := setup(t, sandbox.Config{}).manifest()
	for _, c := range m.Capabilities {
		md := c.Metadata
		if c.Description == "" || md.SideEffectClass == "" || md.Idempotency == "" || md.RiskLevel == "" || len(md.Examples) == 0 {
			t.Errorf("%s: description, class, idempotency, risk or example is missing", c.Name)
		}
		if md.SideEffectClass.Writes() && (md.Verify == nil || md.Reconcile == nil || len(md.Locks) == 0 || !md.Idempotency.Repeatable()) {
			t.Errorf("%s: a write without verify, reconcile, lock or key", c.Name)
		}
		if (md.SideEffectClass == contracts.ClassWriteReversible) != (md.Compensation != nil) {
			t.Errorf("%s: what can be undone says how, and nothing else", c.Name)
		}
		if md.Routable != nil && !*md.Routable {
			continue
		}
		if md.IntentHints == nil || len(md.IntentHints.Examples) < 5 || len(md.IntentHints.Not) < 2 || md.Present == nil {
			t.Errorf("%s: too few examples, or no table", c.Name)
		}
		for _, name := range required(t, c) {
			if md.ParameterSpecs[name].Ask == "" {
				t.Errorf("%s: no question for the required %s", c.Name, name)
			}
		}
	}
}

func required(t *testing.T, c contracts.Capability) []string {
	t.Helper()
	var schema struct {
		Required []string `json:"required"`
	}
	if err := json.Unmarshal(c.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	return schema.Required
}

// A manifest that changed between starts would be reviewed again each time, and the approvals of
// its declarations would be requested again.
func TestTheManifestIsTheSameAtEachStart(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	first := b.manifest()
	for range 8 {
		if diff := cmp.Diff(first, b.manifest()); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestExamplesAreDistinct(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, c := range setup(t, sandbox.Config{}).manifest().Capabilities {
		if c.Metadata.IntentHints == nil {
			continue
		}
		for _, example := range c.Metadata.IntentHints.Examples {
			if before, dup := seen[strings.ToLower(example)]; dup {
				t.Errorf("%q stands at %s and %s", example, before, c.Name)
			}
			seen[strings.ToLower(example)] = c.Name
		}
	}
}

// scope holds the values that parameter maps and assertions read.
type scope object

var place = regexp.MustCompile(`^\$\{(.+)\}$`)

// value evaluates a literal or "${path}".
func (s scope) value(v any) any {
	text, isText := v.(string)
	m := place.FindStringSubmatch(text)
	if !isText || m == nil {
		return v
	}
	return s.at(m[1])
}

func (s scope) at(path string) any {
	var v any = object(s)
	for key := range strings.SplitSeq(path, ".") {
		fields, _ := v.(object)
		v = fields[key]
	}
	return v
}

// params evaluates a parameter map: a parameter that the write did not have is left out, any other
// missing value is an error.
func (s scope) params(t *testing.T, m map[string]any) object {
	t.Helper()
	out := object{}
	for name, v := range m {
		value := s.value(v)
		if value == nil && !strings.HasPrefix(fmt.Sprint(v), "${params.") {
			t.Errorf("%s reads %v, which is not there", name, v)
		}
		if value != nil {
			out[name] = value
		}
	}
	return out
}

func (s scope) holds(c contracts.Condition) bool {
	got := fmt.Sprint(s.at(c.Path))
	if c.Equals != nil {
		return got == fmt.Sprint(s.value(*c.Equals))
	}
	return slices.ContainsFunc(c.In, func(v any) bool { return got == fmt.Sprint(v) })
}

// TestWritesKeepWhatTheManifestPromises executes each write and then what the manifest declares:
// verification, look-up by key, compensation.
func TestWritesKeepWhatTheManifestPromises(t *testing.T) {
	t.Parallel()
	for name, w := range writes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, sandbox.Config{})
			w.prepare(b)
			md := find(t, b.manifest(), w.capability).Metadata
			parameters := w.parameters(b)
			before := b.state()
			s := scope{"params": parameters, "context": object{"idempotency_key": "run/node/1"}}

			subset(t, object{"applied": false}, b.facts(md.Reconcile.Capability, s.params(t, md.Reconcile.ParamMap), ""))
			s["result"] = object{"facts": b.facts(w.capability, parameters, "run/node/1")}

			s["facts"] = b.facts(md.Verify.Capability, s.params(t, md.Verify.ParamMap), "")
			for _, c := range md.Verify.Assertions {
				if !s.holds(c) {
					t.Errorf("%s does not hold of %v", c.Path, s["facts"])
				}
			}
			found := b.facts(md.Reconcile.Capability, s.params(t, md.Reconcile.ParamMap), "")
			subset(t, object{"applied": true}, found)

			if md.Compensation == nil {
				return
			}
			b.facts(md.Compensation.Capability, s.params(t, md.Compensation.ParamMap), "undo")
			b.tenant.ApproveAll() // of the repeated request
			if diff := cmp.Diff(before, b.state()); diff != "" {
				t.Errorf("the compensation left (-before +after):\n%s", diff)
			}
		})
	}
}

// state is the state of Ana Souza that the writes change, once everything is approved.
func (b *bench) state() object {
	b.Helper()
	ana := b.id("Ana Souza")
	return object{
		"title": b.facts("get_worker", object{"worker": ana}, "")["title"],
		"team":  b.facts("get_worker", object{"worker": ana}, "")["organization"],
		"dates": column(b.facts("list_time_off", object{"worker": ana}, "")["entries"], "date"),
	}
}

func TestReconcileFactsServeAsTheResult(t *testing.T) {
	t.Parallel()
	for name, w := range writes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, sandbox.Config{})
			w.prepare(b)
			md := find(t, b.manifest(), w.capability).Metadata
			s := scope{"params": w.parameters(b), "context": object{"idempotency_key": "run/node/1"}}
			result := b.facts(w.capability, w.parameters(b), "run/node/1")
			found := b.facts(md.Reconcile.Capability, s.params(t, md.Reconcile.ParamMap), "")
			undo := contracts.CapabilityCall{}
			if md.Compensation != nil {
				undo = *md.Compensation
			}
			for _, m := range []map[string]any{md.Verify.ParamMap, undo.ParamMap} {
				for _, v := range m {
					path, isResult := strings.CutPrefix(fmt.Sprint(v), "${result.facts.")
					key := strings.TrimSuffix(path, "}")
					if isResult && fmt.Sprint(found[key]) != fmt.Sprint(result[key]) {
						t.Errorf("%s: found %v, the write said %v", key, found[key], result[key])
					}
				}
			}
		})
	}
}

func TestTheManifestNamesPeopleOfTheSandbox(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	raw, err := os.ReadFile("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	ids := regexp.MustCompile(`"worker": "([0-9a-f]{32})"`).FindAllSubmatch(raw, -1)
	if len(ids) == 0 {
		t.Fatal("no example names a worker")
	}
	for _, id := range ids {
		if string(id[1]) != b.id("Ana Souza") {
			t.Errorf("example of an unknown worker %s", id[1])
		}
	}
	for _, name := range find(t, b.manifest(), "request_time_off").Metadata.ParameterSpecs["worker"].Examples {
		b.id(fmt.Sprint(name))
	}
}
