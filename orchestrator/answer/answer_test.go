package answer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/answer"
)

func texts(a *contracts.Answer) string {
	var out []string
	for _, b := range a.Blocks {
		out = append(out, string(b.Kind)+": "+b.Text)
	}
	return strings.Join(out, "\n")
}

// TestWhatWasTakenBackIsNotTold: a write that was repeated because its lookup had changed is
// displayed once, with its final result.
func TestWhatWasTakenBackIsNotTold(t *testing.T) {
	t.Parallel()
	write := contracts.Node{NodeID: "n3", Kind: contracts.KindTool, Tool: "shop.rename", Title: "Rename", Policy: &contracts.Policy{SideEffectClass: contracts.ClassWriteReversible}}
	again := write
	again.NodeID, again.ForNode, again.Round = "n3#2", "n3", &contracts.Round{N: 2, By: "n3"}
	view := contracts.RunView{State: contracts.RunCompleted, Nodes: []contracts.NodeView{
		{Node: write, State: contracts.NodeFailed, Error: &contracts.ToolError{Type: "domain.concurrent_edit", Message: "it was changed meanwhile"}},
		{Node: again, State: contracts.NodeCompleted, Summary: "renamed", Checks: []contracts.Check{{Name: "read_back", OK: true}}},
	}}
	if got := texts(answer.Compose(&contracts.Catalog{}, view)); got != "text: renamed (verified: read back and as asked)" {
		t.Errorf("it tells:\n%s", got)
	}
	view.Nodes[1].State, view.Nodes[1].Error = contracts.NodeFailed, &contracts.ToolError{Message: "no longer there"}
	if got := texts(answer.Compose(&contracts.Catalog{}, view)); got != "error: Rename: no longer there" {
		t.Errorf("it tells:\n%s", got)
	}
}

// TestAWorkflowSaysItsPointFirst: the workflow's text comes first, then its writes, and none of the
// steps in between. The write of a round is displayed even if a later round replaces it, unless it
// was compensated.
func TestAWorkflowSaysItsPointFirst(t *testing.T) {
	t.Parallel()
	step := func(id string, kind contracts.NodeKind, state contracts.NodeState, round int) contracts.NodeView {
		n := contracts.Node{NodeID: id, Kind: kind, Tool: "shop." + id, Title: id, Merge: contracts.MergeNoneFailed}
		if step, _, again := strings.Cut(id, "#"); again {
			n.ForNode, n.Round = step, &contracts.Round{N: round, By: "review"}
		}
		return contracts.NodeView{Node: n, State: state, Summary: "what " + id + " did"}
	}
	first, second := step("write", contracts.KindTool, contracts.NodeCompleted, 1), step("write#2", contracts.KindTool, contracts.NodeCompleted, 2)
	first.Policy = &contracts.Policy{SideEffectClass: contracts.ClassWriteReversible}
	second.Policy = first.Policy
	plan := contracts.Plan{Frames: map[string]contracts.Frame{"": {Workflow: "shop.restock"}}}
	view := contracts.RunView{State: contracts.RunCompleted, Plan: plan, Nodes: []contracts.NodeView{
		step("look", contracts.KindTool, contracts.NodeCompleted, 1), step("skip", contracts.KindTool, contracts.NodeSkipped, 1),
		first, second, step("result", contracts.KindResult, contracts.NodeCompleted, 1),
	}}
	const unread = " (not verified: it could not be read back)"
	want := "text: what result did\nnote: what write did" + unread + "\nnote: what write#2 did" + unread
	if got := texts(answer.Compose(&contracts.Catalog{}, view)); got != want {
		t.Errorf("it tells:\n%s", got)
	}
	back := step("undo[0]", contracts.KindTool, contracts.NodeCompleted, 1)
	back.Policy, back.CompensatesNode, back.Checks = first.Policy, "write#2", []contracts.Check{{Name: "read_back", OK: true}}
	view.Nodes = append(view.Nodes, back)
	want = "text: what result did\nnote: what write did" + unread +
		"\nnote: Taken back: what write#2 did – what undo[0] did (verified: read back and as asked)"
	if got := texts(answer.Compose(&contracts.Catalog{}, view)); got != want {
		t.Errorf("it tells:\n%s", got)
	}
}

// TestARepeatedWriteIsProvedByItsCopies: the repeated step itself was never sent, so it is not
// reported as unverified.
func TestARepeatedWriteIsProvedByItsCopies(t *testing.T) {
	t.Parallel()
	policy := &contracts.Policy{SideEffectClass: contracts.ClassWriteReversible}
	write := func(id, says string) contracts.NodeView {
		return contracts.NodeView{Node: contracts.Node{NodeID: id, Kind: contracts.KindTool, Tool: "shop.drop", Policy: policy, Merge: contracts.MergeNoneFailed}, State: contracts.NodeCompleted, Summary: says}
	}
	all, one := write("n1", "1 dropped"), write("n1[0]", "Tea dropped")
	all.ForEach = &contracts.ForEach{Items: "${context.items}"}
	one.Checks = []contracts.Check{{Name: "read_back", OK: true}}
	plan := contracts.Plan{Frames: map[string]contracts.Frame{"": {Workflow: "shop.clear"}}}
	got := texts(answer.Compose(&contracts.Catalog{}, contracts.RunView{State: contracts.RunCompleted, Plan: plan, Nodes: []contracts.NodeView{all, one}}))
	if want := "note: 1 dropped\nnote: Tea dropped (verified: read back and as asked)"; got != want {
		t.Errorf("it tells:\n%s", got)
	}
}

// TestAStepThatIsNotWantedIsNoError: a draft whose condition does not hold has not failed, and
// rounds that end early are reported.
func TestAStepThatIsNotWantedIsNoError(t *testing.T) {
	t.Parallel()
	step := func(id string, state contracts.NodeState, needs ...string) contracts.NodeView {
		return contracts.NodeView{Node: contracts.Node{
			NodeID: id, Kind: contracts.KindTool, Tool: "shop." + id, Title: id, Merge: contracts.MergeNoneFailed, DependsOn: needs,
		}, State: state, Summary: id + " says"}
	}
	next := contracts.NodeView{Node: contracts.Node{NodeID: "round2", Kind: contracts.KindReplan}, State: contracts.NodeFailed, Error: &contracts.ToolError{Message: "out of reach"}}
	view := contracts.RunView{State: contracts.RunDegraded, Nodes: []contracts.NodeView{
		step("look", contracts.NodeCompleted), step("book", contracts.NodeSkipped, "look"), step("tell", contracts.NodeSkipped, "book"), next,
	}}
	want := "note: It ends here: out of reach\ntext: look says\nnote: Not done: book – book says\nnote: Not done: tell – not done: book was skipped"
	if got := texts(answer.Compose(&contracts.Catalog{}, view)); !sameLines(got, want) {
		t.Errorf("it tells:\n%s", got)
	}
	view.Nodes[1].State, view.Nodes[1].Error = contracts.NodeFailed, &contracts.ToolError{Message: "no room"}
	if got := texts(answer.Compose(&contracts.Catalog{}, view)); !strings.Contains(got, "error: tell: not done: no room") {
		t.Errorf("what rests on a failure is no error:\n%s", got)
	}
}

func sameLines(a, b string) bool {
	one, other := strings.Split(a, "\n"), strings.Split(b, "\n")
	slices.Sort(one)
	slices.Sort(other)
	return slices.Equal(one, other)
}
