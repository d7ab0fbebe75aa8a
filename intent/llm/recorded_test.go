package llm_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/llm"
	"github.com/manifold-run/manifold/internal/reasoning"
)

// recordedSet are cases of the Berkeley Function Calling Leaderboard with what real models
// answered (testdata/bfcl.json: a share, Apache-2.0; MANIFOLD_RECORDED names a whole file).
type recordedSet struct {
	Functions []struct {
		Name, Description string
		Schema            json.RawMessage
	}
	Cases []struct {
		ID, Text, Split string
		Offered         []string
		Gold            []recordedGold
	}
	Models map[string]map[string][]recordedCall
}

type recordedGold struct {
	Capability string
	Parameters map[string][]any
}

type recordedCall struct {
	Name      string
	Arguments map[string]any
}

func readRecordedSet(t *testing.T) recordedSet {
	t.Helper()
	raw, err := os.ReadFile(cmp.Or(os.Getenv("MANIFOLD_RECORDED"), "testdata/bfcl.json"))
	if err != nil {
		t.Fatal(err)
	}
	var set recordedSet
	if err := json.Unmarshal(raw, &set); err != nil {
		t.Fatal(err)
	}
	return set
}

// catalog offers the functions of one case; as writes they have gates.
func (s recordedSet) catalog(offered []string, class contracts.SideEffectClass) *contracts.Catalog {
	m := &contracts.Manifest{SchemaVersion: contracts.SchemaVersion, Domain: "bfcl"}
	for _, f := range s.Functions {
		if slices.Contains(offered, f.Name) {
			c := contracts.Capability{Name: f.Name, Description: f.Description, Schema: f.Schema}
			c.Metadata.SideEffectClass = class
			m.Capabilities = append(m.Capabilities, c)
		}
	}
	d := &contracts.DomainEntry{Name: m.Domain, Manifest: m}
	for i := range m.Capabilities {
		c := &m.Capabilities[i]
		d.Capabilities = append(d.Capabilities, &contracts.CapabilityEntry{Domain: m.Domain, Capability: c, Policy: c.Metadata.Policy(false)})
	}
	return contracts.NewCatalog(strings.Join(offered, " "), []*contracts.DomainEntry{d}, nil)
}

// exactly reports whether calls are those that are right, in any order.
func exactly(gold []recordedGold, calls []recordedCall) bool {
	if len(gold) != len(calls) {
		return false
	}
	left := slices.Clone(calls)
	for _, g := range gold {
		at := slices.IndexFunc(left, func(c recordedCall) bool { return c.Name == g.Capability && fits(g.Parameters, c.Arguments) })
		if at < 0 {
			return false
		}
		left = slices.Delete(left, at, at+1)
	}
	return true
}

func fits(right map[string][]any, given map[string]any) bool {
	for name, options := range right {
		v, ok := given[name]
		if !ok && slices.Contains(options, any("")) {
			continue
		}
		if !ok || !slices.ContainsFunc(options, func(o any) bool { return alike(o, v) }) {
			return false
		}
	}
	return !slices.ContainsFunc(slices.Collect(maps.Keys(given)), func(name string) bool { _, known := right[name]; return !known })
}

func alike(a, b any) bool {
	plain := func(v any) string {
		return strings.ToLower(strings.NewReplacer(" ", "", ",", "", ".", "", "-", "", "_", "", "'", "").Replace(fmt.Sprint(v)))
	}
	return reflect.DeepEqual(a, b) || plain(a) == plain(b)
}

// What real models answered comes through as they gave it: exact in as many cases as alone, less
// half a point. What was asked of nobody opens no gate, since nothing that only looks has one.
func TestWhatRealModelsAnsweredComesThrough(t *testing.T) {
	t.Parallel()
	set, site := readRecordedSet(t), newSite(t)
	for name, answers := range set.Models {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alone, through, all, gates, writes := 0, 0, 0, 0, 0
			for _, c := range set.Cases {
				if len(c.Gold) == 0 {
					gates += opened(t, site, set.catalog(c.Offered, contracts.ClassRead), c.Text, answers[c.ID])
					writes += opened(t, site, set.catalog(c.Offered, contracts.ClassWriteIrreversible), c.Text, answers[c.ID])
					continue
				}
				all++
				if exactly(c.Gold, answers[c.ID]) {
					alone++
				}
				u := played(t, site, set.catalog(c.Offered, contracts.ClassRead), c.Text, answers[c.ID])
				if u.Outcome == contracts.ReadingAccepted && exactly(c.Gold, callsOf(u)) {
					through++
				} else if exactly(c.Gold, answers[c.ID]) {
					t.Logf("%s is lost: %v became %v", c.ID, answers[c.ID], callsOf(u))
				}
			}
			t.Logf("exact alone %d, through %d of %d; for nobody: %d gates, %d if all were writes that cannot be undone", alone, through, all, gates, writes)
			if all == 0 || 200*(alone-through) > all || gates > 0 {
				t.Errorf("exact alone %d, through %d of %d; %d gates for nobody", alone, through, all, gates)
			}
		})
	}
}

func callsOf(u intent.Understanding) []recordedCall {
	var out []recordedCall
	for _, in := range u.Intents {
		out = append(out, recordedCall{in.Capability, in.Parameters})
	}
	return out
}

func played(t *testing.T, s site, catalog *contracts.Catalog, text string, calls []recordedCall) intent.Understanding {
	t.Helper()
	r := reasoning.Reading{Reply: "no"}
	for _, c := range calls {
		entry, ok := catalog.Capability("bfcl." + c.Name)
		if !ok {
			r.Faults = append(r.Faults, "there is no function "+c.Name)
			continue
		}
		r.Proposals = append(r.Proposals, reasoning.Proposal{Entry: entry, Parameters: maps.Clone(c.Arguments)})
	}
	u, err := llm.New(s.local, &model{readings: []reasoning.Reading{r}}, nil).Understand(t.Context(), intent.Request{Message: text, Catalog: catalog, AnyRole: true})
	if err != nil {
		return intent.Understanding{Outcome: contracts.ReadingDeclined} // it is mended once; recorded answers do not change
	}
	return u
}

// opened counts writes that would come to a gate without a question.
func opened(t *testing.T, s site, catalog *contracts.Catalog, text string, calls []recordedCall) int {
	t.Helper()
	u := played(t, s, catalog, text, calls)
	n := 0
	for _, in := range u.Intents {
		entry, _ := catalog.Capability(in.Ref())
		if u.Outcome == contracts.ReadingAccepted && entry.Policy.SideEffectClass.Writes() && len(in.Missing) == 0 {
			n++
		}
	}
	return n
}
