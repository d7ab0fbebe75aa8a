package flow_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// renamed returns a flow in which a node's id is changed everywhere.
func renamed(t *testing.T, name, from, to string) *flow.Graph {
	t.Helper()
	return decompile(t, []byte(strings.ReplaceAll(string(build(t, name).FlowData), from, to)))
}

func inputOf(t *testing.T, g *flow.Graph, id, name string) string {
	t.Helper()
	n, ok := g.Node(id)
	if !ok {
		t.Fatalf("no node %s", id)
	}
	value, _ := n.Input(name)
	return string(value)
}

// TestNodesWithOddIdsAreEditedLikeOthers: Flowise itself splits ids only at dots, so flows that
// were not drawn on its canvas have arbitrary ids.
func TestNodesWithOddIdsAreEditedLikeOthers(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"chat-model", "a-b-c-d", "モデル", "chat model", "input-output-x"} {
		g := renamed(t, "conversation", "chatOpenAI_0", id)
		if got := errorsOf(flow.Validate(g.FlowData(), definitions(t), flow.Check{Kind: flow.Chatflow})); len(got) > 0 {
			t.Errorf("%s: %v", id, got)
		}
		cut := compile(t, g, fmt.Sprintf(`[{"op_type":"Disconnect","source_node_id":%q,"target_node_id":"conversationChain_0","target_anchor":"model"}]`, id))
		if got := inputOf(t, cut.Graph, "conversationChain_0", "model"); got != `""` {
			t.Errorf("%s: after the connection is cut the model is still %s", id, got)
		}
		if got := strings.Join(cut.Diff.EdgesRemoved, ""); got != id+".chatOpenAI -> conversationChain_0.model" {
			t.Errorf("%s: the diff says %q", id, got)
		}
		gone := compile(t, g, fmt.Sprintf(`[{"op_type":"RemoveNode","node_id":%q}]`, id))
		if strings.Contains(string(gone.FlowData), id) {
			t.Errorf("%s: something of it is left", id)
		}
		again := compile(t, cut.Graph, fmt.Sprintf(`[{"op_type":"Connect","source_node_id":%q,"target_node_id":"conversationChain_0","target_anchor":"model"}]`, id))
		if got := inputOf(t, again.Graph, "conversationChain_0", "model"); got != `"{{`+id+`.data.instance}}"` {
			t.Errorf("%s: after it is connected again the model is %s", id, got)
		}
	}
	escaped := renamed(t, "conversation", "{{chatOpenAI_0", `{{\u0063hatOpenAI_0`)
	if got := errorsOf(flow.Validate(escaped.FlowData(), definitions(t), flow.Check{Kind: flow.Chatflow})); len(got) > 0 {
		t.Errorf("with escaped letters: %v", got)
	}
	without := compile(t, escaped, `[{"op_type":"RemoveNode","node_id":"chatOpenAI_0"}]`)
	if got := inputOf(t, without.Graph, "conversationChain_0", "model"); got != `""` {
		t.Errorf("with escaped letters the model is still %s", got)
	}
	target := renamed(t, "conversation", "conversationChain_0", "the-chain")
	cut := compile(t, target, `[{"op_type":"Disconnect","source_node_id":"bufferMemory_0","target_node_id":"the-chain","target_anchor":"memory"}]`)
	if got := inputOf(t, cut.Graph, "the-chain", "memory"); got != `""` {
		t.Errorf("after the connection to it is cut, its memory is still %s", got)
	}
}

