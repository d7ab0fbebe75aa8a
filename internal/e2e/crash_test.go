package e2e_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// gateOf is what must not change about a gate when the server is killed.
type gateOf struct {
	ID, Code, Node, Hash string
	Status               contracts.InterruptStatus
}

func gatesOf(gates []contracts.Interrupt) []gateOf {
	out := make([]gateOf, 0, len(gates))
	for _, g := range byNode(gates) {
		out = append(out, gateOf{g.InterruptID, g.Code, g.NodeID, g.ActionSHA256, g.Status})
	}
	return out
}

func TestGatesSurviveKill9(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	d := newDepot(t, "depot")
	p.register(d.registration())
	run := p.run(d.put("keyed", "a", "1"), d.put("plain", "b", "2"), d.put("keyed", "c", "3")).RunIDs[0]
	before := p.gates(run, 3)

	p.again()
	open := p.gates(run, 3)
	if diff := cmp.Diff(gatesOf(before), gatesOf(open)); diff != "" {
		t.Fatalf("gates after the restart (-before +after):\n%s", diff)
	}
	p.approve(open[1])
	if _, err := p.otto.Reject(t.Context(), open[2], "", client.Opt{}); err != nil {
		t.Fatal(err)
	}
	p.node(run, open[1].NodeID, contracts.NodeCompleted)
	p.node(run, open[2].NodeID, contracts.NodeRejected)

	p.again()
	p.node(run, open[0].NodeID, contracts.NodeAwaitingApproval)
	p.node(run, open[1].NodeID, contracts.NodeCompleted)
	p.node(run, open[2].NodeID, contracts.NodeRejected)
	last := p.gates(run, 1)
	if diff := cmp.Diff(gatesOf(before)[:1], gatesOf(last)); diff != "" {
		t.Errorf("the gate that is left (-before +after):\n%s", diff)
	}
	// The code alone is enough for a person.
	shown, err := p.otto.Gate(t.Context(), before[0].Code)
	if err != nil || shown.InterruptID != before[0].InterruptID {
		t.Errorf("gate %s: %v %+v", before[0].Code, err, shown)
	}
	p.approve(last[0])
	view := p.ended(run)
	want := []effect{
		{Capability: "put_plain", Key: run + "/" + open[1].NodeID + "/1", Instance: "north", ID: "b", Value: "2"},
		{Capability: "put_keyed", Key: run + "/" + open[0].NodeID + "/1", Instance: "north", ID: "a", Value: "1"},
	}
	if diff := cmp.Diff(want, d.record()); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	p.sound(view)
}

func TestADecisionStandsWhenTheServerIsKilledRightAfterIt(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	d := newDepot(t, "depot")
	p.register(d.registration())
	run := p.run(call("depot.slow", map[string]any{"id": "a"}), d.put("keyed", "a", "1")).RunIDs[0]
	d.awaitSlow(t)
	p.approve(p.gates(run, 1)[0])
	p.kill() // the read is still under way, the write may be or not
	p.start()
	d.awaitSlow(t) // reads are simply made again
	close(d.release)
	view := p.ended(run)
	if view.State != contracts.RunCompleted || d.done("a") != 1 {
		t.Errorf("%s, effects: %+v", states2text(view), d.record())
	}
	p.sound(view)
}

func TestARepeatedRequestAfterKill9IsTheSameRun(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	d := newDepot(t, "depot")
	p.register(d.registration())
	preview, err := p.rita.Plan(t.Context(), contracts.PlanRequest{Intents: []contracts.Intent{
		{ID: "i1", Domain: "depot", Capability: "put_keyed", Parameters: map[string]any{"id": "a", "value": "1"}, Confidence: 1, Source: "caller"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	body, opt := contracts.RunPlan{PlanHash: preview.PlanHash}, client.Opt{IdempotencyKey: "the same"}
	first, err := p.rita.RunPlan(t.Context(), body, opt)
	if err != nil {
		t.Fatal(err)
	}
	p.again()
	second, err := p.rita.RunPlan(t.Context(), body, opt)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{first.SessionID, first.RunIDs}, []any{second.SessionID, second.RunIDs}); diff != "" {
		t.Errorf("the repeat is another run (-first +second):\n%s", diff)
	}
}
