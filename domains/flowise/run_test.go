package flowise_test

import (
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/flowise/flowisetest"
)

// agent creates a tool agent whose model and MCP server are the test's.
func (b *bench) agent() (id string, tools *flowisetest.MCP) {
	b.Helper()
	tools = &flowisetest.MCP{}
	mcp, model := httptest.NewServer(tools), httptest.NewServer(&flowisetest.OpenAI{})
	b.Cleanup(mcp.Close)
	b.Cleanup(model.Close)
	credential := b.credential()
	ops := []object{
		{"op_type": "AddNode", "node_name": "chatOpenAI", "node_id": "model", "params": object{"basepath": model.URL + "/v1", "streaming": false}},
		{"op_type": "AddNode", "node_name": "bufferMemory", "node_id": "memory"},
		{"op_type": "AddNode", "node_name": "customMCP", "node_id": "mcp", "params": object{"mcpServerConfig": `{"url":"` + mcp.URL + `/mcp"}`, "mcpActions": `["add"]`}},
		{"op_type": "AddNode", "node_name": "toolAgent", "node_id": "agent"},
		{"op_type": "Connect", "source_node_id": "model", "target_node_id": "agent"},
		{"op_type": "Connect", "source_node_id": "memory", "target_node_id": "agent"},
		{"op_type": "Connect", "source_node_id": "mcp", "target_node_id": "agent"},
		{"op_type": "BindCredential", "node_id": "model", "credential_id": credential},
	}
	made := b.facts("create_chatflow", object{"name": "Agent " + rand.Text(), "ops": ops, "type": "CHATFLOW"}, in{key: rand.Text()})
	return text(made["chatflow_id"]), tools
}

// credential saves a model's credential, as a user does in Flowise.
func (b *bench) credential() (id string) {
	b.Helper()
	var row struct{ ID string }
	b.direct(http.MethodPost, "/credentials", object{"name": "Team key", "credentialName": "openAIApi", "plainDataObj": object{"openAIApiKey": "sk-1"}}, &row)
	return row.ID
}

// looked adds the hash of the graph to a question, as the plan of a run does.
func (b *bench) looked(question object) object {
	b.Helper()
	out := maps.Clone(question)
	out["graph_sha256"] = b.facts("preview_run", question, in{})["sha256"]
	return out
}

func TestAFlowThatMayActIsRunOncePerKey(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		id, tools := b.agent()
		question := object{"chatflow_id": id, "question": "USE_TOOL please", "session_id": "talk " + id}
		if got := b.refused("predict_chatflow", question, in{}); !strings.Contains(got.Message, "run_chatflow") {
			t.Errorf("the refusal does not say what to do: %v", got)
		}
		question = b.looked(question)
		first := b.facts("run_chatflow", question, in{key: "k" + id})
		if fmt.Sprint(first["tools"]) != "[add]" || first["session_id"] != question["session_id"] || text(first["message_id"]) == "" {
			t.Errorf("it did %v", first)
		}
		if again := b.facts("run_chatflow", question, in{key: "k" + id}); !cmp.Equal(again, first) {
			t.Errorf("a repeat got %v, first %v", again, first)
		}
		b.config.Keys = nil // like a restart without a durable key store
		b.restart()
		if again := b.facts("run_chatflow", question, in{key: "k" + id}); again["message_id"] != first["message_id"] || again["answer"] != first["answer"] {
			t.Errorf("after the keys were lost, a repeat got %v, first %v", again, first)
		}
		if b.server == nil && toolCalls(tools) != 1 {
			t.Errorf("the tool was used %d times", toolCalls(tools))
		}
		found := b.facts("find_run", object{"chatflow_id": id, "key": "k" + id}, in{})
		if found["applied"] != true || found["message_id"] != first["message_id"] || fmt.Sprint(found["tools"]) != "[add]" {
			t.Errorf("found %v", found)
		}
		if other := b.facts("find_run", object{"chatflow_id": id, "key": "another"}, in{}); other["applied"] != false {
			t.Errorf("of another key: %v", other)
		}
		if other := b.facts("run_chatflow", question, in{key: "l" + id}); other["message_id"] == first["message_id"] {
			t.Error("another key got the same answer")
		}
	})
}

// toolCalls counts the tool calls of an MCP server.
func toolCalls(m *flowisetest.MCP) (n int) {
	for _, r := range m.Calls() {
		if strings.Contains(string(r.Body), `"tools/call"`) {
			n++
		}
	}
	return n
}

