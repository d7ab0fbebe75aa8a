package flowise_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

// create creates a chatflow and returns its id.
func (b *bench) create(name, reply string) string {
	b.Helper()
	return text(b.facts("create_chatflow", object{"name": name, "reply": reply}, in{key: rand.Text()})["chatflow_id"]) // a real server keeps flows of earlier tests
}

// answer asks a chatflow.
func (b *bench) answer(id string) string {
	b.Helper()
	return text(b.facts("predict_chatflow", object{"chatflow_id": id, "question": "Hello"}, in{})["answer"])
}

func everywhere(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	for name, start := range map[string]func(*testing.T) *bench{"sandbox": setup, "real": real} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			test(t, b)
		})
	}
}

func TestANewChatflowAnswers(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		id := b.create("Greeter", "Good morning")
		if got := b.answer(id); got != "Good morning" {
			t.Errorf("it answers %q", got)
		}
		report := b.facts("test_chatflow", object{"chatflow_id": id, "trials": 2}, in{})
		if report["ok"] != true {
			t.Errorf("its tests: %v", report)
		}
	})
}

func TestRollbackGivesTheOldBytesOfEveryVersion(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		id := b.create("Versions", "reply 0")
		load := func() string { return b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{})) }
		graphs := map[string]string{"v1": load()}
		for i := range 4 {
			out := b.facts("apply_patch", object{"chatflow_id": id, "ops": setReply(fmt.Sprintf("reply %d", i+1))}, in{key: fmt.Sprint("patch ", i)})
			graphs[text(out["version"])] = load()
		}
		if len(graphs) != 5 {
			t.Fatalf("%d versions", len(graphs))
		}
		for i, version := range []string{"v3", "v1", "v5", "v2", "v4"} {
			b.facts("rollback_chatflow", object{"chatflow_id": id, "version": version}, in{key: fmt.Sprint("back ", i)})
			if load() != graphs[version] {
				t.Errorf("after the rollback to %s the flow has other bytes", version)
			}
		}
		if total := b.facts("list_versions", object{"chatflow_id": id}, in{})["total"]; fmt.Sprint(total) != "10" {
			t.Errorf("%v versions; each rollback is one", total)
		}
	})
}

// edit saves a graph directly on the server, like an edit in Flowise's UI, and returns its update
// time.
func (b *bench) edit(id, flowData string) (updated string) {
	b.Helper()
	var row struct{ UpdatedDate string }
	b.direct(http.MethodPut, "/chatflows/"+id, object{"flowData": flowData}, &row)
	return row.UpdatedDate
}

func TestAConcurrentEditIsNotOverwritten(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		id := b.create("Edited "+rand.Text(), "one")
		original := b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{}))
		edited := strings.Replace(original, "one", "by hand", 1)
		var seen string
		for tries := 0; ; tries++ {
			// Both states within one second have the same time.
			before := b.edit(id, original)
			seen = text(b.facts("load_flow", object{"chatflow_id": id}, in{})["sha256"])
			if before == b.edit(id, edited) {
				break
			}
			if tries == 50 {
				t.Fatal("no two edits fell into one second")
			}
		}
		for name, patch := range map[string]object{
			"ops":   {"ops": setReply("two")},
			"graph": {"flow_data": strings.Replace(original, "one", "two", 1)},
		} {
			patch["chatflow_id"], patch["base_sha256"] = id, seen
			if refusal := b.refused("apply_patch", patch, in{key: name + id}); refusal.Type != "domain.concurrent_edit" {
				t.Errorf("%s: refused as %v", name, refusal)
			}
			if now := b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{})); now != edited {
				t.Errorf("%s: the edit was overwritten", name)
			}
		}
		if b.facts("list_versions", object{"chatflow_id": id}, in{})["edited_elsewhere"] != true {
			t.Error("the list of versions does not tell")
		}
		// After a new review the change is applied on top of the edit, and the edit is stored as a
		// version.
		now := contracts.HashBytes([]byte(edited))
		out := b.facts("apply_patch", object{"chatflow_id": id, "ops": setReply("two"), "base_sha256": now}, in{key: "again" + id})
		b.facts("rollback_chatflow", object{"chatflow_id": id, "version": out["previous_version"]}, in{key: "back" + id})
		if b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{})) != edited {
			t.Error("the edit cannot be gone back to")
		}
	})
}

