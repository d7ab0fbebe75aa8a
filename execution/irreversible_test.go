package execution_test

import (
	"context"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// TestNobodyIsToldToRepeatWhatTookEffect checks that a write which failed after an effect must be
// inspected; only one without an effect may be retried.
func TestNobodyIsToldToRepeatWhatTookEffect(t *testing.T) {
	t.Parallel()
	for effect, want := range map[contracts.Effect]contracts.VerdictStatus{contracts.EffectApplied: contracts.VerdictBlocked, contracts.EffectNone: contracts.VerdictRetry} {
		t.Run(string(effect), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.declare("order", keyedWrite(), func(context.Context, execution.Call) execution.Reply {
					broke := &contracts.ToolError{Type: contracts.ErrUpstream, Message: "it broke", Effect: effect}
					return execution.Reply{Kind: execution.ReplyResult, Result: contracts.ToolResult{Error: broke}}
				})
				r := w.runner()
				id := w.submit(r, w.node("n1", "order", map[string]any{"item": "a"}))
				w.decide(r, w.gates(r, id, 1)["n1"], contracts.Resume{Decision: contracts.DecisionApprove})
				v := w.ended(r, id)
				if v.Verdict.Status != want || (want == contracts.VerdictBlocked) != strings.Contains(strings.Join(v.Verdict.Fixes, " "), "look at what it did") {
					t.Errorf("%s: %+v", v.State, *v.Verdict)
				}
			})
		})
	}
}
