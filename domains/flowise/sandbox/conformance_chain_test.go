package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/flowisetest"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
)

// fake serves a handler on loopback, reachable by a Flowise on this machine.
func fake(t *testing.T, h http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

// model returns a chat model node that uses the fake, with its own credential.
func (at target) model(t *testing.T, streaming string) string {
	t.Helper()
	inputs := `{"modelName":"fake-model","temperature":0,"streaming":` + streaming + `,"basepath":"` + fake(t, &flowisetest.OpenAI{}) + `/v1"}`
	written := node("chatOpenAI_0", "chatOpenAI", "Chat Models", inputs, "[]", "{}")
	return strings.Replace(written, `"data":{`, `"data":{"credential":"`+at.credential(t)+`",`, 1)
}

const memory = `{"sessionId":"","memoryKey":"chat_history"}`

func chain(t *testing.T, at target, client *api.Client) {
	for _, streaming := range []string{"true", "false"} {
		f := saved(t, client, api.Chatflow, graphOf(
			at.model(t, streaming)+","+node("bufferMemory_0", "bufferMemory", "Memory", memory, "[]", "{}")+","+
				node("conversationChain_0", "conversationChain", "Chains",
					`{"model":"{{chatOpenAI_0.data.instance}}","memory":"{{bufferMemory_0.data.instance}}","systemMessagePrompt":"Be brief."}`, "[]", "{}"),
			joined("chatOpenAI_0", "h", "conversationChain_0")+","+joined("bufferMemory_0", "h", "conversationChain_0")))
		const want = "FAKE[fake-model] reply to: hello there"
		whole, err := client.Predict(t.Context(), f.ID, api.Question{Question: "hello there"})
		if err != nil || whole.Text != want {
			t.Errorf("streaming %s: %q, %v", streaming, whole.Text, err)
		}
		pieces, err := client.Stream(t.Context(), f.ID, api.Question{Question: "hello there"}, func(api.Event) error { return nil })
		if err != nil || pieces.Text != want || pieces.Streamed != (streaming == "true") {
			t.Errorf("streaming %s: in pieces %q (%v), %v", streaming, pieces.Text, pieces.Streamed, err)
		}
		_, err = client.Predict(t.Context(), f.ID, api.Question{Question: "FAIL401"})
		wantError(t, err, api.KindFailed, "401 Unauthorized")
	}
}

func unboundModel(t *testing.T, _ target, client *api.Client) {
	f := saved(t, client, api.Chatflow, graphOf(
		node("chatOpenAI_0", "chatOpenAI", "Chat Models", `{"modelName":"fake-model"}`, "[]", "{}")+","+
			node("bufferMemory_0", "bufferMemory", "Memory", memory, "[]", "{}")+","+
			node("conversationChain_0", "conversationChain", "Chains",
				`{"model":"{{chatOpenAI_0.data.instance}}","memory":"{{bufferMemory_0.data.instance}}","systemMessagePrompt":"x"}`, "[]", "{}"),
		joined("chatOpenAI_0", "h", "conversationChain_0")+","+joined("bufferMemory_0", "h", "conversationChain_0")))
	_, err := client.Predict(t.Context(), f.ID, api.Question{Question: "hi"})
	wantError(t, err, api.KindFailed, "Missing credentials")
}

func agentWithTools(t *testing.T, at target, client *api.Client) {
	mcp := `{"mcpServerConfig":"{\"url\":\"` + fake(t, &flowisetest.MCP{}) + `/mcp\"}","mcpActions":"[\"add\"]"}`
	f := saved(t, client, api.Chatflow, graphOf(
		at.model(t, "false")+","+node("bufferMemory_0", "bufferMemory", "Memory", memory, "[]", "{}")+","+
			node("customMCP_0", "customMCP", "Tools (MCP)", mcp, "[]", "{}")+","+
			node("toolAgent_0", "toolAgent", "Agents",
				`{"tools":["{{customMCP_0.data.instance}}"],"memory":"{{bufferMemory_0.data.instance}}","model":"{{chatOpenAI_0.data.instance}}",`+
					`"systemMessage":"You are a helpful AI assistant."}`, "[]", "{}"),
		joined("chatOpenAI_0", "h", "toolAgent_0")+","+joined("bufferMemory_0", "h", "toolAgent_0")+","+joined("customMCP_0", "h", "toolAgent_0")))
	got, err := client.Predict(t.Context(), f.ID, api.Question{Question: "USE_TOOL please"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.UsedTools) != 1 || got.UsedTools[0].Tool != "add" || !strings.Contains(string(got.UsedTools[0].Output), "5") {
		t.Errorf("used tools = %+v", got.UsedTools)
	}
}
