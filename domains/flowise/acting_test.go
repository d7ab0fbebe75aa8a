package flowise_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise"
)

// TestFlowsThatMayActAreNotAskedUnlessItIsAllowed: asking needs no approval, so
// what a flow's tools may do must not hide behind it.
func TestFlowsThatMayActAreNotAskedUnlessItIsAllowed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.server.AddCredential("Team key", "openAIApi")
	ops := []object{
		{"op_type": "AddNode", "node_name": "chatOpenAI", "node_id": "model"},
		{"op_type": "AddNode", "node_name": "bufferMemory", "node_id": "memory"},
		{"op_type": "AddNode", "node_name": "customMCP", "node_id": "mcp", "params": object{"mcpServerConfig": `{"url":"http://x.example/mcp"}`, "mcpActions": `["add"]`}},
		{"op_type": "AddNode", "node_name": "toolAgent", "node_id": "agent"},
		{"op_type": "Connect", "source_node_id": "model", "target_node_id": "agent"},
		{"op_type": "Connect", "source_node_id": "memory", "target_node_id": "agent"},
		{"op_type": "Connect", "source_node_id": "mcp", "target_node_id": "agent"},
		{"op_type": "BindCredential", "node_id": "model", "credential_id": "Team key"},
	}
	id := text(b.facts("create_chatflow", object{"name": "Agent", "ops": ops, "type": "CHATFLOW"}, in{key: "k"})["chatflow_id"])
	question := object{"chatflow_id": id, "question": "Hello"}
	for capability, wish := range map[string]object{"predict_chatflow": question, "test_chatflow": {"chatflow_id": id}} {
		got := b.refused(capability, wish, in{})
		if got.Type != contracts.ErrPrecondition || !strings.Contains(got.Message, "mcp") || strings.Contains(fmt.Sprint(got.Detail), "model") {
			t.Errorf("%s: %v %v", capability, got, got.Detail)
		}
	}
	for _, r := range b.server.Requests() {
		if strings.Contains(r.Path, "/prediction/") {
			t.Error("it was asked")
		}
	}
	b.config.Acting = flowise.ActingAllow
	b.restart()
	if out := b.execute("predict_chatflow", question, in{}); !out.OK && out.Error.Type == contracts.ErrPrecondition {
		t.Errorf("although it is allowed: %v", out.Error)
	}
	b.config.Acting = "shrug"
	if _, err := flowise.New(b.config); err == nil {
		t.Error("a policy that nobody knows is taken")
	}
}
