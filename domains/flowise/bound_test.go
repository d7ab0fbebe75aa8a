package flowise_test

import (
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

// proposed plans a write and returns the base to which it would be bound.
func (b *bench) proposed(write string, parameters object) object {
	b.Helper()
	return b.facts("propose", object{"write": write, "parameters": parameters}, in{})
}

// TestEveryChangeIsBoundToWhatWasShown: if anything is saved in Flowise between proposal and write,
// the write is refused and the edit stays.
func TestEveryChangeIsBoundToWhatWasShown(t *testing.T) {
	t.Parallel()
	writes := map[string]object{
		"apply_patch": {"ops": setReply("three")}, "rename_chatflow": {"name": "Another"}, "rollback_chatflow": {"version": "v1"},
		"delete_chatflow": {}, "deploy_chatflow": {}, "set_category": {"category": "HR"},
	}
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		for write, given := range writes {
			parameters := maps.Clone(given) // both servers run concurrently
			id := b.create("Bound "+rand.Text(), "one")
			b.facts("apply_patch", object{"chatflow_id": id, "ops": setReply("two")}, in{key: write + id})
			parameters["chatflow_id"] = id
			base := text(b.proposed(write, parameters)["base_sha256"])
			edited := strings.Replace(b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{})), "two", "by a colleague", 1)
			b.edit(id, edited)

			parameters["base_sha256"] = ""
			if refusal := b.refused(write, parameters, in{key: "none" + id}); !strings.Contains(refusal.Message, "base_sha256") {
				t.Errorf("%s without a base: %v", write, refusal)
			}
			delete(parameters, "base_sha256")
			parameters["base_sha256"] = base
			refusal := b.refused(write, parameters, in{key: "stale" + id})
			if refusal.Type != "domain.concurrent_edit" || !strings.Contains(fmt.Sprint(refusal.Detail), contracts.HashBytes([]byte(edited))) {
				t.Errorf("%s: %v %v", write, refusal, refusal.Detail)
			}
			if now := b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{})); now != edited {
				t.Errorf("%s: the edit is lost", write)
			}
			delete(parameters, "base_sha256")
		}
	})
}

// TestAWriteOfSettingsMindsSettings: a write of settings is bound to the settings as well as the
// graph.
func TestAWriteOfSettingsMindsSettings(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		id := b.create("Settings "+rand.Text(), "one")
		rename := object{"chatflow_id": id, "name": "Mine"}
		rename["base_sha256"] = b.proposed("rename_chatflow", rename)["base_sha256"]
		b.direct(http.MethodPut, "/chatflows/"+id, object{"name": "Theirs"}, &struct{}{})
		if refusal := b.refused("rename_chatflow", rename, in{key: "a" + id}); refusal.Type != "domain.concurrent_edit" {
			t.Errorf("the colleague's name: %v", refusal)
		}
		// A change of the graph is not bound to the name.
		patch := object{"chatflow_id": id, "ops": setReply("two")}
		patch["base_sha256"] = b.proposed("apply_patch", patch)["base_sha256"]
		b.direct(http.MethodPut, "/chatflows/"+id, object{"name": "Theirs again"}, &struct{}{})
		b.facts("apply_patch", patch, in{key: "b" + id})

		for i, change := range []struct {
			write      string
			parameters object
			before     object
		}{
			{"deploy_chatflow", object{}, object{"deployed": false}},
			{"set_category", object{"category": "HR"}, object{"category": ""}},
		} {
			change.parameters["chatflow_id"] = id
			done := b.facts(change.write, change.parameters, in{key: change.write + id})
			facts := b.facts("get_chatflow", object{"chatflow_id": id}, in{})
			if facts["state_sha256"] != done["state_sha256"] || i == 0 && facts["deployed"] != true || i == 1 && facts["category"] != "HR" {
				t.Errorf("%s: %v", change.write, facts)
			}
			change.before["chatflow_id"], change.before["base_sha256"] = id, done["state_sha256"]
			b.facts(change.write, change.before, in{key: "undo" + change.write + id})
			if refusal := b.refused(change.write, change.before, in{key: "again" + change.write + id}); refusal.Type != "domain.concurrent_edit" {
				t.Errorf("%s twice: %v", change.write, refusal)
			}
		}
	})
}

