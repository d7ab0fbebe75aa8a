package runstate_test

import (
	"slices"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution/runstate"
)

// under is a run with the given flags.
func under(t *testing.T, set func(*metrics.Flags), nodes ...contracts.Node) *driven {
	t.Helper()
	flags := metrics.AllOn()
	set(&flags)
	s, err := runstate.Begin(runstate.Run{ID: "r", Format: runstate.Format, Plan: contracts.Plan{Nodes: nodes, Flags: &flags}})
	if err != nil {
		t.Fatal(err)
	}
	d := &driven{t: t, state: s}
	d.apply(runstate.RunResumed{})
	return d
}

func (d *driven) starts(want ...string) {
	d.t.Helper()
	if got := d.ready(); !slices.Equal(got, want) {
		d.t.Errorf("it starts %v, want %v", got, want)
	}
}

// move sets a state that does not end the node.
func (d *driven) move(id string, to contracts.NodeState) {
	d.t.Helper()
	row := d.state.Node(id).Next()
	row.State = to
	d.apply(runstate.RowUpdated{Row: row})
}

func TestStepsThatTakeTurnsBeginInPlanOrder(t *testing.T) {
	t.Parallel()
	inTurn := func(f *metrics.Flags) { f.DAGPlanning = metrics.FlagOff }
	d := under(t, inTurn, node("a"), node("b"), node("late"), node("c", "a", "b"))
	d.starts("a")
	d.move("a", contracts.NodeQueued)
	if d.starts(); d.state.HasReady() || d.state.RunState() != contracts.RunRunning {
		t.Error("b begins while a is to be tried again")
	}
	d.end("a", contracts.NodeCompleted)
	d.starts("b")
	d.move("b", contracts.NodeAwaitingApproval)
	if d.starts(); d.state.HasReady() || d.state.RunState() != contracts.RunWaiting {
		t.Errorf("with a gate open and nothing under way the run is %s", d.state.RunState())
	}
	d.readAnew()
	d.end("b", contracts.NodeRejected) // c is skipped because of that
	d.starts("late")
	d.end("late", contracts.NodeCompleted)
	d.want(map[string]contracts.NodeState{"c": contracts.NodeSkipped})
	if !d.state.Ended() {
		t.Error("it has not ended")
	}
	d.again()
}

// The copies of a list have its position in the order, before later steps.
func TestCopiesTakeTheTurnOfTheirStep(t *testing.T) {
	t.Parallel()
	each := node("each")
	each.ForEach = &contracts.ForEach{Items: "${context.items}"}
	d := under(t, func(f *metrics.Flags) { f.DAGPlanning = metrics.FlagOff }, each, node("behind"))
	d.starts("each")
	copies := []contracts.Node{node("each[0]"), node("each[1]")}
	for i := range copies {
		copies[i].ForNode, copies[i].Item = "each", float64(i)
	}
	d.apply(runstate.NodeExpanded{Row: d.state.Node("each").Next(), Copies: copies})
	d.starts("each[0]")
	d.end("each[0]", contracts.NodeCompleted)
	d.starts("each[1]")
	d.end("each[1]", contracts.NodeCompleted)
	d.starts("each")
	d.end("each", contracts.NodeCompleted)
	d.starts("behind")
}

func TestAnOpenGateHoldsWhatHasNotBegun(t *testing.T) {
	t.Parallel()
	d := under(t, func(f *metrics.Flags) { f.BranchApprovals = metrics.FlagOff }, node("a"), node("b"), node("a2", "a"), node("b2", "b"))
	d.starts("a", "b")
	d.move("a", contracts.NodeAwaitingApproval)
	d.end("b", contracts.NodeCompleted) // it was in progress, and b2 is ready now
	if d.starts(); d.state.HasReady() || d.state.RunState() != contracts.RunWaiting {
		t.Errorf("the run is %s", d.state.RunState())
	}
	d.readAnew()
	d.move("a", contracts.NodeReady)
	if !d.state.HasReady() {
		t.Error("nobody is asked any more, and b2 may not begin")
	}
	d.starts("a", "b2")
	d.end("a", contracts.NodeFailed)
	d.end("b2", contracts.NodeCompleted)
	d.want(map[string]contracts.NodeState{"a2": contracts.NodeSkipped})
	d.again()
}

// A node that was cancelled while it was held does not start afterwards.
func TestWhatEndsWhileItIsHeldDoesNotBegin(t *testing.T) {
	t.Parallel()
	d := under(t, func(f *metrics.Flags) { f.BranchApprovals = metrics.FlagOff }, node("a"), node("b"))
	n := d.state.Next()
	d.move(n.ID(), contracts.NodeAwaitingApproval)
	d.starts()
	d.end("b", contracts.NodeCancelled)
	d.end("a", contracts.NodeCompleted)
	d.starts()
	if !d.state.Ended() {
		t.Error("it has not ended")
	}
}
