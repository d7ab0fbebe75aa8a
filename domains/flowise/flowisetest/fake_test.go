package flowisetest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/flowisetest"
)

func post(t *testing.T, h http.Handler, path, body string) (int, string) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer sk-1")
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	out, err := io.ReadAll(rec.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return rec.Code, string(out)
}

func TestModelAnswersInTheWireFormat(t *testing.T) {
	t.Parallel()
	model := &flowisetest.OpenAI{Choose: func(question string, tools []string) (string, map[string]any) {
		if strings.Contains(question, "Ana") {
			return tools[len(tools)-1], map[string]any{"search": "Ana"}
		}
		return "", nil
	}}
	for name, tc := range map[string]struct {
		path, body string
		status     int
		want       []string
	}{
		"whole":     {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, 200, []string{`"content":"FAKE[m] reply to: hi"`, `"finish_reason":"stop"`}},
		"in pieces": {"/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`, 200, []string{`"content":"FAKE[m] "`, `"usage"`, "data: [DONE]\n\n"}},
		"with a tool": {
			"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"USE_TOOL"}],"tools":[{"function":{"name":"add","parameters":{"properties":{"a":{},"b":{}}}}}]}`, 200,
			[]string{`"name":"add"`, `{\"a\":2,\"b\":3}`, `"finish_reason":"tool_calls"`},
		},
		"with a tool that is named": {
			"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"USE_TOOL add"}],"tools":[{"function":{"name":"echo"}},{"function":{"name":"add"}}]}`, 200,
			[]string{`"name":"add"`},
		},
		"with a tool and what it is called with": {
			"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"USE_TOOL echo {\"text\": \"hi\"}"}],"tools":[{"function":{"name":"add"}},{"function":{"name":"echo"}}]}`, 200,
			[]string{`"name":"echo"`, `"arguments":"{\"text\": \"hi\"}"`},
		},
		"in a wished form": {
			"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object",` +
				`"properties":{"t":{"type":"string"},"n":{"type":"integer"},"b":{"type":"boolean"},"e":{"enum":["one","two"]},"l":{"type":"array","items":{"type":"string"}}}}}}}`, 200,
			[]string{`{\"b\":true,\"e\":\"one\",\"l\":[\"hi\"],\"n\":1,\"t\":\"hi\"}`},
		},
		"with a tool that must be called": {
			"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}],"tool_choice":{"type":"function","function":{"name":"extract"}},` +
				`"tools":[{"function":{"name":"extract","parameters":{"properties":{"t":{"type":"string"}}}}}]}`, 200,
			[]string{`"name":"extract"`, `{\"t\":\"hi\"}`},
		},
		"with a tool that it chooses": {
			"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"Who is Ana?"}],"tools":[{"function":{"name":"echo"}},{"function":{"name":"find"}}]}`, 200,
			[]string{`"name":"find"`, `{\"search\":\"Ana\"}`, `"finish_reason":"tool_calls"`},
		},
		"after a tool":    {"/v1/chat/completions", `{"model":"m","messages":[{"role":"tool","content":"5 USE_TOOL"}],"tools":[{"function":{"name":"add"}}]}`, 200, []string{`"finish_reason":"stop"`}},
		"with a bad key":  {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"FAIL401"}]}`, 401, []string{"Incorrect API key"}},
		"failing":         {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"FAIL500"}]}`, 500, []string{"upstream"}},
		"embeddings":      {"/v1/embeddings", `{"model":"e","input":["a","b"]}`, 200, []string{`"index":1`, `"embedding":[`}},
		"an unknown path": {"/v1/nope", `{}`, 404, []string{"no such path"}},
		"no JSON":         {"/v1/chat/completions", `{`, 400, []string{"no JSON"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, body := post(t, model, tc.path, tc.body)
			if status != tc.status {
				t.Errorf("status %d, want %d", status, tc.status)
			}
			for _, want := range tc.want {
				if !strings.Contains(body, want) {
					t.Errorf("answer lacks %s:\n%s", want, body)
				}
			}
		})
	}
}

func TestMCPServerListsAndUsesTools(t *testing.T) {
	t.Parallel()
	server := &flowisetest.MCP{}
	for body, want := range map[string]string{
		`{"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`:         `"protocolVersion":"2025-11-25"`,
		`{"id":2,"method":"tools/list"}`:                                                   `"name":"add"`,
		`{"id":3,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3}}}`: `"text":"5"`,
		`{"id":4,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}`: `{\"text\":\"x\"}`,
		`{"id":5,"method":"nope"}`:                                                         `-32601`,
	} {
		if status, got := post(t, server, "/mcp", body); status != http.StatusOK || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s, want %s", body, status, got, want)
		}
	}
	if status, _ := post(t, server, "/mcp", `{"method":"notifications/initialized"}`); status != http.StatusAccepted {
		t.Errorf("a notification is answered %d", status)
	}
	if calls := server.Calls(); len(calls) != 6 || calls[0].Authorization != "Bearer sk-1" {
		t.Errorf("%d calls", len(calls))
	}
}
