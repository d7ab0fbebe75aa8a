// Package agent uses Workday's MCP server: it reads people from it, and provides the capabilities
// by which the agents of flows get its tools.
package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// MCP configures Workday's MCP server, from which people are read instead of from REST.
type MCP struct {
	// URL is the URL of the agent gateway, for example https://us.agent.workday.com/mcp.
	URL string
	// Tools maps the tools getMyInfo, searchForWorker and getWorkers to the server's names [the
	// tool with that name or suffix].
	Tools map[string]string
	// Blueprint is the snapshot file by which flows are wired without calling the server [none: the
	// server is called each time].
	Blueprint string
}

// The tools of the blueprint.
const (
	toolMyInfo  = "getMyInfo"
	toolSearch  = "searchForWorker"
	toolWorkers = "getWorkers"
)

// mcpTools returns the tools in the order of the blueprint.
func mcpTools() []string { return []string{toolMyInfo, toolSearch, toolWorkers} }

// Server reads people from the MCP server. It opens a session when it first needs one, and again
// after most failures, because the MCP library closes the session then. It is safe for concurrent
// use.
type Server struct {
	cfg    MCP
	known  *Blueprint // nil if the server is called instead
	rest   *rest.Client
	client *mcp.Client

	mu      sync.Mutex // guards the fields below; held while connecting
	session *mcp.ClientSession
	tools   map[string]agentTool // by the names of the blueprint
}

// agentTool is one tool as the server defines it.
type agentTool struct {
	Name string
	// Bare means that the tool's schema has no properties. Flowise silently drops such a tool.
	Bare bool

	Description   string
	input, output json.RawMessage
}

// New returns a server without connecting. The version is that of the domain.
func New(cfg MCP, version string, client *rest.Client) (*Server, error) {
	if _, err := client.Agent(cfg.URL); err != nil {
		return nil, err
	}
	var known *Blueprint
	if cfg.Blueprint != "" {
		var err error
		if known, err = ReadBlueprint(cfg.Blueprint); err != nil {
			return nil, err
		}
		if known != nil && known.Server != cfg.URL {
			return nil, fmt.Errorf("blueprint %s: it is of the server %s; refresh it", cfg.Blueprint, known.Server)
		}
	}
	return &Server{cfg: cfg, known: known, rest: client, client: mcp.NewClient(&mcp.Implementation{Name: "manifold", Version: version}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{}, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})}, nil
}

// SearchWorkers returns people with a name that starts with any of the words.
func (m *Server) SearchWorkers(ctx context.Context, words string, most int) (rest.Page[rest.Worker], error) {
	var all rest.Page[rest.Worker]
	for len(all.Items) < most {
		var page struct {
			Total int           `json:"total"`
			Data  []rest.Worker `json:"data"`
		}
		err := m.call(ctx, toolSearch, map[string]any{"search": words, "limit": min(most, 100), "offset": len(all.Items)}, &page)
		if err != nil {
			return rest.Page[rest.Worker]{}, err
		}
		all.Items, all.Total = append(all.Items, page.Data...), page.Total
		if len(page.Data) == 0 || len(all.Items) >= page.Total {
			break
		}
	}
	all.Items = all.Items[:min(len(all.Items), most)]
	return all, nil
}

// Worker returns one person by Workday id or reference id.
func (m *Server) Worker(ctx context.Context, id string) (rest.Worker, error) {
	var out struct {
		Data []rest.Worker `json:"data"`
	}
	err := m.call(ctx, toolWorkers, map[string]any{"ids": []string{id}}, &out)
	if err == nil && len(out.Data) != 1 {
		err = &rest.Error{Op: toolWorkers, Kind: rest.KindNotFound, Message: "resource not found"}
	}
	if err == nil && !strings.Contains(id, "=") && out.Data[0].ID != id {
		err = &rest.Error{Op: toolWorkers, Kind: rest.KindBadAnswer, Message: "the answer is about somebody else"}
	}
	if err != nil {
		return rest.Worker{}, err
	}
	return out.Data[0], nil
}

// Check calls getMyInfo, to check that the server can be reached with the credentials.
func (m *Server) Check(ctx context.Context) error {
	return m.call(ctx, toolMyInfo, map[string]any{}, &struct{}{})
}

// call calls a tool, and once more if the session was lost.
func (m *Server) call(ctx context.Context, tool string, in map[string]any, out any) error {
	err := m.try(ctx, tool, in, out)
	if errors.Is(err, mcp.ErrConnectionClosed) && ctx.Err() == nil {
		err = m.try(ctx, tool, in, out)
	}
	return err
}

