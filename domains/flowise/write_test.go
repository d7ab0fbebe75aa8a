package flowise_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
)

// create makes a chatflow and gives its id.
func (b *bench) create(name, reply string) string {
	b.Helper()
	return text(b.facts("create_chatflow", object{"name": name, "reply": reply}, in{key: rand.Text()})["chatflow_id"]) // a real server keeps what earlier tests made
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
		hashes := map[string]string{"v1": text(b.facts("get_chatflow", object{"chatflow_id": id}, in{})["sha256"])}
		for i := range 4 {
			out := b.facts("apply_patch", object{"chatflow_id": id, "ops": setReply(fmt.Sprintf("reply %d", i+1))}, in{key: fmt.Sprint("patch ", i)})
			hashes[text(out["version"])] = text(out["sha256"])
		}
		if len(hashes) != 5 {
			t.Fatalf("versions %v", hashes)
		}
		for i, version := range []string{"v3", "v1", "v5", "v2", "v4"} {
			b.facts("rollback_chatflow", object{"chatflow_id": id, "version": version}, in{key: fmt.Sprint("back ", i)})
			if now := b.facts("get_chatflow", object{"chatflow_id": id}, in{})["sha256"]; now != hashes[version] {
				t.Errorf("after the rollback to %s the flow has other bytes", version)
			}
		}
		if total := b.facts("list_versions", object{"chatflow_id": id}, in{})["total"]; fmt.Sprint(total) != "10" {
			t.Errorf("%v versions; each rollback is one", total)
		}
	})
}

func TestAConcurrentEditIsNotOverwritten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create("Edited", "one")
	loaded := b.execute("load_flow", object{"chatflow_id": id}, in{})
	seen := text(loaded.Facts["sha256"])
	edited := strings.Replace(b.graph(loaded), "one", "by hand", 1)
	if !b.server.EditFlow(id, edited) {
		t.Fatal("no such flow")
	}
	refusal := b.refused("apply_patch", object{"chatflow_id": id, "ops": setReply("two"), "base_sha256": seen}, in{key: "patch"})
	if refusal.Type != "domain.concurrent_edit" {
		t.Errorf("refused as %v", refusal)
	}
	if now, _ := b.server.FlowData(id); now != edited {
		t.Error("the edit was overwritten")
	}
	if b.facts("list_versions", object{"chatflow_id": id}, in{})["edited_elsewhere"] != true {
		t.Error("the list of versions does not tell")
	}
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

func TestAWriteWhoseAnswerWasLostIsFoundByItsKey(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sandboxkit.Kind{"the connection broke after the write": sandboxkit.ResetAfter, "a proxy failed after the write": sandboxkit.UnavailableAfter} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.server.Inject(sandboxkit.Fault{Kind: fault, Method: "POST", PathSuffix: "/chatflows", Count: 1})
			b.execute("create_chatflow", object{"name": "Once", "reply": "Pong"}, in{key: "k"})
			b.restart()
			out := b.facts("create_chatflow", object{"name": "Once", "reply": "Pong"}, in{key: "k"})
			found := b.facts("find_write", object{"operation": "create_chatflow", "key": "k"}, in{})
			if found["applied"] != true || found["chatflow_id"] != out["chatflow_id"] {
				t.Errorf("found %v", found)
			}
			made := slices.DeleteFunc(b.server.Effects(), func(e sandbox.Effect) bool { return e.Kind != "flow.create" })
			if len(made) != 1 || b.answer(text(out["chatflow_id"])) != "Pong" {
				t.Errorf("effects %v", made)
			}
		})
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
		"a model without credential": {"create_chatflow", object{"name": "x", "starter": "conversation"}, contracts.ErrPrecondition, "no credential"},
		"an unknown template":        {"create_chatflow", object{"name": "x", "template": "Nope"}, contracts.ErrNotFound, "no template"},
		"an unknown pattern":         {"create_chatflow", object{"name": "x", "pattern_id": 7}, contracts.ErrNotFound, "no pattern"},
		"an op that does not fit":    {"apply_patch", object{"chatflow_id": id, "ops": []object{{"op_type": "RemoveNode", "node_id": "nope_0"}}}, contracts.ErrPrecondition, "op 0"},
		"a flow that would fail":     {"apply_patch", object{"chatflow_id": id, "ops": []object{{"op_type": "RemoveNode", "node_id": "startAgentflow_0"}}}, contracts.ErrPrecondition, "error"},
		"a graph without its base":   {"apply_patch", object{"chatflow_id": id, "flow_data": "{}"}, contracts.ErrInvalidParameters, "base_sha256"},
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
