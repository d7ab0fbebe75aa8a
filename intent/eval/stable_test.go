package eval_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/eval"
	"github.com/manifold-run/manifold/intent/local"
)

// A team that takes one example out of its manifest changes how its own sentences are
// read, not those of others: of the sentences that have nothing to do with it, at most one
// in a hundred and fifty is read in another way.
func TestOneExampleLessLeavesWhatOthersSayAlone(t *testing.T) {
	t.Parallel()
	manifests := together(t)
	said := sayings(t, manifests)
	before := readings(t, manifests, said)
	for _, less := range [...]struct{ domain, capability string }{{"workday", "get_worker"}, {"flowise", "explain_chatflow"}} {
		after := readings(t, without(t, manifests, less.domain, less.capability), said)
		var changed []string
		for i, s := range said {
			if before[i] != after[i] && !strings.Contains(before[i]+after[i], less.capability) {
				changed = append(changed, fmt.Sprintf("%q was %s, is %s", s, before[i], after[i]))
			}
		}
		t.Logf("without an example of %s, %d of %d others changed", less.capability, len(changed), len(said))
		if len(changed) > len(said)/150 {
			t.Errorf("without an example of %s: %d of %d sentences changed:\n%s", less.capability, len(changed), len(said), strings.Join(changed, "\n"))
		}
	}
}

// sayings are sentences that the manifests do not know: those of their tests with some
// words before, and without their longest word, so that many stand on an edge.
func sayings(t *testing.T, manifests []*contracts.Manifest) []string {
	t.Helper()
	var out []string
	for _, m := range manifests {
		for i, test := range m.Tests {
			ahead := [...]string{"well, ", "now I need this: ", "", "hi there, "}
			words := strings.Fields(test.Say)
			longest := slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) })
			out = append(out, ahead[i%len(ahead)]+test.Say, strings.Replace(test.Say, longest, "", 1))
		}
	}
	return out
}

// without returns the manifests without the first example of one capability.
func without(t *testing.T, manifests []*contracts.Manifest, domain, capability string) []*contracts.Manifest {
	t.Helper()
	out := slices.Clone(manifests)
	for i, m := range manifests {
		at := slices.IndexFunc(m.Capabilities, func(c contracts.Capability) bool { return c.Name == capability })
		if m.Domain != domain || at < 0 {
			continue
		}
		less, hints := *m, *m.Capabilities[at].Metadata.IntentHints
		hints.Examples = hints.Examples[1:]
		less.Capabilities = slices.Clone(m.Capabilities)
		less.Capabilities[at].Metadata.IntentHints = &hints
		out[i] = &less
		return out
	}
	t.Fatalf("there is no %s.%s", domain, capability)
	return nil
}

// readings reports how each sentence is read after training.
func readings(t *testing.T, manifests []*contracts.Manifest, said []string) []string {
	t.Helper()
	catalog, err := (&eval.Set{Manifests: manifests}).Catalog()
	if err != nil {
		t.Fatal(err)
	}
	reader := trained(t, "words", local.Config{}, catalog)
	out := make([]string, len(said))
	for i, s := range said {
		u, err := reader.Understand(t.Context(), intent.Request{Message: s, Catalog: catalog, Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		out[i] = string(u.Outcome)
		for _, in := range u.Intents {
			out[i] += " " + in.Ref()
		}
	}
	return out
}
