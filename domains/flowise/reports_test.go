package flowise_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// graphOf returns the graph of a stored export.
func graphOf(t *testing.T, name string) object {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "exports", name))
	if err != nil {
		t.Fatal(err)
	}
	var file object
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if data, is := file["flowData"].(string); is {
		file = nil
		if err := json.Unmarshal([]byte(data), &file); err != nil {
			t.Fatal(err)
		}
	}
	return object{"nodes": file["nodes"], "edges": file["edges"]}
}

// byHand returns a graph of nodes in a chain, with only what a person would write.
func byHand(names ...string) object {
	nodes, edges := []object{}, []object{}
	for i, name := range names {
		id := name + "_" + string(rune('0'+i))
		nodes = append(nodes, object{"id": id, "type": "customNode", "data": object{"id": id, "name": name, "version": 1, "inputs": object{}}})
		if i > 0 {
			edges = append(edges, object{"source": nodes[i-1]["id"], "target": id})
		}
	}
	return object{"nodes": nodes, "edges": edges}
}

// TestFilesOfPublicReports: files from public bug reports that Flowise does not accept, reduced in
// size. Each is imported, or refused with its fault.
func TestFilesOfPublicReports(t *testing.T) {
	t.Parallel()
	echo, agent := graphOf(t, "api-row.json"), graphOf(t, "Welcome Agents.json")
	older := graphOf(t, "api-row.json")
	for _, n := range older["nodes"].([]any) { //nolint:forcetypeassert // it is our own file
		data := n.(object)["data"].(object) //nolint:forcetypeassert // as above
		data["version"] = 0.1
		delete(data, "inputAnchors")
		delete(data, "outputAnchors")
	}
	text := func(graph object) string {
		raw, err := json.Marshal(graph)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	commented := byHand("chatInput", "customFunction", "httpRequest", "chatOutput")
	commented["_comment"] = "for 2.x and 3.x"
	made := byHand("startAgentflow", "customFunctionAgentflow", "directReplyAgentflow")
	for i, inputs := range []object{{"startInputType": "chatInput"}, {"customFunctionJavascriptFunction": "return 'ok'"}, {"directReplyMessage": "{{ customFunctionAgentflow_1 }}"}} {
		made["nodes"].([]object)[i]["data"].(object)["inputs"] = inputs //nolint:forcetypeassert // it is our own
	}
	tests := map[string]struct {
		file string
		body object
		name string   // of the imported flow
		says []string // if it is refused
	}{
		"FlowiseAI/Flowise#3274: the canvas's file of a chatflow, for the dashboard": {file: "testchat Chatflow.json", body: echo, name: "testchat"},
		"FlowiseAI/Flowise#4932: the same of an agentflow":                           {file: "Greeter Agents.json", body: agent, name: "Greeter"},
		"FlowiseAI/Flowise#4139: exported by another version": {
			file: "BBN Chatflow.json", body: older, name: "BBN",
		},
		"FlowiseAI/Flowise#3063: all data of a workspace": {
			file: "AllData.json", name: "Team bot", body: object{
				"Chatflows": []object{{"id": "1", "name": "Team bot", "type": "CHATFLOW", "flowData": text(echo)}}, "Agentflows": []object{},
				"Tools": []object{{"id": "2", "name": "add", "func": "return 1"}},
			},
		},
		"microsoft/agent-governance-toolkit#3725: rebuilt by hand of kinds that there are": {file: "governance.json", body: made, name: "governance"},
		"microsoft/agent-governance-toolkit#3194: by hand, with kinds that there are not": {
			file: "flowise-flow.json", body: commented,
			says: []string{`there is no kind of node "chatInput"`, `there is no kind of node "httpRequest"`, `there is no kind of node "chatOutput"`},
		},
		"FlowiseAI/Flowise#3919: written by an assistant": {
			file: "llama.json", says: []string{"1: the node does not say which kind it is"}, body: object{
				"nodes": []object{{"id": "1", "type": "ollama", "position": object{"x": 100, "y": 200}, "data": object{"api_endpoint": "http://localhost:11434"}}}, "edges": []object{},
			},
		},
		"FlowiseAI/Flowise#5064: a chat input and a model": {file: "sample.json", body: byHand("chatInput", "chatOpenAI"), says: []string{`there is no kind of node "chatInput"`}},
		"FlowiseAI/Flowise#4984: an agent of the old kind, as a new one": {
			file: "team.json", says: []string{"a node of the old Agentflow"},
			body: object{"AgentFlowV2": []object{{"name": "Team", "type": "AGENTFLOW", "flowData": text(byHand("startAgentflow", "supervisor", "worker"))}}},
		},
		"FlowiseAI/Flowise#4722: a flow of Langflow": {
			file: "first agent.json", says: []string{"flow of Langflow"},
			body: object{"data": object{"nodes": []object{{"id": "ChatInput-1", "data": object{"type": "ChatInput", "node": object{"template": object{}}}}}, "edges": []object{}}},
		},
		"FlowiseAI/Flowise#4830: a document store": {
			file: "stores.json", says: []string{"there is no flow in the file", "1 of DocumentStore"},
			body: object{"DocumentStore": []object{{"id": "1", "name": "Docs"}}, "DocumentStoreFileChunk": []object{{"id": "2", "pageContent": "text"}}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.config.Folder = t.TempDir()
			b.restart()
			if err := os.WriteFile(filepath.Join(b.config.Folder, tt.file), []byte(text(tt.body)), 0o600); err != nil {
				t.Fatal(err)
			}
			if tt.name == "" {
				out := b.execute("propose", object{"write": "import_chatflow", "parameters": object{"file": tt.file}}, in{})
				if out.OK {
					t.Fatalf("it was proposed: %s", out.Summary)
				}
				for _, want := range tt.says {
					if !strings.Contains(out.Error.Message, want) {
						t.Errorf("%q does not say %q", out.Error.Message, want)
					}
				}
				return
			}
			first := b.imported(object{"file": tt.file})
			if now := b.facts("get_chatflow", object{"chatflow_id": first["chatflow_id"]}, in{}); now["name"] != tt.name {
				t.Errorf("it is called %v", now["name"])
			}
			b.execute("propose", object{"write": "import_chatflow", "parameters": object{"file": tt.file}}, in{}) // once more
			if all := b.facts("list_chatflows", object{"query": tt.name}, in{})["total"]; all != 1.0 {
				t.Errorf("there are %v of it", all)
			}
		})
	}
}