// TestARunWhoseEndIsNotKnownIsNotRepeated: its outcome is looked up in the flow's history; a flow
// that was certainly not reached may be run again.
func TestARunWhoseEndIsNotKnownIsNotRepeated(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault    sandboxkit.Kind
		question string
		effect   contracts.Effect // of the first attempt
		found    any              // applied, as find_run reports it then
		again    contracts.Effect // of the retry; applied without an error is a success
		sent     int
		keyless  bool // the keys are lost before the retry
	}{
		"answered, but the answer was lost":   {fault: sandboxkit.ResetAfter, effect: contracts.EffectUnknown, found: true, again: contracts.EffectApplied, sent: 1},
		"perhaps still running":               {fault: sandboxkit.ResetBefore, effect: contracts.EffectUnknown, found: nil, again: contracts.EffectUnknown, sent: 1},
		"perhaps still running, no keys":      {fault: sandboxkit.ResetBefore, effect: contracts.EffectUnknown, found: nil, again: contracts.EffectUnknown, sent: 1, keyless: true},
		"the flow failed, no keys":            {question: "FAIL500", effect: contracts.EffectApplied, found: nil, again: contracts.EffectUnknown, sent: 1, keyless: true},
		"a page instead of an answer":         {fault: sandboxkit.HTMLAnswer, effect: contracts.EffectUnknown, found: true, again: contracts.EffectApplied, sent: 1},
		"the server was busy":                 {fault: sandboxkit.TooManyRequests, effect: contracts.EffectNone, found: false, again: contracts.EffectApplied, sent: 2},
		"the flow failed by its own account":  {question: "FAIL500", effect: contracts.EffectApplied, found: nil, again: contracts.EffectApplied, sent: 1},
		"the key is not allowed to be used":   {fault: sandboxkit.Forbidden, effect: contracts.EffectNone, found: false, again: contracts.EffectNone, sent: 1},
		"something between was not available": {fault: sandboxkit.UnavailableAfter, effect: contracts.EffectUnknown, found: true, again: contracts.EffectApplied, sent: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, _ := b.agent()
			question := object{"chatflow_id": id, "question": "Hello"}
			if tt.question != "" {
				question["question"] = tt.question
			}
			question = b.looked(question)
			if tt.fault != "" {
				b.server.Inject(sandboxkit.Fault{Kind: tt.fault, PathPrefix: "/api/v1/prediction/", Count: 1})
			}
			if first := b.execute("run_chatflow", question, in{key: "k"}); first.OK || first.Error.EffectOf() != tt.effect {
				t.Errorf("%s %v, want effect %s", first.Summary, first.Error, tt.effect)
			}
			if found := b.facts("find_run", object{"chatflow_id": id, "key": "k"}, in{}); found["applied"] != tt.found {
				t.Errorf("applied: %v, want %v", found["applied"], tt.found)
			}
			if tt.keyless {
				b.config.Keys = nil
			}
			b.restart()
			if again := b.execute("run_chatflow", question, in{key: "k"}); again.Error.EffectOf() != tt.again {
				t.Errorf("a repeat: %v, want effect %s", again.Error, tt.again)
			}
			sent := 0
			for _, r := range b.server.Requests() {
				if strings.Contains(r.Path, "/prediction/") {
					sent++
				}
			}
			if sent != tt.sent {
				t.Errorf("the flow was asked %d times, want %d", sent, tt.sent)
			}
		})
	}
}

// TestAGraphThatNobodyLookedAtIsNotRun: hours may pass between approval and run; only the reviewed
// graph is run.
func TestAGraphThatNobodyLookedAtIsNotRun(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		id, tools := b.agent()
		question := object{"chatflow_id": id, "question": "USE_TOOL please"}
		if got := b.refused("run_chatflow", question, in{key: "none" + id}); got.Type != contracts.ErrInvalidParameters || !strings.Contains(got.Message, "preview_run") {
			t.Errorf("without a hash: %v", got)
		}
		preview := b.facts("preview_run", question, in{})
		label := text(preview["matches"].([]any)[0].(object)["label"])
		if fmt.Sprint(preview["acting_nodes"]) != "[mcp]" || !strings.Contains(label, "act by mcp") || !strings.Contains(label, "4 nodes") {
			t.Errorf("the preview is %v", preview)
		}
		before := b.looked(question)
		ran := b.facts("run_chatflow", before, in{key: "before" + id})
		b.facts("apply_patch", object{"chatflow_id": id, "ops": []object{{"op_type": "RenameNode", "node_id": "agent", "label": "Another"}}}, in{key: "edit" + id})
		used := toolCalls(tools)
		got := b.refused("run_chatflow", before, in{key: "after" + id})
		if got.Type != "domain.concurrent_edit" || !strings.Contains(fmt.Sprint(got.Detail), "expected_sha256:"+text(before["graph_sha256"])) {
			t.Errorf("a changed flow: %v %v", got, got.Detail)
		}
		if toolCalls(tools) != used {
			t.Error("the changed flow was run")
		}
		b.config.Keys = nil // what was run before the change stays run, the requester
		b.restart()
		if again := b.facts("run_chatflow", before, in{key: "before" + id}); again["message_id"] != ran["message_id"] {
			t.Errorf("a repeat of the run before got %v, first %v", again, ran)
		}
		b.facts("run_chatflow", b.looked(question), in{key: "again" + id})
	})
}
