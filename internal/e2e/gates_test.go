package e2e_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

func TestThreeParallelWritesHaveThreeGates(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	d := newDepot(t, "depot")
	s.register(d.registration())
	r := s.run(d.put("keyed", "a", "1"), d.put("keyed", "b", "2"), d.put("keyed", "c", "3"))
	run := r.RunIDs[0]
	gates := s.gates(run, 3)
	if len(d.record()) != 0 {
		t.Fatalf("something was done before anybody approved: %+v", d.record())
	}

	s.approve(gates[1])
	if _, err := s.otto.Reject(t.Context(), gates[2], "not needed", client.Opt{}); err != nil {
		t.Fatal(err)
	}
	second := s.node(run, gates[1].NodeID, contracts.NodeCompleted)
	third := s.node(run, gates[2].NodeID, contracts.NodeRejected)
	first := s.node(run, gates[0].NodeID, contracts.NodeAwaitingApproval)

	if diff := cmp.Diff([]effect{{Capability: "put_keyed", Key: run + "/" + second.NodeID + "/1", Instance: "north", ID: "b", Value: "2"}}, d.record()); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	if third.Error == nil || third.Error.Message != "rejected by otto: not needed" {
		t.Errorf("the rejected node says %s", asJSON(third.Error))
	}
	if first.Attempts != 0 {
		t.Errorf("the node that nobody decided was tried %d times", first.Attempts)
	}
	view, err := s.rita.Run(t.Context(), run, client.Opt{})
	if err != nil || view.State != contracts.RunWaiting {
		t.Errorf("the run is %s (%v), want waiting", view.State, err)
	}

	s.approve(gates[0])
	if view = s.ended(run); view.State != contracts.RunRejected {
		t.Errorf("the run ended as %s, want rejected: one of its writes was\n%s", view.State, states2text(view))
	}
	if d.done("a") != 1 || d.done("b") != 1 || d.done("c") != 0 {
		t.Errorf("effects: %+v", d.record())
	}
	s.sound(view)
}

func TestAGateIsDecidedWhileAReadOfTheSameRunIsUnderWay(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	d := newDepot(t, "depot")
	s.register(d.registration())
	r := s.run(call("depot.slow", map[string]any{"id": "a"}), d.put("keyed", "b", "2"))
	run := r.RunIDs[0]
	d.awaitSlow(t) // the read is under way, and stays so until it is released
	gate := s.gates(run, 1)[0]
	s.approve(gate)
	s.node(run, gate.NodeID, contracts.NodeCompleted)
	if d.done("b") != 1 {
		t.Errorf("effects: %+v", d.record())
	}
	s.node(run, "n1", contracts.NodeRunning)
	close(d.release)
	view := s.ended(run)
	if view.State != contracts.RunCompleted || view.Verdict == nil || view.Verdict.Status != contracts.VerdictVerified {
		t.Errorf("the run ended as %s with %s", view.State, asJSON(view.Verdict))
	}
	s.sound(view)
}

func TestADecisionIsSingleUse(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	d := newDepot(t, "depot")
	s.register(d.registration())
	run := s.run(d.put("keyed", "a", "1")).RunIDs[0]
	gate := s.gates(run, 1)[0]

	_, err := s.otto.Decide(t.Context(), gate.Code, contracts.Resume{Decision: contracts.DecisionApprove}, client.Opt{})
	wantCode(t, err, contracts.CodeInvalid) // an approval names what it approves
	_, err = s.otto.Decide(t.Context(), gate.Code, contracts.Resume{Decision: contracts.DecisionApprove, ActionSHA256: "00ff"}, client.Opt{})
	wantCode(t, err, contracts.CodeStaleApproval)
	s.approve(gate)
	_, err = s.otto.Reject(t.Context(), gate, "", client.Opt{})
	wantCode(t, err, contracts.CodeConflict)
	_, err = s.otto.Approve(t.Context(), gate, "", client.Opt{})
	wantCode(t, err, contracts.CodeConflict)
	if view := s.ended(run); view.State != contracts.RunCompleted || len(d.record()) != 1 {
		t.Errorf("%s, effects: %+v", states2text(view), d.record())
	}
}
