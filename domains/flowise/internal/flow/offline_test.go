package flow_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// offline redirects a sample to local services by ops: its models become the local one, and nodes
// that need a credential get one.
func (l local) offline(t *testing.T, one sample) sample {
	t.Helper()
	base, err := flow.Decompile(one.data)
	if err != nil {
		t.Fatal(err)
	}
	list := []object{}
	g := newGenerator(t, one)
	for _, n := range g.nodes {
		list = append(list, l.redirect(t, g, n)...)
	}
	r, err := flow.Compile(base, ops(t, string(encoded(t, list))), definitions(t), flow.Options{Kind: one.kind})
	if err != nil {
		t.Fatalf("%s: %v", one.name, err)
	}
	return sample{name: one.name, kind: one.kind, data: r.FlowData}
}

// redirect returns the ops for one node.
func (l local) redirect(t *testing.T, g *generator, n object) []object {
	t.Helper()
	id, data := text(n, "id"), dataOf(n)
	inputs, _ := data["inputs"].(object)
	var out []object
	for _, p := range list(data["inputParams"]) {
		name := text(p, "name")
		switch {
		case strings.HasSuffix(name, "Model") && p["loadConfig"] == true && text(inputs, name) != "":
			out = append(
				out, set(id, name, "chatOpenAI"),
				set(id, name+"Config", object{"modelName": "gpt-4o-mini", "basepath": l.url}),
				object{"op_type": "BindCredential", "node_id": id, "param_name": name, "credential_id": l.credentialFor(t, "openAIApi")})
		case name == "basepath":
			out = append(out, set(id, name, l.url))
		case text(p, "type") == "credential" && p["credentialNames"] != nil:
			kinds, _ := p["credentialNames"].([]any)
			kind, _ := kinds[0].(string)
			out = append(out, object{"op_type": "BindCredential", "node_id": id, "credential_id": l.credentialFor(t, kind)})
		}
	}
	for i, tool := range list(inputs["agentTools"]) {
		def, known := g.defs.Node(text(tool, "agentSelectedTool"))
		if known && def.Credential != nil {
			out = append(out, object{
				"op_type": "BindCredential", "node_id": id, "param_name": fmt.Sprintf("agentTools[%d].agentSelectedTool", i),
				"credential_id": l.credentialFor(t, def.Credential.CredentialNames[0]),
			})
		}
	}
	if text(data, "name") == "chatAnthropic" || text(data, "name") == "azureChatOpenAI" {
		return l.exchange(t, g, id)
	}
	return out
}

func set(id, name string, value any) object {
	return object{"op_type": "SetParam", "node_id": id, "param_name": name, "value": value}
}

// exchange replaces a model that has no base URL by the local model.
func (l local) exchange(t *testing.T, g *generator, id string) []object {
	t.Helper()
	out := []object{
		{"op_type": "RemoveNode", "node_id": id},
		{"op_type": "AddNode", "node_name": "chatOpenAI", "node_id": "local_" + id, "params": object{"modelName": "gpt-4o-mini", "basepath": l.url}},
		{"op_type": "BindCredential", "node_id": "local_" + id, "credential_id": l.credentialFor(t, "openAIApi")},
	}
	for _, e := range g.edges {
		if text(e, "source") == id {
			out = append(out, object{
				"op_type": "Connect", "source_node_id": "local_" + id, "target_node_id": text(e, "target"),
				"target_anchor": strings.Split(text(e, "targetHandle"), "-")[2],
			})
		}
	}
	return out
}

// credentialFor stores one credential per type.
func (l local) credentialFor(t *testing.T, kind string) string {
	t.Helper()
	for id, known := range l.credentials {
		if known == kind {
			return id
		}
	}
	id := l.server.credential(l.t, kind)
	l.credentials[id] = kind
	return id
}

// runsOffline are the samples that answer with only a local model. The others use the internet
// while they are built, need data that an export omits, or need a real model.
func runsOffline() []string {
	return []string{
		"chatflows/Conversation Chain", "chatflows/Input Moderation", "chatflows/LLM Chain", "chatflows/List Output Parser",
		"chatflows/Multiple Documents QnA", "chatflows/Prompt Chaining", "chatflows/SQL DB Chain", "chatflows/Tool Agent",
		"agentflowsv2/Deep Research With Multi-turn Conversations", "agentflowsv2/Human In The Loop", "agentflowsv2/Iterations",
		"agentflowsv2/Simple RAG", "agentflowsv2/Structured Output", "agentflowsv2/Supervisor Worker", "agentflowsv2/Translator",
		"agentflows/Agentic RAG", "agentflows/Branch Out Merge In", "agentflows/Customer Support Team Agents",
		"agentflows/Essay Writing & Grading", "agentflows/Human In Loop RAG", "agentflows/Lead Outreach", "agentflows/Multi Agents",
		"agentflows/Plan and Execute", "agentflows/Portfolio Management Team", "agentflows/Prompt Engineering Team", "agentflows/Software Team",
	}
}

// TestLiveEditsStillPredict: a flow that ran before a valid edit runs after it.
func TestLiveEditsStillPredict(t *testing.T) {
	s := live(t)
	local := s.local(t)
	ran := 0
	for _, one := range marketplace(t) {
		if !slices.Contains(runsOffline(), one.name) {
			continue
		}
		ran++
		t.Run(one.name, func(t *testing.T) {
			here := local.offline(t, one)
			if status, text := s.run(t, here.kind, string(here.data), "hi"); status != http.StatusOK {
				t.Fatalf("it does not run before any edit: %s", text)
			}
			valid := s.keptEdits(t, here, func(id string, e edit) {
				if status, text := s.predict(t, id, "hi"); status != http.StatusOK {
					t.Errorf("after %s it fails: %s", e.ops, text)
				}
			})
			if valid < 4 {
				t.Errorf("only %d edits were valid", valid)
			}
		})
	}
	if ran != len(runsOffline()) {
		t.Errorf("%d of %d samples were found", ran, len(runsOffline()))
	}
}
