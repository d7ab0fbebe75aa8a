package flow_test

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// big is a flow of 100 nodes: 25 agents with a model, a memory and a tool.
func big(tb testing.TB) *flow.Graph {
	tb.Helper()
	var b strings.Builder
	b.WriteString("[")
	for i := range 25 {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"op_type":"AddNode","node_name":"chatOpenAI","node_id":"model_%[1]d"},
			{"op_type":"AddNode","node_name":"bufferMemory","node_id":"memory_%[1]d"},
			{"op_type":"AddNode","node_name":"calculator","node_id":"tool_%[1]d"},
			{"op_type":"AddNode","node_name":"toolAgent","node_id":"agent_%[1]d"},
			{"op_type":"Connect","source_node_id":"model_%[1]d","target_node_id":"agent_%[1]d"},
			{"op_type":"Connect","source_node_id":"memory_%[1]d","target_node_id":"agent_%[1]d"},
			{"op_type":"Connect","source_node_id":"tool_%[1]d","target_node_id":"agent_%[1]d"}`, i)
	}
	b.WriteString("]")
	return compile(tb, nil, b.String()).Graph
}

// fifty returns edits of every kind on a flow of 100 nodes.
func fifty(tb testing.TB) []flow.Op {
	tb.Helper()
	var edits []string
	for i := range 10 {
		edits = append(edits,
			fmt.Sprintf(`{"op_type":"SetParam","node_id":"model_%d","param_name":"temperature","value":0.%d}`, i, i),
			fmt.Sprintf(`{"op_type":"AddNode","node_name":"requestsGet","node_id":"get_%d","params":{"requestsGetUrl":"http://example.com"}}`, i),
			fmt.Sprintf(`{"op_type":"Connect","source_node_id":"get_%d","target_node_id":"agent_%d"}`, i, i),
			fmt.Sprintf(`{"op_type":"Disconnect","source_node_id":"tool_%d","target_node_id":"agent_%d"}`, i, i),
			fmt.Sprintf(`{"op_type":"RemoveNode","node_id":"memory_%d"}`, i))
	}
	return ops(tb, "["+strings.Join(edits, ",")+"]")
}

func BenchmarkCompile(b *testing.B) {
	base, edits, defs := big(b), fifty(b), definitions(b)
	b.SetBytes(int64(len(base.FlowData())))
	for b.Loop() {
		if _, err := flow.Compile(base, edits, defs, flow.Options{Kind: flow.Chatflow}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecompile(b *testing.B) {
	data := big(b).FlowData()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := flow.Decompile(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	data, defs := big(b).FlowData(), definitions(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		flow.Validate(data, defs, flow.Check{})
	}
}

// TestHeap: a flow of 10 MB is read, edited and validated with allocations of at most 12 times its
// size. Garbage collection is off, so all allocations count; therefore it does not run in parallel.
func TestHeap(t *testing.T) {
	base := big(t)
	text := bytes.Repeat([]byte("x"), 100<<10)
	var edits []string
	for i := range 25 {
		for _, node := range []string{"model", "agent", "memory", "tool"} {
			edits = append(edits, fmt.Sprintf(`{"op_type":"RenameNode","node_id":"%s_%d","label":"%s"}`, node, i, text))
		}
	}
	data := compile(t, base, "["+strings.Join(edits, ",")+"]").FlowData
	data = bytes.Clone(data)
	if len(data) < 10_000_000 {
		t.Fatalf("the flow has %d bytes", len(data))
	}
	defs, list := definitions(t), fifty(t)
	edits, base = nil, nil
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	before := held()
	g, err := flow.Decompile(data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := flow.Compile(g, list, defs, flow.Options{})
	if err != nil {
		t.Fatal(err)
	}
	report := flow.Validate(r.FlowData, defs, flow.Check{})
	peak := held() - before
	if limit := 12 * len(data); peak > limit {
		t.Errorf("%d bytes for a flow of %d: %.1f times its size", peak, len(data), float64(peak)/float64(len(data)))
	}
	t.Logf("%.1f times the size", float64(peak)/float64(len(data)))
	runtime.KeepAlive(report)
	runtime.KeepAlive(edits)
	runtime.KeepAlive(base)
}

func held() int {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
