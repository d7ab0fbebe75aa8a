package flow_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// model answers like an OpenAI-compatible server.
func model(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/embeddings") {
			var in struct{ Input []any }
			_ = json.NewDecoder(r.Body).Decode(&in) // a single text is one input
			var data []string
			for i := range max(1, len(in.Input)) {
				data = append(data, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[0.1,0.2,0.3]}`, i))
			}
			_, _ = fmt.Fprintf(w, `{"object":"list","data":[%s],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}`, strings.Join(data, ","))
			return
		}
		_, _ = fmt.Fprint(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",`+
			`"message":{"role":"assistant","content":"from the model"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

// build makes a flow whose models are the one above, with a real credential.
func (s server) build(t *testing.T, name string) flow.Result {
	t.Helper()
	r := build(t, name)
	if !strings.Contains(string(r.FlowData), "CREDENTIAL") {
		return r
	}
	status, answer := s.call(t, http.MethodPost, "/credentials", map[string]any{
		"name": t.Name(), "credentialName": "openAIApi", "plainDataObj": map[string]string{"openAIApiKey": "k"},
	})
	var row struct{ ID string }
	if status != http.StatusOK || json.Unmarshal(answer, &row) != nil {
		t.Fatalf("create a credential: %d %s", status, answer)
	}
	t.Cleanup(func() { s.remove("/credentials/" + row.ID) })
	url := model(t)
	var edits []string
	for _, n := range r.Graph.Nodes() {
		if n.Credential() != "" {
			edits = append(edits,
				fmt.Sprintf(`{"op_type":"SetParam","node_id":%q,"param_name":"basepath","value":%q}`, n.ID(), url),
				fmt.Sprintf(`{"op_type":"BindCredential","node_id":%q,"credential_id":%q}`, n.ID(), row.ID))
		}
	}
	return compile(t, r.Graph, "["+strings.Join(edits, ",")+"]")
}
