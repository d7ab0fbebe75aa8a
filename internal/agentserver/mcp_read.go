package agentserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// ToolName returns the tool name of a capability. Model vendors accept letters, digits, "_" and "-" in
// tool names, but no dot.
func ToolName(ref string) string { return strings.Replace(ref, ".", "__", 1) }

// maxToolName is the limit of most clients.
const maxToolName = 64

// addRead adds a read capability as a tool.
func (f *MCP) addRead(server *mcp.Server, c *contracts.CapabilityView, reads *sessions) {
	schema, ok := toolSchema(c.Schema)
	if c.Policy.SideEffectClass.Writes() || !ok || len(ToolName(c.Ref)) > maxToolName {
		return
	}
	domain, name := c.Domain, c.Name
	no := false
	server.AddTool(&mcp.Tool{
		Name: ToolName(c.Ref), Title: c.Ref, Description: c.Description, InputSchema: schema,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no},
	}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		api, err := f.caller(req.Extra)
		if err != nil {
			return failed(err), nil
		}
		call, err := intent(domain, name, req.Params.Arguments)
		if err != nil {
			return failed(err), nil
		}
		return f.read(ctx, api, reads, call), nil
	})
}

// toolSchema returns a schema that the library accepts: an object, without the annotation that makes
// a client send parameters as headers.
func toolSchema(v any) (json.RawMessage, bool) {
	raw, err := json.Marshal(v)
	if err != nil || bytes.Contains(raw, []byte(`"x-mcp-header"`)) {
		return nil, false
	}
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, false
	}
	if kind, said := schema["type"]; said {
		return raw, kind == "object"
	}
	schema["type"] = "object"
	raw, err = json.Marshal(schema)
	return raw, err == nil
}

// intent returns a tool call as an intent.
func intent(domain, name string, arguments json.RawMessage) (contracts.Intent, error) {
	parameters := map[string]any{}
	if len(arguments) > 0 {
		if err := contracts.Decode(arguments, &parameters); err != nil {
			return contracts.Intent{}, err
		}
	}
	return contracts.Intent{ID: "read", Domain: domain, Capability: name, Parameters: parameters, Confidence: 1}, nil
}

// read runs one capability. It is planned like any other request, with the same permissions.
func (f *MCP) read(ctx context.Context, api *client.Client, reads *sessions, call contracts.Intent) *mcp.CallToolResult {
	preview, err := api.Plan(ctx, contracts.PlanRequest{Goal: "Read " + call.Ref(), Intents: []contracts.Intent{call}}, client.Opt{Minimal: true})
	if err != nil {
		return failed(err)
	}
	if preview.Plan == nil {
		return failedf("%s", unplanned(preview))
	}
	if writes(preview.Plan) {
		return failedf("reading %s would go on to change something, which a person approves; ask for it in words, with ask or run_start", call.Ref())
	}
	response, err := reads.run(ctx, api, contracts.RunPlan{PlanHash: preview.PlanHash, Name: "Reads over MCP"}, f.cfg.Wait)
	if err != nil {
		return failed(err)
	}
	return f.told(ctx, api, response)
}

// sessions caches a caller's idle sessions: the rate of new sessions is limited, and a read does not
// need one of its own.
type sessions struct {
	mu   sync.Mutex // guards idle
	idle []used
}

// used is a session with its number of reads.
type used struct {
	id    string
	reads int
}

const (
	// maxIdle bounds the cached sessions of a caller, maxReads the reads in one session.
	maxIdle, maxReads = 16, 50
)

func (s *sessions) take() used {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle)
	if n == 0 {
		return used{}
	}
	u := s.idle[n-1]
	s.idle = s.idle[:n-1]
	return u
}

func (s *sessions) give(u used) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) < maxIdle && u.reads < maxReads {
		s.idle = append(s.idle, u)
	}
}

// run runs a plan in a cached session that is not used concurrently. A deleted session is replaced by
// a new one.
func (s *sessions) run(ctx context.Context, api *client.Client, plan contracts.RunPlan, wait time.Duration) (contracts.SessionResponse, error) {
	u := s.take()
	plan.SessionID = u.id
	response, err := api.RunPlan(ctx, plan, client.Opt{Wait: wait})
	if err != nil && u.id != "" && contracts.CodeOf(err) == contracts.CodeNotFound {
		u, plan.SessionID = used{}, ""
		response, err = api.RunPlan(ctx, plan, client.Opt{Wait: wait})
	}
	if err == nil && response.Status == contracts.SessionCompleted {
		s.give(used{response.SessionID, u.reads + 1})
	}
	return response, err
}

// unplanned returns the reason why there is no plan.
func unplanned(p contracts.PlanPreview) string {
	var asks []string
	for _, q := range p.Questions {
		asks = append(asks, q.Prompt)
		for _, o := range q.Options {
			asks = append(asks, fmt.Sprintf("- %s (%s)", o.Label, o.ID))
		}
	}
	if len(asks) == 0 {
		return p.Message
	}
	return strings.Join(asks, "\n")
}

// writes reports whether a plan contains a write.
func writes(p *contracts.Plan) bool {
	for i := range p.Nodes {
		if policy := p.Nodes[i].Policy; policy != nil && policy.SideEffectClass.Writes() {
			return true
		}
	}
	return false
}
