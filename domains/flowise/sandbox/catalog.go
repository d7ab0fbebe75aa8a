package sandbox

import (
	"encoding/json"
	"net/http"

	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

func (s *Server) catalogRoutes(on func(string, handler)) {
	on("GET /nodes", func(*request) (reply, error) { return s.definitions(s.known.Nodes()), nil })
	on("GET /nodes/{name}", s.getNode)
	on("GET /marketplaces/templates", s.listTemplates)
	on("POST /node-load-method/{name}", func(r *request) (reply, error) { return loadOptions(s, r) })
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

// loadOptions returns a few models, and nothing for an unknown method.
func loadOptions(s *Server, r *request) (reply, error) {
	if _, known := s.known.Node(r.PathValue("name")); !known {
		return reply{}, internal("Error: nodesService.getSingleNodeAsyncOptions - Node %s not found", r.PathValue("name"))
	}
	var asked struct {
		LoadMethod string `json:"loadMethod"`
	}
	if err := json.Unmarshal(r.body, &asked); err != nil {
		return reply{}, refuse(http.StatusBadRequest, "%s", err)
	}
	out := []map[string]string{}
	if asked.LoadMethod == "listModels" {
		for _, model := range map[string][]string{
			"chatOpenAI": {"gpt-4o", "gpt-4o-mini", "gpt-4.1"}, "chatAnthropic": {"claude-opus-4-5", "claude-sonnet-4-5"},
		}[r.PathValue("name")] {
			out = append(out, map[string]string{"label": model, "name": model})
		}
	}
	return reply{http.StatusOK, out}, nil
}

// listTemplates returns two templates, with new ids at each call.
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
