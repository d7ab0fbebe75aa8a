package sandbox

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agentRoutes serves the tenant's MCP server: three tools that read people as the user of the
// bearer token.
func (t *Tenant) agentRoutes(mux *http.ServeMux, people *people) {
	server := mcp.NewServer(&mcp.Implementation{Name: "workday-sandbox", Version: "1"}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	reading := func(name, text string) *mcp.Tool {
		return &mcp.Tool{Name: t.cfg.ToolPrefix + name, Description: text, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}
	}
	type found struct {
		Total int   `json:"total"`
		Data  []any `json:"data"`
	}
	mcp.AddTool(server, reading("getMyInfo", "Tells who is asking."),
		func(_ context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, map[string]any, error) {
			out := map[string]any{"id": digest("systemUser"), "descriptor": systemUser}
			err := t.asSubject(req, func(c *call) error {
				if w, is := people.company.find("me", c.subject); is {
					out = map[string]any{"id": w.id, "descriptor": w.descriptor(), "businessTitle": w.title, "primaryWorkEmail": w.email}
				}
				return nil
			})
			return nil, out, err
		})
	type search struct {
		Search string `json:"search" jsonschema:"names, or beginnings of them"`
		Limit  int    `json:"limit,omitempty"`
		Offset int    `json:"offset,omitempty"`
	}
	mcp.AddTool(server, reading("searchForWorker", "Finds workers by name."),
		func(_ context.Context, req *mcp.CallToolRequest, in search) (*mcp.CallToolResult, found, error) {
			var out found
			err := t.asSubject(req, func(c *call) error {
				c.query = url.Values{"search": {in.Search}, "offset": {strconv.Itoa(in.Offset)}}
				if in.Limit > 0 {
					c.query.Set("limit", strconv.Itoa(in.Limit))
				}
				answer, err := people.listWorkers(c)
				if p, is := answer.body.(page); is {
					out.Total = p.Total
					out.Data, _ = p.Data.([]any)
				}
				return err
			})
			return nil, out, err
		})
	type some struct {
		IDs []string `json:"ids" jsonschema:"Workday IDs, or references such as Employee_ID=21001"`
	}
	mcp.AddTool(server, reading("getWorkers", "Shows workers."),
		func(_ context.Context, req *mcp.CallToolRequest, in some) (*mcp.CallToolResult, found, error) {
			out := found{Data: []any{}}
			err := t.asSubject(req, func(c *call) error {
				for _, id := range in.IDs {
					w, known := people.company.find(id, c.subject)
					if !known {
						continue
					}
					answer, err := people.getWorker(c, w)
					if err != nil {
						return err
					}
					out.Data, out.Total = append(out.Data, answer.body), out.Total+1
				}
				return nil
			})
			return nil, out, err
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) { t.serveAgent(w, r, handler) })
}

// asSubject runs a tool as the user of the request's token.
func (t *Tenant) asSubject(req *mcp.CallToolRequest, do func(*call) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	subject, known := t.tokens.subjectOf(req.Extra.Header.Get("Authorization"), t.books.now())
	if !known {
		return &apiError{status: http.StatusUnauthorized, Message: "invalid_token"}
	}
	return do(&call{path: func(string) string { return "" }, raw: "/ccx/api/v1/" + t.cfg.Tenant + "/workers", subject: subject})
}

// serveAgent checks the token and plays the faults that precede an answer.
func (t *Tenant) serveAgent(w http.ResponseWriter, r *http.Request, next http.Handler) {
	fault := t.Arm(r)
	status := http.StatusOK
	defer func() { t.Log(r, status, fault) }()
	early, cut := failures().Before(fault, w, r)
	if cut {
		status = 0
		return
	}
	if early == nil {
		t.mu.Lock()
		_, known := t.tokens.subjectOf(r.Header.Get("Authorization"), t.books.now())
		t.mu.Unlock()
		if !known {
			early = &reply{http.StatusUnauthorized, &apiError{Message: "invalid_token"}}
		}
	}
	if early != nil {
		status = send(w, *early, fault)
		return
	}
	next.ServeHTTP(w, r)
}
