package e2e_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// sharing waits until both servers know of each other.
func sharing(t *testing.T, servers ...*process) {
	t.Helper()
	for _, p := range servers {
		eventually(t, "a server to share its limits", func() (string, bool) {
			log := p.log.String()
			return "", strings.Contains(log, `"limits are shared by the servers that live" servers=2`)
		})
	}
}

// TestTwoServersKeepOneCallersLimit: who asks both gets what one would let through.
func TestTwoServersKeepOneCallersLimit(t *testing.T) {
	t.Parallel()
	one, two := startReplicas(t, "--sessions-per-minute", "30")
	d := newDepot(t, "depot")
	one.register(d.registration())
	two.servesDepot()
	sharing(t, one, two)
	const burst, perSecond = 10, 0.5
	_, key := one.person("vera", "operator")
	begun, passed := time.Now(), 0
	for _, p := range []*process{one, two} {
		vera := p.with(key)
		for range 2 * burst {
			preview, err := vera.Plan(t.Context(), contracts.PlanRequest{Intents: []contracts.Intent{
				{ID: "i1", Confidence: 1, Source: "caller", Domain: "depot", Capability: "peek", Parameters: map[string]any{"id": "x"}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = vera.RunPlan(t.Context(), contracts.RunPlan{PlanHash: preview.PlanHash}, client.Opt{})
			switch contracts.CodeOf(err) {
			case "":
				passed++
			case contracts.CodeRateLimited:
			default:
				t.Fatal(err)
			}
		}
	}
	if most := burst + int(math.Ceil(perSecond*time.Since(begun).Seconds())); passed < burst || passed > most {
		t.Errorf("two servers let %d sessions through, and the limit is %d at once and %d in this time", passed, burst, most)
	}
}

// TestTwoServersKeepOnePlace: of a capability that allows one call at a time there is
// one at both servers together, and the other waits for it.
func TestTwoServersKeepOnePlace(t *testing.T) {
	t.Parallel()
	one, two := startReplicas(t)
	d := newDepot(t, "depot", func(m *contracts.Manifest) { capability(m, "slow").Metadata.MaxConcurrency = 1 })
	one.register(d.registration())
	two.servesDepot()
	sharing(t, one, two)
	first := one.run(call("depot.slow", map[string]any{"id": "a"})).RunIDs[0]
	d.awaitSlow(t)
	second := two.run(call("depot.slow", map[string]any{"id": "b"})).RunIDs[0]
	waits := two.node(second, "n1", contracts.NodeQueued)
	if waits.QueuedFor != "room at depot.slow" {
		t.Errorf("it waits for %q", waits.QueuedFor)
	}
	if len(d.arrived) > 0 {
		t.Error("two calls are under way")
	}
	close(d.release)
	for _, run := range []string{first, second} {
		if view := two.ended(run); view.State != contracts.RunCompleted {
			t.Errorf("%s: %s", run, states2text(view))
		}
	}
}
