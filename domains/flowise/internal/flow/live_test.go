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

// server is a real Flowise, as FLOWISE_URL and FLOWISE_KEY name it. Without
// one the tests that need it are skipped.
type server struct{ url, key string }

func live(t *testing.T) server {
	t.Helper()
	s := server{url: os.Getenv("FLOWISE_URL"), key: os.Getenv("FLOWISE_KEY")}
	if s.url == "" || s.key == "" {
		t.Skip("set FLOWISE_URL and FLOWISE_KEY to a Flowise for tests")
	}
	return s
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
	req.Header.Set("Authorization", "Bearer "+s.key)
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

// create stores a flow until the test ends; "" means that it was refused.
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

// remove cleans up, when the context of the test is over.
func (s server) remove(path string) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodDelete, s.url+"/api/v1"+path, http.NoBody)
	if err != nil {
		return
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
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

func TestLiveBuilt(t *testing.T) {
	s := live(t)
	tests := map[string]struct{ flow, question, want string }{
		"a custom function answers":              {"custom function", "hi", "echo:hi"},
		"the first case of a condition is taken": {"condition", "yes", "YES yes"},
		"the second case of a condition too":     {"condition", "no", "NO"},
		"what no case fits goes to else":         {"condition", "maybe", "ELSE"},
		"a conversation asks the model":          {"conversation", "hi", "from the model"},
		"a retrieval chain reads its document":   {"retrieval", "hi", "from the model"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := s.build(t, tt.flow)
			id, refusal := s.create(t, r.Kind, r.FlowData)
			if refusal != "" {
				t.Fatal(refusal)
			}
			if status, text := s.predict(t, id, tt.question); status != http.StatusOK || !strings.Contains(text, tt.want) {
				t.Errorf("prediction: %d %q, want %q", status, text, tt.want)
			}
		})
	}
}
