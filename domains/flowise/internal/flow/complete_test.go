package flow_test

import (
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// TestCompleteKeepsWhatACanvasSaved: a complete flow keeps its bytes.
func TestCompleteKeepsWhatACanvasSaved(t *testing.T) {
	for name, ops := range built() {
		made := compile(t, nil, ops)
		got, kind, faults := flow.Complete(made.Graph, definitions(t), "")
		if string(got.FlowData()) != string(made.FlowData) || len(faults) > 0 || kind != made.Kind {
			t.Errorf("%s: %v %v\n%s", name, kind, faults, differences(made.FlowData, got.FlowData()))
		}
	}
}

// TestCompleteBuildsWhatIsOnlyNamed: nodes with only kind and values, and edges between nodes,
// become what the canvas would create.
func TestCompleteBuildsWhatIsOnlyNamed(t *testing.T) {
	tests := map[string]struct {
		flow string
		kind flow.Kind
		// faults are edges that fit no anchor.
		faults int
	}{
		"an agentflow": {`{"nodes":[{"id":"startAgentflow_0","data":{"name":"startAgentflow","inputs":{"startInputType":"chatInput"}}},
			{"id":"directReplyAgentflow_0","data":{"name":"directReplyAgentflow","inputs":{"directReplyMessage":"x"}}}],
			"edges":[{"source":"startAgentflow_0","target":"directReplyAgentflow_0"}]}`, flow.Agentflow, 0},
		"a chain": {`{"nodes":[{"id":"chatOpenAI_0","data":{"name":"chatOpenAI","inputParams":null}},{"id":"bufferMemory_0","data":{"name":"bufferMemory","outputAnchors":[]}},
			{"id":"conversationChain_0","data":{"name":"conversationChain","inputs":{}}}],
			"edges":[{"source":"chatOpenAI_0","target":"conversationChain_0"},{"source":"bufferMemory_0","target":"conversationChain_0"}]}`, flow.Chatflow, 0},
		"a connection that fits nowhere": {`{"nodes":[{"id":"chatOpenAI_0","data":{"name":"chatOpenAI"}},{"id":"calculator_0","data":{"name":"calculator"}},
			{"id":"bufferMemory_0","data":{"name":"bufferMemory"}},{"id":"conversationChain_0","data":{"name":"conversationChain"}}],
			"edges":[{"source":"chatOpenAI_0","target":"conversationChain_0"},{"source":"bufferMemory_0","target":"conversationChain_0"},{"source":"calculator_0","target":"conversationChain_0"}]}`, flow.Chatflow, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g, err := flow.Decompile([]byte(tt.flow))
			if err != nil {
				t.Fatal(err)
			}
			got, kind, faults := flow.Complete(g, definitions(t), "")
			if kind != tt.kind || len(faults) != tt.faults {
				t.Fatalf("%s, %v", kind, faults)
			}
			report := flow.Validate(got.FlowData(), definitions(t), flow.Check{Kind: kind, Template: true})
			if errs := report.Errors(); len(errs) > 0 {
				t.Errorf("%v\n%s", errs, got.FlowData())
			}
			again, _, _ := flow.Complete(got, definitions(t), kind)
			if string(again.FlowData()) != string(got.FlowData()) {
				t.Error("it is completed again")
			}
		})
	}
}
