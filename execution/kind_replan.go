package execution

import (
	"context"
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// replan asks the replanner for further nodes when all other nodes of the run have ended. The nodes
// that it adds are part of the event of its outcome: a replay does not call the replanner, and a
// crash loses at most an answer that had not arrived.
type replan struct{ local }

func (replan) start(t *activation) {
	r := t.calls.r
	if r.replanner == nil {
		t.fail(contracts.ErrNeedsModel, "nobody is there who could say what comes next", contracts.EffectNone)
		return
	}
	if b := runstate.TokenBudget(t.run); b.Bound && b.Used >= b.Limit {
		t.fail(contracts.ErrBudget, "the tokens that a model may use are used up", contracts.EffectNone)
		return
	}
	if !t.admit(modelTool, modelPolicy()) {
		return
	}
	t.row.Begin(t.now())
	t.row.WaitingSince = noTime
	t.running()
	t.calls.startReplan(t.n, replanRequestOf(t))
}

// startReplan calls the replanner in the background.
func (x *calls) startReplan(n *node, req ReplanRequest) {
	ctx, cancel := context.WithCancel(x.ctx)
	n.cancel, n.lasting = cancel, false
	d := completion{task: taskReplan, nodeID: n.ID(), tool: modelTool, policy: modelPolicy()}
	started := x.r.cfg.Now()
	x.work(d, func() completion {
		defer cancel()
		d.next, d.refused = x.r.callReplanner(ctx, req)
		d.thinking.Calls = d.next.Calls
		d.tookMS = x.r.cfg.Now().Sub(started).Milliseconds()
		return d
	})
}

// callReplanner turns a panic of the port into an error.
func (r *Runner) callReplanner(ctx context.Context, req ReplanRequest) (out ReplanReply, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = contracts.Errorf(contracts.CodeInternal, "the call panicked: %v", p)
		}
	}()
	return r.replanner.Replan(ctx, req)
}

func (replan) reply(t *activation, d completion) {
	switch {
	case d.reply.Kind == ReplyNotSent:
		t.queue("room in this run", t.now().Add(firstBackoff))
		return
	case d.refused != nil:
		t.fail(contracts.ErrReasoningFailed, "what comes next was not said: "+d.refused.Error(), contracts.EffectNone)
		return
	}
	nodes, summary, err := nodesOfReplan(t, d.next)
	if err != nil {
		t.fail(contracts.ErrReasoningFailed, "what was to come next cannot be done: "+err.Error(), contracts.EffectNone)
		return
	}
	t.row.State, t.row.Result = contracts.NodeCompleted, &Result{Summary: summary}
	if len(nodes) == 0 {
		t.endWith(nil)
		return
	}
	t.endWith(&runstate.Expansion{Nodes: nodes, Cause: "round"})
}

// replanRequestOf returns the request to the replanner: summaries and facts, never raw output.
func replanRequestOf(t *activation) ReplanRequest {
	run := &t.run.Run
	req := ReplanRequest{
		RunID: run.ID, SessionID: run.SessionID, Goal: run.Plan.Goal, Number: t.n.Spec.ReplanNumber, Plan: run.Plan,
		Last: t.n.Spec.ReplanNumber >= MaxReplans,
	}
	req.Plan.Nodes = make([]contracts.Node, 0, t.run.Len())
	for _, n := range t.run.Nodes() {
		req.Plan.Nodes = append(req.Plan.Nodes, n.Spec)
		if fact, ok := replanFactOf(n); ok {
			req.Facts = append(req.Facts, fact)
		}
	}
	return req
}

// replanFactOf returns the fact of a node. Auxiliary nodes have none.
func replanFactOf(n *runstate.Node) (ReplanFact, bool) {
	s := &n.Spec
	serves := s.Role == contracts.RolePreSearch || s.Role == contracts.RolePreChoose
	if serves || n.Superseded() || n.IsJoin() || s.Kind == contracts.KindReplan || s.Importance == contracts.ImportanceQuiet || !n.Ended() {
		return ReplanFact{}, false
	}
	fact := ReplanFact{NodeID: n.ID(), Step: s.IntentID, Tool: s.Tool, Title: s.Title, State: n.State()}
	if r := n.Row.Result; r != nil {
		fact.Summary = n.Masked(r.Summary)
		if facts, err := contracts.CompactFacts(orEmpty(r.Facts)); err == nil { // else the summary has to do
			fact.Facts = facts
		}
	}
	if e := n.Row.Error; e != nil {
		fact.Summary = n.Masked(e.Message)
	}
	return fact, true
}

// labels returns the names of what was read, for people.
func labels(t *activation, read []string) []string {
	var out []string
	for _, n := range t.run.Nodes() {
		fact, ok := replanFactOf(n)
		if !ok || fact.Tool == "" || len(read) > 0 && !slices.Contains(read, fact.NodeID) {
			continue
		}
		label := fact.Title
		if fact.Summary != "" {
			label += ": " + fact.Summary
		}
		if len(out) == maxLabels {
			return append(out, "and more")
		}
		out = append(out, contracts.CleanSummary(label))
	}
	if len(out) == 0 {
		return []string{fmt.Sprintf("what came of round %d", t.n.Spec.ReplanNumber)}
	}
	return out
}

// maxLabels limits how many results a label list names.
const maxLabels = 20
