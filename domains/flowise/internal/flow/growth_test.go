package flow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// chainOf returns a flow of n nodes in a chain.
func chainOf(n int, category, kind, rest string) []byte {
	var b strings.Builder
	b.WriteString(`{"nodes":[`)
	for i := range n {
		fmt.Fprintf(&b, `%s{"id":"n%d","data":{"id":"n%d","name":%q,"category":%q,"inputParams":[],%s}}`, strings.Repeat(",", min(i, 1)), i, i, kind, category, strings.ReplaceAll(rest, "#", fmt.Sprint(i)))
	}
	b.WriteString(`],"edges":[`)
	for i := range n - 1 {
		fmt.Fprintf(&b, `%s{"source":"n%d","sourceHandle":"n%d-output-x-A","target":"n%d","targetHandle":"n%d-input-model-A"}`, strings.Repeat(",", min(i, 1)), i, i, i+1, i+1)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

// TestWorkGrowsWithTheFlowNotFaster: a flow twice as large needs about twice the work, even if it
// is invalid. Work is measured in allocations, because times vary on a busy machine.
func TestWorkGrowsWithTheFlowNotFaster(t *testing.T) { //nolint:paralleltest // counts allocations
	defs := definitions(t)
	const small = 300
	validate := func(category, kind, rest string) func(int) func() {
		return func(n int) func() {
			data := chainOf(n, category, kind, rest)
			return func() { flow.Validate(data, defs, flow.Check{}) }
		}
	}
	edit := func(op string) func(int) func() {
		return func(n int) func() {
			g, err := flow.Decompile(chainOf(n, "Chains", "conversationChain", `"inputs":{"model":"{{n#.data.instance}}"}`))
			list := make([]string, 20)
			for i := range list {
				list[i] = strings.ReplaceAll(op, "#", fmt.Sprint(i))
			}
			edits, bad := flow.DecodeOps([]byte("[" + strings.Join(list, ",") + "]"))
			if err != nil || bad != nil {
				t.Fatal(err, bad)
			}
			return func() { _, _ = flow.Compile(g, edits, defs, flow.Options{Kind: flow.Chatflow}) }
		}
	}
	for name, work := range map[string]func(int) func(){
		"models without messages":  validate("Agent Flows", "llmAgentflow", `"inputs":{"llmMessages":""}`),
		"unknown kinds":            validate("Chains", "unheardOf", `"inputs":{}`),
		"loops to nowhere":         validate("Sequential Agents", "seqLoop", `"inputs":{"loopToName":"a#"}`),
		"empty iterations":         validate("Agent Flows", "iterationAgentflow", `"inputs":{}`),
		"nodes that are added":     edit(`{"op_type":"AddNode","node_name":"calculator"}`),
		"nodes that are removed":   edit(`{"op_type":"RemoveNode","node_id":"n#"}`),
		"nodes that are not there": edit(`{"op_type":"RemoveNode","node_id":"m#"}`),
	} {
		one, two := testing.AllocsPerRun(1, work(small)), testing.AllocsPerRun(1, work(2*small))
		if two > 2.6*one {
			t.Errorf("%s: %.0f allocations for %d nodes, %.0f for twice as many", name, one, small, two)
		}
	}
}

// TestReportsAndRefusalsAreBounded: a fault that occurs thousands of times is reported only some
// times, and still prevents the write.
func TestReportsAndRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	defs := definitions(t)
	report := flow.Validate(chainOf(3000, "Chains", "unheardOf", `"inputs":{}`), defs, flow.Check{})
	if report.OK() || len(report.Errors()) > 1000 || len(report.Warnings()) > 1000 {
		t.Errorf("%d errors, %d warnings", len(report.Errors()), len(report.Warnings()))
	}
	late := strings.Replace(string(chainOf(3000, "Utilities", "customFunction", `"inputs":{}`)), `"edges":[`, `"edges":[{"source":"ghost","target":"n0"},`, 1)
	if report := flow.Validate([]byte(late), defs, flow.Check{}); report.OK() {
		t.Error("an error among thousands of warnings is lost")
	}
	_, err := flow.Compile(flow.Empty(), ops(t, "["+strings.Repeat(`{"op_type":"RemoveNode","node_id":"x"},`, 999)+`{"op_type":"RemoveNode","node_id":"x"}]`), defs, flow.Options{})
	if n := strings.Count(err.Error(), "there is no node"); n > 60 {
		t.Errorf("%d faults are told", n)
	}
}
