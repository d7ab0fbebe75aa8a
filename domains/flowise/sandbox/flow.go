package sandbox

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// flow is a row of the database.
type flow struct {
	id, name, kind, data string
	columns              map[string]any // the other columns that were set
	created, updated     time.Time
	order                int
	history              []message // oldest first; deleted with the flow
	// forms holds the form values of conversations by session.
	forms map[string]map[string]any
}

// columns returns the other columns of a row; unknown members are dropped.
func columns() []string {
	return []string{
		"deployed", "isPublic", "apikeyid", "chatbotConfig", "apiConfig", "analytic",
		"speechToText", "textToSpeech", "followUpPrompts", "category",
	}
}

const workspace = "b028b128-7ea0-4e97-9b70-22c12c911273"

func (f *flow) row() map[string]any {
	row := map[string]any{
		"id": f.id, "name": f.name, "type": f.kind, "flowData": f.data, "workspaceId": workspace,
		"createdDate": stamp(f.created), "updatedDate": stamp(f.updated),
	}
	for _, c := range columns() {
		row[c] = f.columns[c]
	}
	return row
}

func (s *Server) flowRoutes(on func(string, handler)) {
	on("GET /chatflows", s.listFlows)
	on("POST /chatflows", s.createFlow)
	on("GET /chatflows/{id}", s.getFlow)
	on("PUT /chatflows/{id}", s.updateFlow)
	on("DELETE /chatflows/{id}", s.deleteFlow)
	on("GET /chatmessage/{id}", s.listHistory)
	on("DELETE /chatmessage/{id}", func(r *request) (reply, error) { return deleteHistory(s, r) })
}

