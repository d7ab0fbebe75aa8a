package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/sample"
)

// TestAnUndoIsBoundLikeTheWrite: the gate of an undo shows the restored values, under the names of the
// capability that set them, and the further terms of the approval.
func TestAnUndoIsBoundLikeTheWrite(t *testing.T) {
	t.Parallel()
	sample.Long(t, "it starts a demo")
	s, _, _ := start(t)
	rita, otto := with(t, s, s.Keys.Requester), with(t, s, s.Keys.Approver)
	made(t, rita, otto, `create a chatflow called "Before" that replies "one"`)
	session, err := rita.StartSession(t.Context(), contracts.StartSession{Message: `rename the chatflow "Before" to "After"`}, wait())
	if err != nil || session.Interrupt == nil {
		t.Fatalf("%+v %v", session, err)
	}
	if _, err := otto.Approve(t.Context(), *session.Interrupt, "", wait()); err != nil {
		t.Fatal(err)
	}
	undo, err := rita.Say(t.Context(), session.SessionID, "change it back", wait())
	if err != nil || undo.Interrupt == nil || undo.Interrupt.Action == nil {
		t.Fatalf("%+v %v", undo, err)
	}
	a := undo.Interrupt.Action
	asked := slices.Sorted(maps.Keys(a.Parameters))
	if a.Capability != "flowise.rename_chatflow" || a.Parameters["name"] != "Before" || !slices.Equal(asked, []string{"chatflow_id", "name"}) || a.Bound["base_sha256"] == nil {
		t.Errorf("the gate has %s %v, bound to %v", a.Capability, a.Parameters, a.Bound)
	}
}
