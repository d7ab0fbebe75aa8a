package answer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/answer"
)

// drafted returns a run with a read, a write that depends on it, and a note about the write.
func drafted() contracts.RunView {
	reads := &contracts.Policy{SideEffectClass: contracts.ClassRead}
	writes := &contracts.Policy{SideEffectClass: contracts.ClassWriteReversible, ApprovalRequired: true, Approval: contracts.ApprovalPolicy{Roles: []string{"keeper"}}}
	call := func(id, tool, title string, p *contracts.Policy, needs ...string) contracts.NodeView {
		return contracts.NodeView{State: contracts.NodePending, Node: contracts.Node{NodeID: id, Kind: contracts.KindTool, Tool: tool, Title: title, Policy: p, DependsOn: needs, Required: true}}
	}
	look, find := call("n1", "zoo.weigh", "Weigh", reads), call("n2", "zoo.find", "Find the keeper", reads)
	find.Role = contracts.RolePreSearch
	feed, tell := call("n3", "zoo.feed", "Feed", writes, "n1", "n2"), call("n4", "zoo.tell", "Tell", writes, "n3")
	feed.When, feed.Params = &contracts.Condition{Expr: "${steps.n1.facts.kilos < 90}"}, map[string]any{"animal": "Otto", "keeper": "Mia Berg", "kilos": 4.0}
	tell.Params, tell.Rationale = map[string]any{"text": "${steps.n3.summary}"}, "the keeper knows"
	look.State, find.State, feed.State = contracts.NodeCompleted, contracts.NodeCompleted, contracts.NodeAwaitingApproval
	return contracts.RunView{
		State: contracts.RunWaiting, Nodes: []contracts.NodeView{look, find, feed, tell},
		Interrupts: []contracts.Interrupt{{NodeID: "n3", Type: contracts.InterruptWriteApproval, Status: contracts.InterruptOpen}},
	}
}

func planOf(view contracts.RunView) []string {
	feed := &contracts.Capability{Name: "feed", Metadata: contracts.Metadata{ParameterSpecs: map[string]contracts.ParameterSpec{"keeper": {PII: true}}}}
	zoo := contracts.NewCatalog("zoo", []*contracts.DomainEntry{{Name: "zoo", Capabilities: []*contracts.CapabilityEntry{{Domain: "zoo", Capability: feed}}}}, nil)
	a := answer.Compose(zoo, view)
	if a == nil {
		return nil
	}
	at := slices.IndexFunc(a.Blocks, func(b contracts.Block) bool { return b.Kind == contracts.BlockList && b.Title == "The plan" })
	if at < 0 {
		return nil
	}
	return a.Blocks[at].Items
}

// The requester sees the steps, their dependencies and their approvers above the first gate, and
// not later.
func TestThePlanStandsAboveItsFirstGate(t *testing.T) {
	t.Parallel()
	want := strings.Join([]string{
		"Step 1: Weigh",
		"Step 2: Feed, if steps.n1.facts.kilos < 90: animal Otto, keeper •••, kilos 4 – after step 1 – approved by keeper",
		"Step 3: Tell: text from an earlier step – after step 2 – approved by keeper (the keeper knows)",
	}, "\n")
	if got := strings.Join(planOf(drafted()), "\n"); got != want {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
	for name, change := range map[string]func(*contracts.RunView){
		"no gate is open":          func(v *contracts.RunView) { v.Interrupts = nil },
		"a write has ended":        func(v *contracts.RunView) { v.Nodes[2].State = contracts.NodeCompleted },
		"one write, and it is all": func(v *contracts.RunView) { v.Nodes = v.Nodes[2:3]; v.Nodes[0].DependsOn = nil },
	} {
		view := drafted()
		change(&view)
		if got := planOf(view); got != nil {
			t.Errorf("%s, and the plan is shown: %v", name, got)
		}
	}
}
