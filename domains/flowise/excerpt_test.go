package flowise_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// agentOps builds a flow of an agent, a model and two tools, one with a secret and one with a long
// text.
func agentOps() []object {
	return []object{
		{"op_type": "AddNode", "node_name": "chatOpenAI", "node_id": "model", "params": object{"temperature": 0.2}},
		{"op_type": "AddNode", "node_name": "customMCP", "node_id": "mcp", "params": object{"mcpServerConfig": `{"url":"http://x.example/mcp","headers":{"Authorization":"Bearer hush-hush"}}`}},
		{"op_type": "AddNode", "node_name": "requestsGet", "node_id": "get", "params": object{"requestsGetUrl": "http://elsewhere.example", "requestsGetDescription": strings.Repeat("lengthy ", 400)}},
		{"op_type": "AddNode", "node_name": "toolAgent", "node_id": "agent", "params": object{"systemMessage": "Be brief."}},
		{"op_type": "Connect", "source_node_id": "model", "target_node_id": "agent"},
		{"op_type": "Connect", "source_node_id": "mcp", "target_node_id": "agent"},
	}
}

func TestExcerptsGiveOnlyWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	graph := b.graph(b.execute("compile_flow", object{"ops": agentOps(), "type": "CHATFLOW"}, in{}))
	got := b.facts("excerpt_flow", object{"flow_data": graph, "nodes": []string{"agent", "mcp"}, "kinds": []string{"calculator"}}, in{})
	text := fmt.Sprint(got)
	for _, want := range []string{"systemMessage=Be brief.", "model.chatOpenAI -> agent.model", "http://x.example/mcp", "[calculator]"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing: %s", want, text)
		}
	}
	for _, never := range []string{"hush-hush", "elsewhere.example", "lengthy", "temperature", "inputParams"} {
		if strings.Contains(text, never) {
			t.Errorf("%q is told: %s", never, text)
		}
	}
	long := b.execute("excerpt_flow", object{"flow_data": graph, "nodes": []string{"get"}}, in{})
	if _, faults := contracts.BoundResult(long, false, nil); len(faults) > 0 || !strings.Contains(fmt.Sprint(long.Facts), "lengthy …") {
		t.Errorf("a long text: %v %v", faults, long.Facts)
	}
}

// TestAnExcerptSaysWhatIsSetAndWhatIsNeeded: empty values are omitted, a bound credential is shown
// without its id, and a star marks required parameters.
func TestAnExcerptSaysWhatIsSetAndWhatIsNeeded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ops := append(agentOps(), object{"op_type": "BindCredential", "node_id": "model", "credential_id": "7d4f0c1e-0000-4c5d-8e6f-0a1b2c3d4e5f"})
	made := b.graph(b.execute("compile_flow", object{"ops": ops, "type": "CHATFLOW"}, in{}))
	got := fmt.Sprint(b.facts("excerpt_flow", object{"flow_data": made, "nodes": []string{"model"}, "kinds": []string{"chatOpenAI", "requestsGet"}}, in{}))
	for _, want := range []string{"temperature=0.2", "credential:true", "[openAIApi]", "modelName:asyncOptions", "cache:BaseCache", "requestsGetUrl:string*"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing: %s", want, got)
		}
	}
	for _, never := range []string{"maxTokens=", "basepath=", "7d4f0c1e"} {
		if strings.Contains(got, never) {
			t.Errorf("%q is told: %s", never, got)
		}
	}
	nested := b.graph(b.execute("compile_flow", object{"type": "AGENTFLOW", "ops": []object{
		{"op_type": "AddNode", "node_name": "llmAgentflow", "node_id": "llm", "params": object{"llmModel": "chatOpenAI"}},
		{"op_type": "BindCredential", "node_id": "llm", "credential_id": "7d4f0c1e-0000-4c5d-8e6f-0a1b2c3d4e5f"},
	}}, in{}))
	nested = strings.Replace(nested, `"inputs":{`, `"inputs":{"FLOWISE_CREDENTIAL_ID":"7d4f0c1e-0000-4c5d-8e6f-0a1b2c3d4e5f",`, 1)
	if got := fmt.Sprint(b.facts("excerpt_flow", object{"flow_data": nested, "nodes": []string{"llm"}}, in{})); strings.Contains(got, "7d4f0c1e") || strings.Contains(got, "[FLOWISE_CREDENTIAL_ID=") {
		t.Errorf("a credential is told: %s", got)
	}
}

// TestAWordOfFewKindsSaysMore: "agent" is in many labels, "dynamodb" in one.
func TestAWordOfFewKindsSaysMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := column(b.facts("excerpt_flow", object{"query": "agent dynamodb", "schemas": 1}, in{})["schemas"], "name")
	if len(got) != 1 || !strings.Contains(strings.ToLower(got[0]), "dynamodb") {
		t.Errorf("found %v", got)
	}
}

func TestExcerptsFindTheDefinitionsThatFitBest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.facts("excerpt_flow", object{"query": "a tool agent that uses Redis as memory"}, in{})
	names := column(got["schemas"], "name")
	if len(names) != 3 || !strings.Contains(fmt.Sprint(names), "toolAgent") || !strings.Contains(strings.ToLower(fmt.Sprint(names)), "redis") {
		t.Errorf("%v", names)
	}
	both := b.facts("excerpt_flow", object{"query": "tool agent", "kinds": []string{"Tool Agent"}}, in{})
	if names := fmt.Sprint(column(both["schemas"], "name")); strings.Count(names, "toolAgent") != 1 {
		t.Errorf("one that is named by its label too is there twice: %s", names)
	}
}

func TestEveryDefinitionFitsAnExcerpt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	known, err := knowledge.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	names := known.Names()
	for from := 0; from < len(names); from += 5 {
		out := b.execute("excerpt_flow", object{"kinds": names[from:min(from+5, len(names))]}, in{})
		if _, faults := contracts.BoundResult(out, false, nil); !out.OK || len(faults) > 0 {
			t.Errorf("%v: %v %v", names[from:from+5], out.Error, faults)
		}
	}
}

func TestFaultyExcerptsAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	graph := b.graph(b.execute("compile_flow", object{"ops": agentOps(), "type": "CHATFLOW"}, in{}))
	for name, tt := range map[string]struct {
		wish    object
		errType string
		says    string
	}{
		"nothing":          {object{}, contracts.ErrInvalidParameters, "which nodes"},
		"nodes of no flow": {object{"nodes": []string{"agent"}}, contracts.ErrPrecondition, "cannot be read"},
		"an unknown node":  {object{"flow_data": graph, "nodes": []string{"agnet"}}, contracts.ErrNotFound, "agent"},
		"an unknown kind":  {object{"kinds": []string{"chatOpenAy"}}, contracts.ErrNotFound, "chatOpenAI"},
		"too many":         {object{"kinds": []string{"a", "b", "c", "d", "e", "f"}}, contracts.ErrInvalidParameters, ""},
	} {
		if got := b.refused("excerpt_flow", tt.wish, in{}); got.Type != tt.errType || !strings.Contains(got.Message, tt.says) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