// TestWhatIsNoObjectIsReplacedNotBroken: a graph with members of the wrong type stays valid JSON
// after each edit.
func TestWhatIsNoObjectIsReplacedNotBroken(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{`[{"a":1}]`, `"{"`, `"a{b}"`, `7`, `null`, `[]`, `""`} {
		node := `{"id":"n","position":[{}],"data":{"id":"n","name":"customFunction","inputParams":[{"name":"javascriptFunction","type":"code"}],"inputs":` + odd + `,"outputs":` + odd + `,
			"outputAnchors":[{"type":"options","options":[{"name":"output","id":"n-output-output-x"},{"name":"EndingNode","id":"n-output-EndingNode-x"}]}]}}`
		g := decompile(t, []byte(`{"nodes":[`+node+`],"edges":[]}`))
		r := compile(t, g, `[{"op_type":"SetParam","node_id":"n","param_name":"javascriptFunction","value":"return 1"},{"op_type":"SetParam","node_id":"n","param_name":"output","value":"EndingNode"},
			{"op_type":"MoveNode","node_id":"n","position":{"x":1,"y":2}}]`)
		if !json.Valid(r.FlowData) || inputOf(t, r.Graph, "n", "javascriptFunction") != `"return 1"` || !strings.Contains(string(r.FlowData), `"output":"EndingNode"`) {
			t.Errorf("inputs %s: %s", odd, r.FlowData)
		}
	}
	for _, odd := range []string{`[{"a":1}]`, `"{"`, `null`} {
		g := decompile(t, []byte(`{"nodes":[{"id":"n","data":`+odd+`}],"edges":[]}`))
		if r := compile(t, g, `[{"op_type":"RenameNode","node_id":"n","label":"x"}]`); !json.Valid(r.FlowData) {
			t.Errorf("data %s: %s", odd, r.FlowData)
		}
	}
}

// TestOneConnectionIsCutAndNoOther: two outputs of a node may lead to one list, which then contains
// the node twice.
func TestOneConnectionIsCutAndNoOther(t *testing.T) {
	t.Parallel()
	node := func(id, anchors, inputs, outs string) string {
		return fmt.Sprintf(`{"id":%q,"data":{"id":%q,"name":"custom","inputParams":[],"inputAnchors":[%s],"inputs":{%s},"outputs":{},"outputAnchors":[{"type":"options","options":[%s]}]}}`, id, id, anchors, inputs, outs)
	}
	edge := func(out string) string {
		return fmt.Sprintf(`{"source":"s","sourceHandle":"s-output-%s-Tool","target":"t","targetHandle":"t-input-tools-Tool","id":"s-s-output-%s-Tool-t-t-input-tools-Tool"}`, out, out)
	}
	g := decompile(t, []byte(`{"nodes":[`+
		node("s", "", "", `{"name":"yes","id":"s-output-yes-Tool","isAnchor":true},{"name":"no","id":"s-output-no-Tool","isAnchor":true}`)+`,`+
		node("t", `{"name":"tools","type":"Tool","list":true,"id":"t-input-tools-Tool"}`, `"tools":["{{s.data.instance}}","{{x.data.instance}}","{{s.data.instance}}"]`, "")+
		`],"edges":[`+edge("yes")+`,`+edge("no")+`]}`))
	r := compile(t, g, `[{"op_type":"Disconnect","source_node_id":"s","source_anchor":"yes","target_node_id":"t"}]`)
	if got := inputOf(t, r.Graph, "t", "tools"); strings.Count(got, "{{s.data.instance}}") != 1 || !strings.Contains(got, "{{x.data.instance}}") {
		t.Errorf("after one of two is cut: %s", got)
	}
	r = compile(t, r.Graph, `[{"op_type":"Disconnect","source_node_id":"s","target_node_id":"t"}]`)
	if got := inputOf(t, r.Graph, "t", "tools"); got != `["{{x.data.instance}}"]` {
		t.Errorf("after both are cut: %s", got)
	}
}

// TestAReferenceWithoutAnEdgeIsTakenUp: a list that already contains a node contains it once after
// the node is connected.
func TestAReferenceWithoutAnEdgeIsTakenUp(t *testing.T) {
	t.Parallel()
	r := build(t, "tool agent")
	doc := document(t, r.FlowData)
	edges, _ := dig(t, doc, "edges").([]any)
	doc["edges"] = slices.DeleteFunc(edges, func(e any) bool { return text(e.(object), "source") == "requestsGet_0" })
	again := compile(t, decompile(t, encoded(t, doc)), `[{"op_type":"Connect","source_node_id":"requestsGet_0","target_node_id":"toolAgent_0","target_anchor":"tools"}]`)
	if got := inputOf(t, again.Graph, "toolAgent_0", "tools"); strings.Count(got, "requestsGet_0") != 1 {
		t.Errorf("the tools are %s", got)
	}
}

