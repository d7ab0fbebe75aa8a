package flow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// server is a real Flowise, given by FLOWISE_URL and FLOWISE_KEY. Without one its tests are
// skipped, unless REQUIRE_FLOWISE is 1.
type server struct{ url, key, cookie string }

func live(t *testing.T) server {
	t.Helper()
	s := server{url: os.Getenv("FLOWISE_URL"), key: os.Getenv("FLOWISE_KEY"), cookie: os.Getenv("FLOWISE_COOKIE")}
	if s.url == "" || s.key == "" {
		absent(t, "FLOWISE_URL and FLOWISE_KEY name no Flowise for tests")
	}
	return s
}

func absent(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("REQUIRE_FLOWISE") == "1" {
		t.Fatal("REQUIRE_FLOWISE is set, but " + what)
	}
	t.Skip(what)
}

// authorize prefers a session, which the server checks ten times as fast as a key.
func (s server) authorize(req *http.Request) {
	if s.cookie == "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
		return
	}
	req.Header.Set("Cookie", s.cookie)
	req.Header.Set("X-Request-From", "internal")
}

func (s server) call(t *testing.T, method, path string, body any) (int, []byte) {
	t.Helper()
	var content io.Reader = http.NoBody // express refuses the body "null"
	if body != nil {
		content = bytes.NewReader(encoded(t, body))
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+"/api/v1"+path, content)
	if err != nil {
		t.Fatal(err)
	}
	s.authorize(req)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, answer
}

// create stores a flow until the test ends, or returns the refusal.
func (s server) create(t *testing.T, kind flow.Kind, data []byte) (id, refusal string) {
	t.Helper()
	status, answer := s.call(t, http.MethodPost, "/chatflows", map[string]any{"name": t.Name(), "type": kind, "flowData": string(data)})
	var row struct{ ID string }
	if status != http.StatusOK || json.Unmarshal(answer, &row) != nil {
		return "", string(answer)
	}
	t.Cleanup(func() { s.remove("/chatflows/" + row.ID) })
	return row.ID, ""
}

// remove deletes an object after the test's context has ended.
func (s server) remove(path string) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodDelete, s.url+"/api/v1"+path, http.NoBody)
	if err != nil {
		return
	}
	s.authorize(req)
	if res, err := http.DefaultClient.Do(req); err == nil {
		_ = res.Body.Close()
	}
}

func (s server) predict(t *testing.T, id, question string) (int, string) {
	t.Helper()
	status, answer := s.call(t, http.MethodPost, "/prediction/"+id, map[string]any{"question": question})
	var out struct{ Text, Message string }
	if json.Unmarshal(answer, &out) != nil {
		return status, string(answer)
	}
	return status, out.Text + out.Message
}

// run stores a flow and asks it; a flow that is not stored counts as not run.
func (s server) run(t *testing.T, kind flow.Kind, data, question string) (int, string) {
	t.Helper()
	id, refusal := s.create(t, kind, []byte(data))
	if refusal != "" {
		return http.StatusInternalServerError, refusal
	}
	return s.predict(t, id, question)
}

func TestLiveBuilt(t *testing.T) {
	s := live(t)
	local := s.local(t)
	// heard is the last message that the model received.
	tests := map[string]struct{ flow, question, want, heard string }{
		"a custom function answers":              {"custom function", "hi", "echo:hi", ""},
		"the first case of a condition is taken": {"condition", "yes", "YES yes", ""},
		"the second case of a condition too":     {"condition", "no", "NO", ""},
		"what no case fits goes to else":         {"condition", "maybe", "ELSE", ""},
		"a conversation asks the model":          {"conversation", "hi", "reply to: hi", "hi"},
		"a tool agent uses a tool of MCP":        {"tool agent", "USE_TOOL add", `"text":"5"`, `\"text\":\"5\"`},
		"a retrieval chain reads its document":   {"retrieval", "hi", "reply to: hi", "The sky is green."},
		"a function is repeated":                 {"iteration", "hi", "x", ""},
		"an agent of an AGENTFLOW uses one too":  {"agent with a model and a tool", "USE_TOOL add", `"text":"5"`, `\"text\":\"5\"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := compile(t, nil, local.Replace(built()[tt.flow]))
			if errs := errorsOf(flow.Validate(r.FlowData, definitions(t), flow.Check{Kind: r.Kind, Credentials: local.credentials})); len(errs) > 0 {
				t.Error(errs)
			}
			if status, text := s.run(t, r.Kind, string(r.FlowData), tt.question); status != http.StatusOK || !strings.Contains(text, tt.want) {
				t.Errorf("prediction: %d %q, want %q", status, text, tt.want)
			}
			if calls := local.model.Calls(); tt.heard != "" && !strings.Contains(string(calls[len(calls)-1].Body), tt.heard) {
				t.Errorf("the model was asked %s", calls[len(calls)-1].Body)
			}
		})
	}
}
