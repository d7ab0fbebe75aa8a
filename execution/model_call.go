package execution

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// modelTool names model calls in the limits of all runs.
const modelTool = "(model)"

// maxModelCalls limits the model calls in flight, of all runs of a replica.
const maxModelCalls = 4

func modelPolicy() contracts.Policy { return contracts.Policy{MaxConcurrency: maxModelCalls} }

// modelCallStatus is the result of requesting a model call.
type modelCallStatus int

const (
	modelCallStarted modelCallStatus = iota
	// modelCallQueued: the node is queued.
	modelCallQueued
	// modelCallOverBudget: not enough tokens are left.
	modelCallOverBudget
)

// requestModel starts one model call for the node. Each call is recorded before the next one for
// the same node starts, so that after a crash only the call in flight is paid for again.
func requestModel(t *activation, th ModelRequest) modelCallStatus {
	th.Rejected = t.row.Wrong
	needs := t.calls.r.languageModel.EstimateTokens(th)
	if budget := runstate.TokenBudget(t.run); budget.Bound {
		left := int(budget.Limit - budget.Used)
		switch {
		case needs > left:
			return modelCallOverBudget
		case needs > left-t.calls.reserved:
			t.queue("tokens that other steps may use", t.now().Add(time.Second))
			return modelCallQueued
		}
	}
	if !t.admit(modelTool, modelPolicy()) {
		return modelCallQueued
	}
	t.row.Begin(t.now())
	t.row.WaitingSince = noTime
	t.running()
	t.calls.startModelCall(t.n, th, needs)
	return modelCallStarted
}

// startModelCall makes one model call in the background, for a node or, if n is nil, for the run
// itself. The returned function cancels it.
func (x *calls) startModelCall(n *node, th ModelRequest, needs int) context.CancelFunc {
	ctx, cancel := context.WithCancel(x.ctx)
	d := completion{task: taskModel, reserved: needs}
	if n != nil {
		d.nodeID, d.tool, d.policy = n.ID(), modelTool, modelPolicy()
		n.cancel, n.lasting = cancel, false
	}
	x.reserved += needs
	started := x.r.cfg.Now()
	x.work(d, func() completion {
		defer cancel()
		d.thinking = x.r.callModel(ctx, th)
		d.tookMS = x.r.cfg.Now().Sub(started).Milliseconds()
		return d
	})
	return cancel
}

// callModel turns a panic of the adapter into a response without an answer.
func (r *Runner) callModel(ctx context.Context, th ModelRequest) (out ModelResponse) {
	defer func() {
		if p := recover(); p != nil {
			out = ModelResponse{Fault: fmt.Sprintf("the call panicked: %v", p)}
		}
	}()
	out = r.languageModel.Complete(ctx, th)
	for i := range out.Calls {
		out.Calls[i].SkillSHA256 = th.SkillSHA256
	}
	return out
}

// compactInputs evaluates the inputs of a skill. A value that a model may not read, such as an
// artifact, is an error.
func compactInputs(t *activation, named map[string]any) (map[string]contracts.Compact, error) {
	values, err := members(t, t.reader(), named)
	if err != nil {
		return nil, err
	}
	out := make(map[string]contracts.Compact, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if out[name], err = contracts.CompactFacts(values[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

// skillOf returns the text of a skill as the plan pinned it.
func skillOf(t *activation, name, sha256 string) (contracts.Compact, error) {
	text, ok := t.run.Run.Plan.Frames[t.n.Spec.Frame].Skills[name]
	if !ok || contracts.HashBytes([]byte(text)) != sha256 {
		return contracts.Compact{}, contracts.Errorf(contracts.CodeNotFound, "the text of the skill %s is not kept with the plan", name)
	}
	return contracts.CompactSkill(text)
}
