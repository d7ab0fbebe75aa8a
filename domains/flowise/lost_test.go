package flowise_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
)

// lost is one write whose answer is lost, on a flow with the versions "one" and "two".
type lost struct {
	method, effect string
	parameters     object
	// name and reply are the state afterwards; no reply means no flow.
	name, reply string
}

func losses() map[string]lost {
	return map[string]lost{
		"create_chatflow":    {"POST", "flow.create", object{"name": "New", "reply": "three"}, "New", "three"},
		"apply_patch":        {"PUT", "flow.update", object{"ops": setReply("three")}, "Old", "three"},
		"rename_chatflow":    {"PUT", "flow.update", object{"name": "Other"}, "Other", "two"},
		"rollback_chatflow":  {"PUT", "flow.update", object{"version": "v1"}, "Old", "one"},
		"duplicate_chatflow": {"POST", "flow.create", object{"name": "Copy"}, "Copy", "two"},
		"delete_chatflow":    {"DELETE", "flow.delete", object{}, "Old", ""},
	}
}

func TestAWriteWhoseAnswerWasLostIsFoundByItsKey(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sandboxkit.Kind{
		"the connection broke after the write":      sandboxkit.ResetAfter,
		"the server failed after the write":         sandboxkit.ServerErrorAfter,
		"the answer was a page, but it was written": sandboxkit.HTMLAnswer,
	} {
		for capability, l := range losses() {
			t.Run(capability+": "+name, func(t *testing.T) {
				t.Parallel()
				l.lose(t, capability, fault)
			})
		}
	}
}

func (l lost) lose(t *testing.T, capability string, fault sandboxkit.Kind) {
	t.Helper()
	b := setup(t)
	id := b.create("Old", "one")
	b.facts("apply_patch", object{"chatflow_id": id, "ops": setReply("two")}, in{key: "two"})
	parameters := maps.Clone(l.parameters)
	if capability != "create_chatflow" {
		parameters["chatflow_id"] = id
	}
	earlier := len(b.server.Effects())
	b.server.Inject(sandboxkit.Fault{Kind: fault, Method: l.method, PathPrefix: "/api/v1/chatflows", Count: 1})
	b.execute(capability, parameters, in{key: "k"})
	if !b.server.Fired() {
		t.Fatal("no answer was lost")
	}
	b.restart()
	// A write that the server reported as failed stays failed, with effect applied.
	again := b.execute(capability, parameters, in{key: "k"})
	if !again.OK && (fault != sandboxkit.ServerErrorAfter || again.Error.EffectOf() != contracts.EffectApplied) {
		t.Fatal(again.Error)
	}
	if made := b.server.Effects()[earlier:]; len(made) != 1 || made[0].Kind != l.effect {
		t.Errorf("effects %v", made)
	}
	found := b.facts("find_write", object{"operation": capability, "key": "k"}, in{})
	if found["applied"] != true || again.OK && found["chatflow_id"] != again.Facts["chatflow_id"] {
		t.Errorf("found %v, answered %v", found, again.Facts)
	}
	data, there := b.server.FlowData(text(found["chatflow_id"]))
	switch {
	case there != (l.reply != "") || found["name"] != l.name:
		t.Errorf("afterwards it is there: %v, found %v", there, found)
	case there && (!strings.Contains(data, `"directReplyMessage":"`+l.reply+`"`) || contracts.HashBytes([]byte(data)) != found["sha256"]):
		t.Errorf("it is %s, found %v", data, found)
	}
}
