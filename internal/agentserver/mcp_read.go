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

// ToolName is how a capability is called here. Vendors of models take letters,
// digits, "_" and "-" in the names of tools, and no dot.
func ToolName(ref string) string { return strings.Replace(ref, ".", "__", 1) }

// maxToolName is what most clients take.
const maxToolName = 64

// addRead offers a capability that changes nothing as a tool of its own.
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

// toolSchema returns a schema that the library takes: an object, and without the
// annotation by which a client would put parameters into headers.
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

// intent is the call as the API takes it.
func intent(domain, name string, arguments json.RawMessage) (contracts.Intent, error) {
	parameters := map[string]any{}
	if len(arguments) > 0 {
		if err := contracts.Decode(arguments, &parameters); err != nil {
			return contracts.Intent{}, err
		}
	}
	return contracts.Intent{ID: "read", Domain: domain, Capability: name, Parameters: parameters, Confidence: 1}, nil
}

// read runs one capability: it is planned as any other request is, and what it
// may not do there it may not do here.
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

// sessions are those of a caller in which nothing is going on: how many sessions
// may be started is limited, and a read needs none of its own.
type sessions struct {
	mu   sync.Mutex // guards idle
	idle []used
}

// used is a session, and how many reads it has.
type used struct {
	id    string
	reads int
}

const (
	// maxIdle bounds the sessions that are kept of a caller, maxReads the reads that
	// one takes.
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

// run runs a plan in a session that nobody else uses meanwhile; one that is gone
// makes room for a new one.
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

// unplanned reports why there is no plan.
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

// writes reports whether a plan has a step that changes something.
func writes(p *contracts.Plan) bool {
	for i := range p.Nodes {
		if policy := p.Nodes[i].Policy; policy != nil && policy.SideEffectClass.Writes() {
			return true
		}
	}
	return false
}
