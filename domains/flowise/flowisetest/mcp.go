package flowisetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// MCP is an MCP server over streamable HTTP, without sessions, with the tools add, echo and noargs.
// Flowise drops the last one, because its schema has no properties.
type MCP struct{ Log }

type rpc struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string         `json:"protocolVersion"`
		Name            string         `json:"name"`
		Arguments       map[string]any `json:"arguments"`
	} `json:"params"`
}

// ServeHTTP implements http.Handler.
func (m *MCP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 10<<20))
	if err != nil {
		return
	}
	m.add(r, body)
	var ask rpc
	switch {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed) // the server offers no stream
		return
	case json.Unmarshal(body, &ask) != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	case ask.ID == nil:
		w.WriteHeader(http.StatusAccepted) // a notification
		return
	}
	out := map[string]any{"jsonrpc": "2.0", "id": ask.ID}
	if result := answer(ask); result != nil {
		out["result"] = result
	} else {
		out["error"] = map[string]any{"code": -32601, "message": "no such method"}
	}
	writeJSON(w, http.StatusOK, out)
}

func answer(ask rpc) any {
	switch ask.Method {
	case "initialize":
		return map[string]any{
			"protocolVersion": ask.Params.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "fake-mcp", "version": "1.0.0"},
		}
	case "tools/list":
		return map[string]any{"tools": tools()}
	case "tools/call":
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": use(ask)}}}
	}
	return nil
}

func tools() []any {
	tool := func(name, description string, schema map[string]any) any {
		schema["type"] = "object"
		return map[string]any{"name": name, "description": description, "inputSchema": schema}
	}
	number, text := map[string]any{"type": "number"}, map[string]any{"type": "string"}
	return []any{
		tool("add", "Add two numbers", map[string]any{"properties": map[string]any{"a": number, "b": number}, "required": []string{"a", "b"}}),
		tool("echo", "Echo text", map[string]any{"properties": map[string]any{"text": text}, "required": []string{"text"}}),
		tool("noargs", "A tool without arguments", map[string]any{}),
	}
}

func use(ask rpc) string {
	a, isA := ask.Params.Arguments["a"].(float64)
	b, isB := ask.Params.Arguments["b"].(float64)
	if ask.Params.Name == "add" && isA && isB {
		return fmt.Sprint(a + b)
	}
	raw, err := json.Marshal(ask.Params.Arguments)
	if err != nil {
		return ""
	}
	return string(raw)
}