// TestWhatWasApprovedIsWhatIsWritten: a graph other than the shown one is not written.
func TestWhatWasApprovedIsWhatIsWritten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create("Shown", "one")
	patch := object{"chatflow_id": id, "ops": setReply("two")}
	shown := b.proposed("apply_patch", patch)
	if shown["changes"].(object)["line"] != "1 parameter changed" { //nolint:forcetypeassert // facts of our own
		t.Errorf("it shows %v", shown["changes"])
	}
	patch["base_sha256"], patch["graph_sha256"] = shown["base_sha256"], strings.Repeat("0", 64)
	if refusal := b.refused("apply_patch", patch, in{key: "other"}); refusal.Type != "domain.concurrent_edit" {
		t.Errorf("another graph: %v", refusal)
	}
	patch["graph_sha256"] = shown["graph_sha256"]
	if out := b.facts("apply_patch", patch, in{key: "same"}); out["sha256"] != shown["graph_sha256"] {
		t.Errorf("it shows %v and writes %v", shown["graph_sha256"], out["sha256"])
	}
}

// TestNothingIsProposedThatCannotBeWritten: no gate opens for a change that does not compile or
// validate, has no effect, or is about a missing flow.
func TestNothingIsProposedThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create("Proposals", "one")
	for name, tt := range map[string]struct {
		write      string
		parameters object
		says       string
	}{
		"an unknown write":        {"run_chatflow", object{"chatflow_id": id}, "no write"},
		"an unknown parameter":    {"rename_chatflow", object{"chatflow_id": id, "nome": "x"}, "nome"},
		"an op that does not fit": {"apply_patch", object{"chatflow_id": id, "ops": []object{{"op_type": "RemoveNode", "node_id": "nope_0"}}}, "op 0"},
		"a flow that would fail":  {"apply_patch", object{"chatflow_id": id, "ops": []object{{"op_type": "RemoveNode", "node_id": "startAgentflow_0"}}}, "error"},
		"the same name":           {"rename_chatflow", object{"chatflow_id": id, "name": "Proposals"}, "nothing would change"},
		"an unknown version":      {"rollback_chatflow", object{"chatflow_id": id, "version": "v9"}, "no version"},
		"the present version":     {"rollback_chatflow", object{"chatflow_id": id, "version": "version 1"}, "nothing would change"},
		"a flow that is there":    {"restore_chatflow", object{"chatflow_id": id}, "not deleted"},
		"a flow that never was":   {"restore_chatflow", object{"chatflow_id": exampleID}, "nothing is kept"},
		"a model without a key":   {"create_chatflow", object{"name": "x", "starter": "conversation"}, "no credential"},
		"an unknown pattern":      {"create_chatflow", object{"name": "x", "pattern": "Nope"}, "no pattern"},
	} {
		if refusal := b.refused("propose", object{"write": tt.write, "parameters": tt.parameters}, in{}); !strings.Contains(refusal.Message, tt.says) {
			t.Errorf("%s: %v", name, refusal)
		}
	}
}

