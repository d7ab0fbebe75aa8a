package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/manifold-run/manifold/domainkit/sandboxkit"
)

// question is the body of a prediction request.
type question struct {
	Text      string          `json:"question"`
	Form      json.RawMessage `json:"form"`
	Streaming bool            `json:"streaming"`
	ChatID    string          `json:"chatId"`
	Override  struct {
		SessionID string `json:"sessionId"`
	} `json:"overrideConfig"`
	form map[string]any
}

// said returns the text of a question in the history.
func (q question) said() string {
	if len(q.form) == 0 {
		return q.Text
	}
	lines := make([]string, 0, len(q.form))
	for _, name := range sortedKeys(q.form) {
		lines = append(lines, fmt.Sprintf("%s: %v", name, q.form[name]))
	}
	return strings.Join(lines, "\n")
}

// outcome is the result of a question to a flow.
type outcome struct {
	body   map[string]any
	events []event // nil if the flow does not stream
}

type event struct {
	Event string `json:"event"`
	Data  any    `json:"data"`
}

// servePrediction writes its own response, because it may stream.
func (s *Server) servePrediction(w http.ResponseWriter, r *http.Request) {
	fault := s.Arm(r)
	var result *outcome
	out, cut := s.play(w, r, fault, func(r *request) (reply, error) {
		q, got, err := s.predict(r)
		if err != nil && (got == nil || !q.Streaming) {
			return reply{}, err
		}
		if q.Streaming && got.events != nil {
			result = got
		}
		return reply{http.StatusOK, got.body}, nil
	})
	status := 0
	switch {
	case cut:
	case result != nil && out.status == http.StatusOK:
		status = stream(w, result, fault)
	default:
		status = send(w, out, fault)
	}
	s.Log(r, status, fault)
}

// stream writes Flowise's framing; the last frame really lacks a colon.
func stream(w http.ResponseWriter, result *outcome, fault sandboxkit.Fault) int {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	for i, e := range result.events {
		if fault.Kind == sandboxkit.HalfAnswer && i == len(result.events)/2 {
			_ = http.NewResponseController(w).Flush() // to send half of the answer before the cut
			sandboxkit.HangUp(w)
			return 0
		}
		raw, err := json.Marshal(e)
		if err != nil {
			raw = []byte(`{"event":"error","data":""}`)
		}
		_, _ = fmt.Fprintf(w, "message:\ndata:%s\n\n", raw)
	}
	_, _ = io.WriteString(w, "message\ndata:{\"event\":\"end\",\"data\":\"[DONE]\"}\n\n")
	return http.StatusOK
}

const (
	inCheck = "Error: chatflowsService.checkIfChatflowIsValidForStreaming - "
	inBuild = "Error: predictionsServices.buildChatflow - "
)

func (s *Server) predict(r *request) (question, *outcome, error) {
	var q question
	if len(r.body) > 0 {
		_ = json.Unmarshal(r.body, &q) // members of the wrong type are ignored
	}
	f, err := s.find(r)
	if err != nil {
		return q, nil, err
	}
	if len(q.Form) > 0 {
		_ = json.Unmarshal(q.Form, &q.form)
	}
	if q.ChatID == "" {
		q.ChatID = s.ids.uuid()
	}
	if q.Override.SessionID == "" {
		q.Override.SessionID = q.ChatID
	}
	g, err := parse(f.data)
	if err != nil {
		return q, nil, internal(inBuild+"%s", err)
	}
	run := &run{server: s, flow: f, graph: g, q: q}
	if f.kind == "AGENTFLOW" {
		out, err := run.agentflow()
		return q, run.finish(out, err), wrap(inBuild, err)
	}
	ends, err := g.endings()
	if err != nil {
		return q, nil, internal(inCheck+"%s", strings.TrimPrefix(err.Error(), "Error: "))
	}
	out, err := run.chatflow(ends)
	if err != nil {
		return q, nil, internal(inBuild+"%s", err)
	}
	return q, run.finish(out, nil), nil
}

func wrap(where string, err error) error {
	if err == nil {
		return nil
	}
	return internal(where+"%s", err)
}

// run is one prediction.
type run struct {
	server *Server
	flow   *flow
	graph  *graph
	q      question
	// form holds the form values of the conversation.
	form map[string]any
	// events are set by flows that stream.
	events []event
	steps  []map[string]any // of agent flows
}

func (r *run) emit(name string, data any) { r.events = append(r.events, event{name, data}) }

// tokens emits a text in pieces.
func (r *run) tokens(text string) {
	for _, word := range strings.SplitAfter(text, " ") {
		r.emit("token", word)
	}
}

// finish completes the answer and stores it in the history. A failure after the start of a stream
// is an event and is not stored.
func (r *run) finish(out map[string]any, err error) *outcome {
	if out == nil {
		out = map[string]any{}
	}
	message := r.server.ids.uuid()
	out["question"], out["chatId"], out["chatMessageId"] = r.q.Text, r.q.ChatID, message
	out["sessionId"] = r.q.Override.SessionID
	if r.q.form != nil {
		out["form"] = r.q.form
	}
	if err == nil {
		r.server.remember(r.flow, r.q, message, out)
	}
	switch {
	case r.events == nil:
	case err != nil:
		r.emit("error", err.Error())
	default:
		r.emit("metadata", map[string]any{
			"chatId": r.q.ChatID, "chatMessageId": message, "question": r.q.Text, "sessionId": r.q.Override.SessionID,
		})
	}
	return &outcome{body: out, events: r.events}
}

// streams reports whether a chatflow streams: not if a function ends it, and only if every model
// streams.
func (g *graph) streams(ends []*node) bool {
	for _, n := range ends {
		if n.ends() {
			return false
		}
	}
	models := 0
	for _, n := range g.nodes {
		if n.Data.Category != "Chat Models" && n.Data.Category != "LLMs" {
			continue
		}
		models++
		if off, is := n.Data.Inputs["streaming"].(bool); is && !off || n.text("streaming") == "false" {
			return false
		}
	}
	return models > 0
}
