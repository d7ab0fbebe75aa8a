package sandbox

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

func (s *Server) catalogRoutes(on func(string, handler)) {
	on("GET /nodes", func(*request) (reply, error) { return s.definitions(s.known.Nodes()), nil })
	on("GET /nodes/category/{name}", func(r *request) (reply, error) {
		return s.definitions(s.known.Category(r.PathValue("name"))), nil
	})
	on("GET /nodes/{name}", s.getNode)
	on("GET /components-credentials", s.listKinds)
	on("GET /components-credentials/{name}", s.getKind)
	on("GET /marketplaces/templates", s.listTemplates)
	on("POST /node-load-method/{name}", s.loadChoices)
}

func (*Server) definitions(nodes []*knowledge.Definition) reply {
	out := make([]json.RawMessage, len(nodes))
	for i, d := range nodes {
		out[i] = d.Raw
	}
	return reply{http.StatusOK, out}
}

func (s *Server) getNode(r *request) (reply, error) {
	d, known := s.known.Node(r.PathValue("name"))
	if !known {
		return reply{}, internal("Error: nodesService.getAllNodes - Node %s not found", r.PathValue("name"))
	}
	return reply{http.StatusOK, d.Raw}, nil
}

// kinds makes the definitions of the credentials that nodes name; which secrets
// each holds is not known here.
func (s *Server) kinds() map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, d := range s.known.Nodes() {
		if d.Credential == nil {
			continue
		}
		for _, name := range d.Credential.CredentialNames {
			out[name] = map[string]any{"label": name, "name": name, "version": 1, "inputs": []any{}}
		}
	}
	return out
}

func (s *Server) listKinds(*request) (reply, error) {
	kinds := s.kinds()
	out := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		out = append(out, kinds[name])
	}
	return reply{http.StatusOK, out}, nil
}

func (s *Server) getKind(r *request) (reply, error) {
	kind, known := s.kinds()[r.PathValue("name")]
	if !known {
		return reply{}, internal("Error: componentsCredentialsService.getSingleComponentsCredential - Credential %s not found", r.PathValue("name"))
	}
	return reply{http.StatusOK, kind}, nil
}

// listTemplates offers two templates, with ids that are new at each call.
func (s *Server) listTemplates(*request) (reply, error) {
	out := []map[string]any{}
	for _, t := range templates() {
		out = append(out, map[string]any{
			"id": s.ids.uuid(), "templateName": t.name, "flowData": t.data, "type": t.kind, "badge": "",
			"framework": []string{"Langchain"}, "usecases": []string{"Basic"}, "categories": []string{}, "description": t.text,
		})
	}
	return reply{http.StatusOK, out}, nil
}

type template struct{ name, kind, text, data string }

func templates() []template {
	return []template{
		{
			"Simple Echo", "Chatflow", "Answers with what was said",
			`{"description":"Answers with what was said","nodes":[{"id":"customFunction_0","position":{"x":100,"y":100},"type":"customNode","data":` +
				`{"id":"customFunction_0","label":"Custom JS Function","version":3,"name":"customFunction","type":"CustomFunction","baseClasses":["CustomFunction","Utilities"],"category":"Utilities",` +
				`"inputParams":[],"inputAnchors":[],"inputs":{"functionInputVariables":"","functionName":"","javascriptFunction":"return \"echo:\" + $flow.input"},` +
				`"outputAnchors":[],"outputs":{"output":"EndingNode"}}}],"edges":[]}`,
		},
		{
			"Simple Reply", "AgentflowV2", "Replies with a text",
			`{"description":"Replies with a text","nodes":[{"id":"startAgentflow_0","type":"agentFlow","position":{"x":0,"y":0},"data":` +
				`{"id":"startAgentflow_0","label":"Start","version":1.1,"name":"startAgentflow","type":"Start","category":"Agent Flows","baseClasses":["Start"],` +
				`"inputParams":[],"inputAnchors":[],"inputs":{"startInputType":"chatInput"},"outputAnchors":[],"outputs":{}}},` +
				`{"id":"directReplyAgentflow_0","type":"agentFlow","position":{"x":300,"y":0},"data":` +
				`{"id":"directReplyAgentflow_0","label":"Direct Reply","version":1,"name":"directReplyAgentflow","type":"DirectReply","category":"Agent Flows","baseClasses":["DirectReply"],` +
				`"inputParams":[{"label":"Message","name":"directReplyMessage","type":"string","acceptVariable":true,"id":"directReplyAgentflow_0-input-directReplyMessage-string","display":true}],"inputAnchors":[],"inputs":{"directReplyMessage":"Pong: {{ question }}"},"outputAnchors":[],"outputs":{}}}],` +
				`"edges":[{"source":"startAgentflow_0","sourceHandle":"startAgentflow_0-output-startAgentflow","target":"directReplyAgentflow_0","targetHandle":"directReplyAgentflow_0",` +
				`"type":"agentFlow","id":"startAgentflow_0-startAgentflow_0-output-startAgentflow-directReplyAgentflow_0-directReplyAgentflow_0"}]}`,
		},
	}
}

// loadChoices lists the tools of an MCP server for a customMCP node; for all
// else there is nothing to choose from.
func (s *Server) loadChoices(r *request) (reply, error) {
	name := r.PathValue("name")
	if _, known := s.known.Node(name); !known {
		return reply{}, internal("Error: nodesService.getSingleNodeAsyncOptions - Node %s not found", name)
	}
	in := object(r.body)
	if name != "customMCP" || in["loadMethod"] != "listActions" {
		return reply{http.StatusOK, []any{}}, nil
	}
	inputs, _ := in["inputs"].(map[string]any)
	return reply{http.StatusOK, actions(inputs["mcpServerConfig"])}, nil
}

// actions are the tools of an MCP server; a server that cannot be reached has
// one choice that says so.
func actions(config any) []map[string]any {
	if err := mcpServer(config); err != nil {
		return []map[string]any{{
			"label": "No Available Actions", "name": "error",
			"description": "No available actions, please check your API key and refresh",
		}}
	}
	return []map[string]any{
		{"label": "ADD", "name": "add", "description": "Add two numbers"},
		{"label": "ECHO", "name": "echo", "description": "Echo text"},
	}
}