// TestAFlowWithAnOldErrorStaysEditable: only added errors prevent an edit.
func TestAFlowWithAnOldErrorStaysEditable(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		id := b.create("Old error "+rand.Text(), "one")
		ops := append(replyOps("x")[1:2:2], object{"op_type": "AddNode", "node_name": "llmAgentflow", "node_id": "llm_0"})
		ops[0]["node_id"] = "unconnected_0"
		made := b.execute("compile_flow", object{"flow_data": b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{})), "ops": ops, "type": "AGENTFLOW"}, in{})
		broken := b.graph(made)
		b.edit(id, broken) // an invalid flow is saved in Flowise
		if b.facts("validate_flow", object{"flow_data": broken, "type": "AGENTFLOW"}, in{})["ok"] == true {
			t.Fatal("the flow is not broken")
		}
		b.facts("apply_patch", object{"chatflow_id": id, "ops": setReply("two")}, in{key: "edit" + id})
		worse := []object{{"op_type": "AddNode", "node_name": "llmAgentflow", "node_id": "llm_1"}}
		if refusal := b.refused("apply_patch", object{"chatflow_id": id, "ops": worse}, in{key: "worse" + id}); refusal.Type != contracts.ErrPrecondition {
			t.Errorf("a new error: %v", refusal)
		}
		// The same holds for a graph that goes through validate_flow.
		base := b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{}))
		next := b.graph(b.execute("compile_flow", object{"flow_data": base, "ops": setReply("three"), "type": "AGENTFLOW"}, in{}))
		checked := b.facts("validate_flow", object{"flow_data": next, "base": base, "type": "AGENTFLOW"}, in{run: "steps" + id})
		if checked["ok"] != true || checked["authorized"] != true {
			t.Fatalf("%v", checked)
		}
		b.facts("apply_patch", object{"chatflow_id": id, "flow_data": next, "base_sha256": contracts.HashBytes([]byte(base))}, in{run: "steps" + id, key: "steps" + id})
	})
}

// TestADeletedFlowComesBack with its stored state under its id.
func TestADeletedFlowComesBack(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		name := "Gone " + rand.Text()
		id := b.create(name, "I am back")
		graph := b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{}))
		deleted := b.execute("delete_chatflow", object{"chatflow_id": id}, in{key: "delete" + id})
		if !deleted.OK || strings.Contains(deleted.Summary, "version ,") || !strings.Contains(deleted.Summary, "v1") {
			t.Fatalf("%q %v", deleted.Summary, deleted.Error)
		}
		matches, _ := b.facts("resolve_target", object{"query": name, "deleted": true}, in{})["matches"].([]any)
		if len(matches) != 1 || matches[0].(object)["value"] != id { //nolint:forcetypeassert // facts of our own
			t.Fatalf("among the deleted: %v", matches)
		}
		b.facts("restore_chatflow", object{"chatflow_id": id}, in{key: "restore" + id})
		if b.answer(id) != "I am back" || b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{})) != graph {
			t.Error("it is not as it was")
		}
		if again := b.facts("resolve_target", object{"query": name, "deleted": true}, in{})["matches"]; again != nil && len(again.([]any)) > 0 { //nolint:forcetypeassert // facts of our own
			t.Errorf("it still counts as deleted: %v", again)
		}
	})
}

// TestANameThatIsNotThereIsNeverReplaced: a match says that it has another name.
func TestANameThatIsNotThereIsNeverReplaced(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create("FAQ RAG", "one")
	matches, _ := b.facts("resolve_target", object{"query": "Weekly RAG"}, in{})["matches"].([]any)
	if len(matches) != 1 {
		t.Fatalf("%v", matches)
	}
	match, _ := matches[0].(object)
	if match["exact"] != false || !strings.Contains(text(match["detail"]), `none called "Weekly RAG"`) {
		t.Errorf("%v", match)
	}
}

// TestComparedVersionsSayWhatChangedFromWhatToWhat in the facts.
func TestComparedVersionsSayWhatChangedFromWhatToWhat(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create("Compared", "one")
	b.facts("apply_patch", object{"chatflow_id": id, "ops": setReply("two")}, in{key: "compare"})
	out := b.execute("diff_versions", object{"chatflow_id": id, "from": "v1", "to": "v2"}, in{})
	rows, _ := out.Facts["rows"].([]any)
	if !out.OK || len(rows) != 1 || !strings.Contains(out.Summary, "directReplyMessage: one → two") {
		t.Errorf("%q %v", out.Summary, out.Facts)
	}
}