func (s *Server) listFlows(r *request) (reply, error) {
	kind := r.URL.Query().Get("type")
	rows := []map[string]any{}
	for _, f := range sorted(s.flows) {
		if kind == "" || f.kind == kind {
			rows = append(rows, f.row())
		}
	}
	number, _ := strconv.Atoi(r.URL.Query().Get("page"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	if number < 1 || limit < 1 {
		return reply{http.StatusOK, rows}, nil
	}
	from := min((number-1)*limit, len(rows))
	part := rows[from:min(from+limit, len(rows))]
	return reply{http.StatusOK, map[string]any{"data": part, "total": len(rows)}}, nil
}

// find returns the flow of the path, like the server's GET and PUT.
func (s *Server) find(r *request) (*flow, error) {
	id := r.PathValue("id")
	if !isUUID(id) {
		return nil, refuse(http.StatusBadRequest, "Invalid Chatflow ID")
	}
	f, known := s.flows[id]
	if !known {
		return nil, refuse(http.StatusNotFound, "Chatflow %s not found in the database!", id)
	}
	return f, nil
}

func (s *Server) getFlow(r *request) (reply, error) {
	f, err := s.find(r)
	if err != nil {
		return reply{}, err
	}
	return reply{http.StatusOK, f.row()}, nil
}

func isFlowType(kind any) bool {
	text, is := kind.(string)
	return is && slices.Contains([]string{"CHATFLOW", "AGENTFLOW", "MULTIAGENT", "ASSISTANT"}, text)
}

// createFlow saves a row under the given id, if any, and overwrites an existing row.
func (s *Server) createFlow(r *request) (reply, error) {
	if err := r.change(); err != nil {
		return reply{}, err
	}
	in := object(r.body)
	if !isFlowType(in["type"]) {
		return reply{}, refuse(http.StatusBadRequest, "Invalid Chatflow Type")
	}
	graph, sent := in["flowData"]
	if !sent {
		return reply{}, internal("%s", `"undefined" is not valid JSON`)
	}
	data, err := savable(graph)
	if err != nil {
		return reply{}, err
	}
	id, named := in["id"].(string)
	if !named || id == "" {
		id = s.ids.uuid()
	}
	f, effect := s.flows[id], "flow.overwrite"
	if f == nil {
		f, effect = &flow{id: id, created: s.second(), columns: map[string]any{}}, "flow.create"
		s.flows[id] = f
	}
	s.merge(f, in, data)
	s.record(effect, id, f.name)
	return saved(f)
}

// saved answers a save: the row is written before the edges are counted.
func saved(f *flow) (reply, error) {
	if _, has := edgesOf(f.data); !has {
		return reply{}, internal("Cannot read properties of undefined (reading 'map')")
	}
	return reply{http.StatusOK, f.row()}, nil
}

func (s *Server) merge(f *flow, in map[string]any, data string) {
	if name, is := in["name"].(string); is {
		f.name = name
	}
	if kind, is := in["type"].(string); is {
		f.kind = kind
	}
	for _, c := range columns() {
		if v, sent := in[c]; sent {
			f.columns[c] = v
		}
	}
	s.clock++
	f.data, f.updated, f.order = data, s.second(), s.clock
}

func (s *Server) updateFlow(r *request) (reply, error) {
	if err := r.change(); err != nil {
		return reply{}, err
	}
	f, err := s.find(r)
	if err != nil {
		return reply{}, err
	}
	in := object(r.body)
	if kind, sent := in["type"]; sent && !isFlowType(kind) {
		return reply{}, refuse(http.StatusBadRequest, "Invalid Chatflow Type")
	}
	if _, sent := in["workspaceId"]; sent {
		return reply{}, internal("SQLITE_CONSTRAINT: FOREIGN KEY constraint failed")
	}
	data := f.data
	if sent, has := in["flowData"]; has {
		if data, err = savable(sent); err != nil {
			return reply{}, err
		}
	}
	s.merge(f, in, data)
	s.record("flow.update", f.id, f.name)
	return reply{http.StatusOK, f.row()}, nil
}

// deleteFlow answers 500 for a missing flow.
func (s *Server) deleteFlow(r *request) (reply, error) {
	if err := r.change(); err != nil {
		return reply{}, err
	}
	f, err := s.find(r)
	if err != nil {
		return reply{}, internal("Error: chatflowsService.deleteChatflow - %s", err)
	}
	delete(s.flows, f.id)
	s.record("flow.delete", f.id, f.name)
	return reply{http.StatusOK, map[string]any{"raw": []any{}, "affected": 1}}, nil
}

// object decodes a body; a value that is not an object counts as an empty one, as on the server.
func object(body []byte) map[string]any {
	in := map[string]any{}
	if len(body) == 0 || json.Unmarshal(body, &in) != nil || in == nil {
		return map[string]any{}
	}
	return in
}

// savable does what the server does before it saves: it looks for files in the inputs of each node,
// and fails on missing members.
func savable(sent any) (string, error) {
	text, is := sent.(string)
	switch {
	case sent == nil:
		return "", internal("Cannot read properties of null (reading 'nodes')")
	case !is:
		return "", internal("%s", `"[object Object]" is not valid JSON`)
	case strings.TrimSpace(text) == "":
		return "", internal("%s", "Unexpected end of JSON input")
	}
	var parsed any
	if err := json.Unmarshal([]byte(text), &parsed); err != nil {
		return "", internal("%s", "Expected property name or '}' in JSON at position 1")
	}
	if parsed == nil {
		return "", internal("%s", "Cannot read properties of null (reading 'nodes')")
	}
	graph, _ := parsed.(map[string]any)
	nodes, is := graph["nodes"].([]any)
	if !is {
		return "", internal("%s", "nodes is not iterable")
	}
	for _, n := range nodes {
		node, _ := n.(map[string]any)
		if _, has := node["data"].(map[string]any); !has {
			return "", internal("%s", "Cannot read properties of undefined (reading 'category')")
		}
	}
	return text, nil
}

func edgesOf(data string) ([]any, bool) {
	var graph map[string]any
	if json.Unmarshal([]byte(data), &graph) != nil {
		return nil, false
	}
	edges, has := graph["edges"].([]any)
	return edges, has
}