func TestOnlyBytesThatPassedValidationInTheRunAreWrittenOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create("Guarded", "one")
	base := text(b.facts("get_chatflow", object{"chatflow_id": id}, in{})["sha256"])
	graph := b.graph(b.execute("compile_flow", object{"flow_data": b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{})), "ops": setReply("two"), "type": "AGENTFLOW"}, in{}))
	patch := object{"chatflow_id": id, "flow_data": graph, "base_sha256": base}

	says := func(want, key, run string) {
		t.Helper()
		if got := b.refused("apply_patch", patch, in{run: run, key: key}); !strings.HasPrefix(got.Message, want) {
			t.Errorf("refused with %q, want %s", got.Message, want)
		}
	}
	says("ValidationRequired", "a", "other")
	b.facts("validate_flow", object{"flow_data": graph + " ", "type": "AGENTFLOW"}, in{run: "other"})
	says("HashMismatch", "b", "other")
	if b.facts("validate_flow", object{"flow_data": graph, "type": "AGENTFLOW"}, in{run: "good"})["authorized"] != true {
		t.Fatal("a valid graph was not authorized")
	}
	says("HashMismatch", "c", "other")
	written := b.execute("apply_patch", patch, in{run: "good", key: "d"})
	if !written.OK {
		t.Fatal(written.Error)
	}
	b.facts("rollback_chatflow", object{"chatflow_id": id}, in{run: "back", key: "e"})
	says("AlreadyWritten", "f", "good")
	if again := b.execute("apply_patch", patch, in{run: "good", key: "d"}); !cmp.Equal(again.Facts, written.Facts) {
		t.Errorf("a repeat got %v, first %v", again.Facts, written.Facts)
	}
}

func TestWhatCannotWorkIsRefusedWithoutEffect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create("Refusals", "one")
	before := len(b.server.Effects())
	tests := map[string]struct {
		capability string
		parameters object
		errType    string
		says       string
	}{
		"two beginnings":             {"create_chatflow", object{"name": "x", "starter": "reply", "template": "Simple Echo"}, contracts.ErrInvalidParameters, "one of"},
		"a reply of a conversation":  {"create_chatflow", object{"name": "x", "starter": "conversation", "reply": "Hello"}, contracts.ErrInvalidParameters, "takes a reply"},
		"a reply of a template":      {"create_chatflow", object{"name": "x", "template": "Simple Echo", "reply": "Hello"}, contracts.ErrInvalidParameters, "takes a reply"},
		"a model without credential": {"create_chatflow", object{"name": "x", "starter": "conversation"}, contracts.ErrPrecondition, "no credential"},
		"an unknown template":        {"create_chatflow", object{"name": "x", "template": "Nope"}, contracts.ErrNotFound, "no template"},
		"an unknown pattern":         {"create_chatflow", object{"name": "x", "pattern_id": 7}, contracts.ErrNotFound, "no pattern"},
		"an op that does not fit":    {"apply_patch", object{"chatflow_id": id, "ops": []object{{"op_type": "RemoveNode", "node_id": "nope_0"}}}, contracts.ErrPrecondition, "op 0"},
		"a flow that would fail":     {"apply_patch", object{"chatflow_id": id, "ops": []object{{"op_type": "RemoveNode", "node_id": "startAgentflow_0"}}}, contracts.ErrPrecondition, "error"},
		"a graph without its base":   {"apply_patch", object{"chatflow_id": id, "flow_data": "{}", "base_sha256": ""}, contracts.ErrInvalidParameters, "base_sha256"},
		"an unknown version":         {"rollback_chatflow", object{"chatflow_id": id, "version": "v9"}, contracts.ErrNotFound, "no version"},
		"no earlier version":         {"rollback_chatflow", object{"chatflow_id": id}, contracts.ErrPrecondition, "no earlier"},
		"a flow that is not there":   {"delete_chatflow", object{"chatflow_id": exampleID}, contracts.ErrNotFound, ""},
	}
	for name, tt := range tests {
		refusal := b.refused(tt.capability, tt.parameters, in{key: name})
		if refusal.Type != tt.errType || !strings.Contains(refusal.Message, tt.says) {
			t.Errorf("%s: %v", name, refusal)
		}
	}
	if after := len(b.server.Effects()); after != before {
		t.Errorf("%d effects", after-before)
	}
}

func TestANewFlowBeginsWithWhatIsAsked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.server.AddCredential("Team key", "openAIApi")
	pattern := b.facts("save_pattern", object{"chatflow_id": b.create("Source", "From a pattern")}, in{key: "save"})
	for name, begin := range map[string]object{
		"a pattern":                       {"pattern_id": pattern["pattern_id"]},
		"a template":                      {"template": "simple reply"},
		"a conversation":                  {"starter": "conversation", "credential": "Team key"},
		"an agent with the only key":      {"starter": "tool_agent"},
		"nothing but ops":                 {"ops": replyOps("From ops")},
		"a starter with ops on top of it": {"reply": "x", "ops": setReply("changed")},
	} {
		begin["name"] = name
		out := b.facts("create_chatflow", begin, in{key: name})
		if n := fmt.Sprint(out["node_count"]); n == "0" {
			t.Errorf("%s: %v", name, out)
		}
	}
	if got := b.facts("search_patterns", object{"query": "source"}, in{})["patterns"]; fmt.Sprint(got) == "[]" {
		t.Error("the pattern is not found")
	}
}
