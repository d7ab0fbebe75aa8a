package flowise_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

// crowded is a flow of many nodes, each of its own kind, with long multi-byte names.
func crowded() string {
	long := strings.Repeat("日", 120)
	var nodes []string
	for i := range 600 {
		id := fmt.Sprint(long, i)
		nodes = append(nodes, fmt.Sprintf(`{"id":%q,"data":{"id":%q,"name":%q,"label":%q,"category":"Tools","inputParams":[],"inputAnchors":[],"inputs":{"text":%q},"outputAnchors":[]}}`, id, id, "kind"+id, long, long+long))
	}
	return `{"nodes":[` + strings.Join(nodes, ",") + `],"edges":[]}`
}

// TestWhateverAFlowHoldsTheFactsStayWithinTheirBounds: a read that exceeds them fails, so nothing
// could be said about the flow.
func TestWhateverAFlowHoldsTheFactsStayWithinTheirBounds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.direct(http.MethodPost, "/chatflows", object{"id": exampleID, "name": strings.Repeat("日", 5000), "type": "CHATFLOW", "flowData": crowded()}, &struct{}{})
	small := b.create("Small", "one")
	long := strings.Repeat("日", 3000)
	var adds, sets, more, wrong []object
	for i := range 60 {
		id := fmt.Sprintf("node_%s_%d", strings.Repeat("x", 60), i)
		adds = append(adds, object{"op_type": "AddNode", "node_name": "directReplyAgentflow", "node_id": id, "params": object{"directReplyMessage": long}},
			object{"op_type": "Connect", "source_node_id": "startAgentflow_0", "target_node_id": id})
		sets = append(sets, object{"op_type": "SetParam", "node_id": id, "param_name": "directReplyMessage", "value": strings.Repeat("月", 3000)},
			object{"op_type": "RenameNode", "node_id": id, "label": strings.Repeat("火", 300)})
		wrong = append(wrong, object{"op_type": "RemoveNode", "node_id": strings.Repeat("日", 300) + fmt.Sprint(i)})
	}
	for i := range 30 {
		id := fmt.Sprintf("other_%s_%d", strings.Repeat("y", 60), i)
		more = append(more, object{"op_type": "AddNode", "node_name": "directReplyAgentflow", "node_id": id, "params": object{"directReplyMessage": long}},
			object{"op_type": "Connect", "source_node_id": "startAgentflow_0", "target_node_id": id},
			object{"op_type": "RemoveNode", "node_id": fmt.Sprintf("node_%s_%d", strings.Repeat("x", 60), 30+i)})
	}
	b.facts("apply_patch", object{"chatflow_id": small, "ops": adds}, in{key: "adds"})
	for name, call := range map[string]struct {
		capability string
		parameters object
	}{
		"the flow":                  {"get_chatflow", object{"chatflow_id": exampleID}},
		"its digest":                {"load_flow", object{"chatflow_id": exampleID}},
		"its graph":                 {"summarize_flow", object{"flow_data": crowded()}},
		"a list with it":            {"list_chatflows", object{"limit": 50}},
		"a choice with it":          {"resolve_target", object{}},
		"its findings":              {"validate_flow", object{"flow_data": crowded(), "type": "CHATFLOW"}},
		"what a run of it sets off": {"preview_run", object{"chatflow_id": exampleID, "question": "Hello"}},
		"many changes":              {"preview_changes", object{"chatflow_id": small, "ops": sets}},
		"changes of every sort":     {"preview_changes", object{"chatflow_id": small, "ops": slices.Concat(sets[:60], more)}},
		"many new nodes":            {"compile_flow", object{"type": "AGENTFLOW", "ops": append(replyOps("x"), adds...)}},
		"many wrong ops":            {"compile_flow", object{"type": "AGENTFLOW", "ops": wrong}},
		"a diff of it":              {"diff_versions", object{"chatflow_id": small, "from": "v1"}},
		"parts of it":               {"excerpt_flow", object{"flow_data": crowded(), "nodes": []string{strings.Repeat("日", 120) + "1"}}},
	} {
		out := b.execute(call.capability, call.parameters, in{})
		if _, faults := contracts.BoundResult(out, false, nil); !out.OK || len(faults) > 0 || out.Facts == nil {
			t.Errorf("%s: %s: %v %v", name, call.capability, out.Error, faults)
		}
	}
}