func (m *Server) try(ctx context.Context, tool string, in map[string]any, out any) error {
	noted, failed := rest.Noting(ctx)
	session, tools, err := m.connected(noted)
	if err != nil {
		return failed(tool, err)
	}
	answer, err := session.CallTool(noted, &mcp.CallToolParams{Name: tools[tool].Name, Arguments: in})
	if err != nil {
		m.drop(session)
		return failed(tool, err)
	}
	if answer.IsError || answer.NeedsInput() {
		return &rest.Error{Op: tool, Kind: rest.KindInvalid, Message: cmp.Or(said(answer), "the tool failed and does not say why")}
	}
	raw := []byte(said(answer))
	if answer.StructuredContent != nil {
		if raw, err = json.Marshal(answer.StructuredContent); err != nil {
			return fmt.Errorf("%s: %w", tool, err)
		}
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return &rest.Error{Op: tool, Kind: rest.KindBadAnswer, Message: "the answer is not what Workday sends", Cause: err}
	}
	return nil
}

// said returns the text of a tool's answer.
func said(answer *mcp.CallToolResult) string {
	var parts []string
	for _, c := range answer.Content {
		if text, is := c.(*mcp.TextContent); is {
			parts = append(parts, text.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// connected returns the session and the tools, connecting if necessary.
func (m *Server) connected(ctx context.Context) (*mcp.ClientSession, map[string]agentTool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session != nil {
		return m.session, m.tools, nil
	}
	agent, err := m.rest.Agent(m.cfg.URL)
	if err != nil {
		return nil, nil, err
	}
	session, err := m.client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: m.cfg.URL, HTTPClient: agent, DisableStandaloneSSE: true, MaxRetries: -1,
	}, nil)
	if err != nil {
		return nil, nil, err
	}
	tools, err := m.toolsOf(ctx, session)
	if err != nil {
		_ = session.Close() // unusable
		return nil, nil, err
	}
	m.session, m.tools = session, tools
	return session, tools, nil
}

// toolsOf finds the tools on the server. Workday prefixes their names with the deployment's name.
func (m *Server) toolsOf(ctx context.Context, session *mcp.ClientSession) (map[string]agentTool, error) {
	tools := map[string]agentTool{}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		for _, of := range mcpTools() {
			if wanted := m.cfg.Tools[of]; tool.Name == wanted || wanted == "" && strings.HasSuffix(tool.Name, of) {
				if other, taken := tools[of]; taken {
					return nil, &rest.Error{Op: of, Kind: rest.KindBadAnswer, Message: fmt.Sprintf("both %s and %s may be meant; name one by configuration", other.Name, tool.Name)}
				}
				schema, _ := tool.InputSchema.(map[string]any)
				input, inErr := json.Marshal(tool.InputSchema)
				output, outErr := json.Marshal(tool.OutputSchema)
				if err := errors.Join(inErr, outErr); err != nil {
					return nil, fmt.Errorf("%s: %w", tool.Name, err)
				}
				tools[of] = agentTool{tool.Name, schema["properties"] == nil, tool.Description, input, output}
			}
		}
	}
	for _, of := range mcpTools() {
		if tools[of].Name == "" {
			return nil, &rest.Error{Op: of, Kind: rest.KindBadAnswer, Message: "the MCP server has no tool " + cmp.Or(m.cfg.Tools[of], of)}
		}
	}
	return tools, nil
}

// served returns tools of the blueprint as the server defines them.
func (m *Server) served(ctx context.Context, actions []string) ([]agentTool, error) {
	tools, err := m.wiring(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]agentTool, len(actions))
	for i, action := range actions {
		out[i] = tools[action]
	}
	return out, nil
}

// wiring returns the tools by which flows are wired: those of the snapshot, if there is one.
func (m *Server) wiring(ctx context.Context) (map[string]agentTool, error) {
	if m.known != nil {
		return m.known.tools(), nil
	}
	noted, failed := rest.Noting(ctx)
	_, tools, err := m.connected(noted)
	if err != nil {
		return nil, failed("tools/list", err)
	}
	return tools, nil
}

// toolNames returns the server's names of tools.
func toolNames(tools []agentTool) []string {
	out := make([]string, len(tools))
	for i, t := range tools {
		out[i] = t.Name
	}
	return out
}

// drop discards a session after a failure.
func (m *Server) drop(session *mcp.ClientSession) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session == session {
		m.session = nil
		go func() { _ = session.Close() }() // close in the background
	}
}
