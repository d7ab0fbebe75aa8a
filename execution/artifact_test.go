package execution_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// If a schema takes the reference itself, an edit has the reference, too.
func TestArtifactsAreSentAsTheSchemaTakesThem(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("write", func(context.Context, execution.Call) execution.Reply {
			r := facts(nil)
			r.Result.Artifacts = map[string]json.RawMessage{"letter": json.RawMessage(`"Dear Sir"`)}
			return r
		})
		w.declare("send", keyedWrite(), w.applying)
		w.schema("send", `{"type":"object","properties":{
			"file":{"type":"object","required":["$artifact"],"x-manifold-artifact":"ref"},
			"text":{"type":"string"},"to":{"type":"string"}},"required":["file","text","to"]}`)
		r := w.runner()
		letter := "${steps.n1.artifacts.letter}"
		id := w.submit(r, w.node("n1", "write", nil), w.node("n2", "send", map[string]any{"file": letter, "text": letter, "to": "ana"}, "n1"))
		open := w.gates(r, id, 1)["n2"]
		edited := open.Action.Parameters
		edited["to"] = "bob"
		w.decide(r, open, contracts.Resume{Decision: contracts.DecisionEdit, EditedParams: edited})
		again := w.until(r, id, "asked again", func(v contracts.RunView) bool {
			return len(v.Interrupts) == 1 && v.Interrupts[0].InterruptID != open.InterruptID
		}).Interrupts[0]
		w.decide(r, again, approve())
		w.ended(r, id)
		want := map[string]any{"file": edited["file"], "text": "Dear Sir", "to": "bob"}
		if diff := cmp.Diff(want, w.callsOf("send")[0].Parameters); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}
