package eval_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/eval"
	"github.com/manifold-run/manifold/intent/local"
)

// unseen are three domains that nothing was tuned to: a library, a garage and a
// farm.
func unseen(t *testing.T) *contracts.Catalog {
	t.Helper()
	return domainsIn(t, "testdata/unseen.json")
}

func domainsIn(t *testing.T, file string) *contracts.Catalog {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var domains []struct {
		Domain       string
		Capabilities []struct {
			Name, Description string
			Writes            bool
			Schema            json.RawMessage
			Examples          []string
			ParameterSpecs    map[string]contracts.ParameterSpec `json:"parameter_specs"`
		}
	}
	if err := json.Unmarshal(raw, &domains); err != nil {
		t.Fatal(err)
	}
	var set eval.Set
	for _, d := range domains {
		m := &contracts.Manifest{SchemaVersion: contracts.SchemaVersion, Domain: d.Domain}
		for _, c := range d.Capabilities {
			to := contracts.Capability{Name: c.Name, Description: c.Description, Schema: c.Schema}
			to.Metadata.SideEffectClass, to.Metadata.RiskLevel = contracts.ClassRead, contracts.RiskLow
			if c.Writes {
				to.Metadata.SideEffectClass, to.Metadata.RiskLevel = contracts.ClassWriteIrreversible, contracts.RiskMedium
			}
			to.Metadata.IntentHints = &contracts.IntentHints{Examples: c.Examples}
			to.Metadata.ParameterSpecs = c.ParameterSpecs
			m.Capabilities = append(m.Capabilities, to)
		}
		set.Manifests = append(set.Manifests, m)
	}
	catalog, err := set.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

// heard is a sentence, and the calls that it must lead to; none means that it
// must not be done as it stands.
type heard struct {
	language, say string
	calls         []string
	fault         bool // it is not judged right yet
}

func heardIn(t *testing.T, file string) []heard {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []heard
	language := ""
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "= "); ok {
			language = head
			continue
		}
		say, want, ok := strings.Cut(line, " => ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		h := heard{language: language, say: say, fault: want == "!"}
		if !h.fault && !strings.HasPrefix(want, "?") {
			h.calls = strings.Split(want, " + ")
		}
		out = append(out, h)
	}
	return out
}

// callOf writes an intent as the file does.
func callOf(in contracts.Intent) string {
	var b strings.Builder
	b.WriteString(in.Ref())
	for _, name := range slices.Sorted(mapKeys(in.Parameters)) {
		v := fmt.Sprint(in.Parameters[name])
		if strings.Contains(v, " ") {
			v = "[" + v + "]"
		}
		fmt.Fprintf(&b, " %s=%s", name, v)
	}
	return b.String()
}

func mapKeys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// sorted puts the parameters of a call in order.
func sorted(call string) string {
	ref, rest, _ := strings.Cut(strings.TrimSpace(call), " ")
	var params []string
	for rest != "" {
		end := strings.IndexByte(rest, ' ')
		if open := strings.Index(rest, "=["); open >= 0 && (end < 0 || open < end) {
			end = open + strings.IndexByte(rest[open:], ']') + 1
			end += len(rest[end:]) - len(strings.TrimLeft(rest[end:], "]")) // a list ends with two
		}
		if end < 0 || end >= len(rest) {
			end = len(rest)
		}
		params = append(params, rest[:end])
		rest = strings.TrimSpace(rest[end:])
	}
	slices.Sort(params)
	return strings.TrimSpace(ref + " " + strings.Join(params, " "))
}

// What is said is what is done: in domains that nothing was tuned to, nothing is
// done with other values or with a part left out, and most of what is clear is
// done without a question.
func TestWhatWasSaidIsWhatIsDone(t *testing.T) {
	t.Parallel()
	catalog := unseen(t)
	sentences := heardIn(t, "testdata/unseen.txt")
	for name, adapter := range adapters(t, catalog) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clear, done := 0, 0
			for _, h := range sentences {
				right := judgeHeard(t, adapter, catalog, h)
				if h.calls != nil {
					clear++
					if right {
						done++
					}
				}
			}
			t.Logf("%d of %d clear requests are done", done, clear)
			if done*100 < 75*clear {
				t.Errorf("only %d of %d clear requests are done", done, clear)
			}
		})
	}
}

// judgeHeard reports whether a clear request is done, and fails the test where
// something else than what was said is done.
func judgeHeard(t *testing.T, adapter *local.Reader, catalog *contracts.Catalog, h heard) bool {
	t.Helper()
	u, err := adapter.Understand(t.Context(), intent.Request{Message: h.say, Catalog: catalog, Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	writes, lacks := false, false
	for _, in := range u.Intents {
		entry, ok := catalog.Capability(in.Ref())
		writes = writes || !ok || entry.Policy.SideEffectClass.Writes()
		lacks = lacks || len(in.Missing) > 0
		got = append(got, callOf(in))
	}
	for _, call := range h.calls {
		want = append(want, sorted(call))
	}
	slices.Sort(got)
	slices.Sort(want)
	switch {
	case u.Outcome != contracts.ReadingAccepted || lacks:
		if h.calls != nil {
			t.Logf("%s %q: %s: %s %v %q", h.language, h.say, u.Outcome, u.Question, got, u.Unused)
		}
		return false
	case h.fault:
		t.Logf("%s %q would be done: %v", h.language, h.say, got)
	case h.calls == nil && writes:
		t.Errorf("%s %q would be done: %v", h.language, h.say, got)
	case h.calls != nil && !slices.Equal(got, want):
		if writes {
			t.Errorf("%s %q would be done as %v", h.language, h.say, got)
		}
		t.Logf("%s %q: %v", h.language, h.say, got)
		return false
	}
	return true
}
