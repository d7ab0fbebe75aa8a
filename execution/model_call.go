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

// modelTool is the place that calls of models have among the limits of all runs.
const modelTool = "(model)"

// maxModelCalls bounds the calls of models under way, of all runs of a replica.
const maxModelCalls = 4

func modelPolicy() contracts.Policy { return contracts.Policy{MaxConcurrency: maxModelCalls} }

// modelCallStatus reports whether a call of a model has been started.
type modelCallStatus int

const (
	modelCallStarted modelCallStatus = iota
	// modelCallQueued: the node is queued.
	modelCallQueued
	// modelCallOverBudget: the tokens that it may use are not left.
	modelCallOverBudget
)

// requestModel has a model make one call for the node. Each call is on record before
// another is made for the same node: whoever takes the run up after a crash pays
// for none but the one that was under way.
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

// startModelCall makes one call of a model beside the run, for a node or, with nil, for the
// run itself; the call ends early by what is returned.
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

// callModel makes a panic of the adapter a call without an answer.
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

// compactInputs evaluates what a skill is given. A value that no model may read,
// such as an artifact, is a fault.
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

// skillOf is the text of a skill as the plan pinned it.
func skillOf(t *activation, name, sha256 string) (contracts.Compact, error) {
	text, ok := t.run.Run.Plan.Frames[t.n.Spec.Frame].Skills[name]
	if !ok || contracts.HashBytes([]byte(text)) != sha256 {
		return contracts.Compact{}, contracts.Errorf(contracts.CodeNotFound, "the text of the skill %s is not kept with the plan", name)
	}
	return contracts.CompactSkill(text)
}
