package flow_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// TestANodeIsReplacedWithItsConnections: the edges are connected to the new node, and the values
// that both kinds have are carried over.
func TestANodeIsReplacedWithItsConnections(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		flow, node, kind, held string
	}{
		"a model":    {"conversation", "chatOpenAI_0", "chatAnthropic", "chatAnthropic_0"},
		"a memory":   {"conversation", "bufferMemory_0", "bufferWindowMemory", "bufferWindowMemory_0"},
		"a splitter": {"retrieval", "memoryVectorStore_0", "faiss", ""},
	} {
		base := build(t, tt.flow).Graph
		made, err := flow.Compile(base, []flow.Op{&flow.ReplaceNode{OpType: flow.OpReplaceNode, NodeID: tt.node, NodeName: tt.kind}}, definitions(t), flow.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(made.Graph.Nodes()) != len(base.Nodes()) || len(made.Graph.Edges()) != len(base.Edges()) {
			t.Errorf("%s: %d nodes and %d edges, before %d and %d", name, len(made.Graph.Nodes()), len(made.Graph.Edges()), len(base.Nodes()), len(base.Edges()))
		}
		if strings.Contains(string(made.FlowData), tt.node+".data.instance") {
			t.Errorf("%s: something still refers to the old node", name)
		}
		if tt.held != "" && !strings.Contains(string(made.FlowData), "{{"+tt.held+".data.instance}}") {
			t.Errorf("%s: nothing refers to the new node", name)
		}
		if len(made.Added) != 1 {
			t.Errorf("%s: added %v", name, made.Added)
		}
	}
}

// TestWhatCannotTakeANodesPlaceIsRefused with the edge that does not fit.
func TestWhatCannotTakeANodesPlaceIsRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ node, kind, says string }{
		"another class":    {"chatOpenAI_0", "bufferMemory", "cannot take the place"},
		"the same kind":    {"chatOpenAI_0", "chatOpenAI", "already"},
		"an unknown kind":  {"chatOpenAI_0", "chatNope", "no kind of node"},
		"an unknown node":  {"nope_0", "chatAnthropic", "no node"},
		"one of an agency": {"chatOpenAI_0", "llmAgentflow", "AGENTFLOW"},
	} {
		_, err := flow.Compile(build(t, "conversation").Graph, []flow.Op{&flow.ReplaceNode{OpType: flow.OpReplaceNode, NodeID: tt.node, NodeName: tt.kind}}, definitions(t), flow.Options{})
		if err == nil || !strings.Contains(faultText(err), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// faultText returns the complete text of an error.
func faultText(err error) string {
	text := err.Error()
	if e, ours := errors.AsType[*contracts.Error](err); ours {
		for _, f := range e.Faults {
			text += "\n" + f.Message
		}
	}
	return text
}
