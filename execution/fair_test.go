package execution_test

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// A slow domain delays only its own calls, neither by its calls in flight nor by runs that wait for
// a slot.
func TestASlowDomainHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	cases := map[string]contracts.Metadata{
		"with many calls at once": {SideEffectClass: contracts.ClassRead},
		"with one call at a time": {SideEffectClass: contracts.ClassRead, MaxConcurrency: 1},
		"with few calls a minute": {SideEffectClass: contracts.ClassRead, RateLimitPerMin: 2},
	}
	for name, meta := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.declare("slow", meta, func(ctx context.Context, _ execution.Call) execution.Reply {
					select {
					case <-ctx.Done():
					case <-time.After(9 * time.Second): // bubble time
					}
					return facts(nil)
				})
				w.read("fast", answering(nil))
				w.giveAway("fast")
				r := w.runner(func(c *execution.Config) { c.MaxActiveRuns, c.MaxCalls = 16, 8 })
				var slow []string
				for range 40 {
					slow = append(slow, w.submit(r, w.node("n1", "slow", nil)))
				}
				time.Sleep(time.Second) // bubble time
				node := w.node("n1", "slow", nil)
				node.Tool = "twin.fast"
				v := w.ended(r, w.submit(r, node))
				if took := v.FinishedAt.Sub(v.CreatedAt); v.State != contracts.RunCompleted || took > 8*time.Second {
					t.Errorf("the other domain's run is %s after %s", v.State, took)
				}
				for _, id := range slow { // those that yielded their place are resumed
					if v := w.ended(r, id); v.State != contracts.RunCompleted {
						t.Errorf("a run of the slow domain is %s", v.State)
					}
				}
			})
		})
	}
}

func TestWaitingEndsAfterWaitMaxWhateverADomainAsksFor(t *testing.T) {
	t.Parallel()
	cases := map[string]contracts.Metadata{
		"a read":  {SideEffectClass: contracts.ClassRead, WaitMaxS: 60},
		"a write": {SideEffectClass: contracts.ClassWriteIrreversible, WaitMaxS: 60},
	}
	for name, meta := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.declare("call", meta, func(context.Context, execution.Call) execution.Reply { return busyFor(time.Hour) })
				r := w.runner()
				id := w.submit(r, w.node("n1", "call", nil))
				if meta.SideEffectClass.Writes() {
					w.decide(r, w.gates(r, id, 1)["n1"], approve())
				}
				v := w.ended(r, id)
				if took := v.FinishedAt.Sub(v.CreatedAt); v.State != contracts.RunFailed || took > 2*time.Minute {
					t.Errorf("%s after %s", v.State, took)
				}
			})
		})
	}
}

func TestADomainThatIsBusyIsNotAskedAllTheTime(t *testing.T) {
	t.Parallel()
	accepted := execution.Reply{Kind: execution.ReplyAccepted, Operation: "op", RetryAfter: time.Microsecond}
	cases := map[string]execution.Reply{
		"it is busy and does not say for how long": {Kind: execution.ReplyBusy},
		"it is busy for no time at all":            busyFor(time.Microsecond),
		"it works and wants to be asked at once":   accepted,
	}
	most := map[string]int{"it is busy and does not say for how long": 60}
	for name, reply := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				meta := contracts.Metadata{SideEffectClass: contracts.ClassRead, TimeoutMS: 600_000, WaitMaxS: 600}
				w.declare("call", meta, func(context.Context, execution.Call) execution.Reply { return reply })
				r := w.runner()
				w.submit(r, w.node("n1", "call", nil))
				time.Sleep(9 * time.Minute) // bubble time
				limit := cmp.Or(most[name], 9*60*10)
				if got := len(w.callsOf("call")); got > limit {
					t.Errorf("it was called %d times in nine minutes, want %d at most", got, limit)
				}
			})
		})
	}
}