// TestParametersOfOneNameAreSetAfterWhatChoosesThem: another value of the same op decides which of
// the two is set.
func TestParametersOfOneNameAreSetAfterWhatChoosesThem(t *testing.T) {
	t.Parallel()
	rows := `[{"key":"a","value":"b"}]`
	r := compile(t, nil, `[{"op_type":"AddNode","node_name":"httpAgentflow","node_id":"h","params":{"method":"POST","url":"http://x","body":`+rows+`,"bodyType":"formData"}}]`)
	if got := inputOf(t, r.Graph, "h", "body"); got != rows {
		t.Errorf("the rows of a form are %s", got)
	}
	r = compile(t, nil, `[{"op_type":"AddNode","node_name":"httpAgentflow","node_id":"h","params":{"method":"POST","url":"http://x","body":"{}","bodyType":"json"}}]`)
	if got := inputOf(t, r.Graph, "h", "body"); got != `"{}"` {
		t.Errorf("the text of a body is %s", got)
	}
}

// TestADiffTellsEveryChange: people approve the diff, so it must be complete.
func TestADiffTellsEveryChange(t *testing.T) {
	t.Parallel()
	base := string(build(t, "conversation").FlowData)
	twice := func(second string) string {
		return `{"nodes":[{"id":"a","data":{"id":"a","inputs":{"x":"1"}}},{"id":"a","data":{"id":"a","inputs":{"x":"` + second + `"}}}],"edges":[]}`
	}
	for name, pair := range map[string][2]string{
		"the second node of an id": {twice("2"), twice("3")},
		"a second node of an id":   {twice("2"), `{"nodes":[{"id":"a","data":{"id":"a","inputs":{"x":"1"}}}],"edges":[]}`},
		"the data of an edge":      {base, strings.Replace(base, `"type":"buttonedge"`, `"type":"buttonedge","data":{"label":"x"}`, 1)},
		"the order of nodes":       {twice("2"), `{"nodes":[{"id":"a","data":{"id":"a","inputs":{"x":"2"}}},{"id":"a","data":{"id":"a","inputs":{"x":"1"}}}],"edges":[]}`},
		"what is beside the lists": {base, strings.Replace(base, `"viewport"`, `"description":"x","viewport"`, 1)},
	} {
		if pair[0] == pair[1] {
			t.Fatalf("%s: nothing changed", name)
		}
		if d := flow.Compare(decompile(t, []byte(pair[0])), decompile(t, []byte(pair[1])), definitions(t)); d.Empty() {
			t.Errorf("%s: the diff is empty", name)
		}
	}
}

func TestNumbersThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"NaN", "Infinity", "-inf", "0x10", "1_000", "1e999"} {
		_, err := flow.Compile(build(t, "conversation").Graph, ops(t, fmt.Sprintf(`[{"op_type":"SetParam","node_id":"chatOpenAI_0","param_name":"maxTokens","value":%q}]`, number)), definitions(t), flow.Options{})
		if err == nil {
			t.Errorf("%s is taken for a number", number)
		}
	}
	compile(t, build(t, "conversation").Graph, `[{"op_type":"SetParam","node_id":"chatOpenAI_0","param_name":"maxTokens","value":"100"},{"op_type":"SetParam","node_id":"chatOpenAI_0","param_name":"temperature","value":" 0.5 "}]`)
}

// TestTheLastOfTwoMembersCounts, as in JavaScript.
func TestTheLastOfTwoMembersCounts(t *testing.T) {
	t.Parallel()
	g := decompile(t, []byte(`{"nodes":[{"id":"a","data":{"id":"a","name":"calculator","category":"Tools"},"data":{"id":"a"}}],"edges":[]}`))
	if n, _ := g.Node("a"); n.Name() != "" || n.Category() != "" {
		t.Errorf("the node is a %s of %s, by what JavaScript does not see", n.Name(), n.Category())
	}
}
