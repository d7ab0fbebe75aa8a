package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/internal/bridge"
	"github.com/manifold-run/manifold/internal/bridge/mcp"
	"github.com/manifold-run/manifold/internal/bridge/openapi"
)

// bridges measures what a bridge adds to a call, how long its start takes, and how many calls a
// second the server answers at /mcp.
func bridges(ctx context.Context, p *page, dir string, e effort) error {
	for _, measured := range []func(context.Context, *page, string, effort) error{bridgedCalls, importedDocument, bridgedTools, overMCP} {
		if err := measured(ctx, p, dir, e); err != nil {
			return err
		}
	}
	return nil
}

// gaugeIn is the input of the tool of the servers behind bridges.
type gaugeIn struct {
	Name string `json:"name" jsonschema:"a gauge"`
}

// tools returns an MCP server with n reading tools.
func tools(n int) *httptest.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "gauges", Version: "1"}, &sdk.ServerOptions{PageSize: 1000})
	for i := range n {
		tool := &sdk.Tool{Name: fmt.Sprintf("read_gauge_%d", i), Description: "Reads a gauge.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}
		sdk.AddTool(server, tool, func(_ context.Context, _ *sdk.CallToolRequest, in gaugeIn) (*sdk.CallToolResult, read, error) {
			return nil, read{Name: in.Name, Value: 42}, nil
		})
	}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	return httptest.NewServer(handler)
}

// connected returns a client session with an MCP server.
func connected(ctx context.Context, url string, c *http.Client) (*sdk.ClientSession, error) {
	return sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}).
		Connect(ctx, &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: c, MaxRetries: -1, DisableStandaloneSSE: true}, nil)
}

// asked returns a call of a tool of a session.
func asked(session *sdk.ClientSession, tool string) func(context.Context) error {
	return func(ctx context.Context) error {
		result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: map[string]any{"name": "g-01"}})
		if err == nil && result.IsError {
			err = fmt.Errorf("%s is answered with %+v", tool, result.Content)
		}
		return err
	}
}

// served starts a bridge behind HTTP, as the server calls it.
func served(ctx context.Context, source bridge.Source, overlay bridge.Overlay) (*httptest.Server, func() error, error) {
	d, err := bridge.New(bridge.Config{Domain: domainName, Overlay: overlay}, source)
	if err != nil {
		return nil, nil, err
	}
	if _, err := d.Findings(ctx); err != nil {
		return nil, nil, errors.Join(err, closing(ctx, d.Close))
	}
	server := httptest.NewServer(d)
	return server, func() error {
		server.Close()
		return closing(ctx, d.Close)
	}, nil
}

// executes returns a call of a capability of a domain.
func executes(url, capability string) func(context.Context) error {
	body := []byte(`{"capability":"` + capability + `","parameters":{"name":"g-01"},"context":{"timeout_ms":20000}}`)
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/execute", bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		return fetched(req)
	}
}

// fetched makes a request, and reads the response, which must be a success.
func fetched(req *http.Request) error {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err == nil && (res.StatusCode != http.StatusOK || bytes.Contains(body, []byte(`"ok":false`))) {
		err = fmt.Errorf("%s: %.200s", res.Status, body)
	}
	return err
}

// bridgedCalls compares calls of a service with calls through its bridge.
func bridgedCalls(ctx context.Context, p *page, dir string, e effort) (err error) {
	service := tools(1)
	defer service.Close()
	session, err := connected(ctx, service.URL, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	listed, err := mcp.New(mcp.Config{URL: service.URL})
	if err != nil {
		return err
	}
	mcpBridge, closeMCP, err := served(ctx, listed, bridge.Overlay{Trusted: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeMCP()) }()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"name":"g-01","value":42}`) // a failure means that the reader is gone
	}))
	defer api.Close()
	source, err := documented(ctx, dir, api.URL, 1)
	if err != nil {
		return err
	}
	apiBridge, closeAPI, err := served(ctx, source, bridge.Overlay{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAPI()) }()
	plain := func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, api.URL+"/gauges/0/g-01", nil)
		if err != nil {
			return err
		}
		return fetched(req)
	}
	took, err := compete(ctx, e.rounds, e.of(200), 1, asked(session, "read_gauge_0"), executes(mcpBridge.URL, "read_gauge_0"), plain, executes(apiBridge.URL, "readGauge0"))
	if err != nil {
		return err
	}
	p.printf("\n### A call of a service, and the same through its bridge\n\n| | direct p50 | p95 | bridged p50 | p95 | adds p50 |\n|---|--:|--:|--:|--:|--:|\n")
	for i, name := range []string{"MCP, a tool", "HTTP, by its OpenAPI document"} {
		direct, through := &took[2*i], &took[2*i+1]
		p.printf("| %s | %.2f ms | %.2f ms | %.2f ms | %.2f ms | %.2f ms |\n", name, milliseconds(direct.at(0.5)), milliseconds(direct.at(0.95)),
			milliseconds(through.at(0.5)), milliseconds(through.at(0.95)), milliseconds(through.at(0.5)-direct.at(0.5)))
	}
	return nil
}

// documented writes an OpenAPI document with the given number of operations, each with two
// parameters and every second with a body that refers to a schema, and reads it as a bridge does.
func documented(ctx context.Context, dir, base string, operations int) (*openapi.API, error) {
	type object = map[string]any
	paths, schemas := object{}, object{}
	text := object{"type": "string", "description": "the name of a gauge, as it stands on its plate", "maxLength": 80}
	for i := range operations {
		paths[fmt.Sprintf("/gauges/%d/{name}", i)] = object{"get": object{
			"operationId": fmt.Sprintf("readGauge%d", i), "summary": "Reads a gauge.", "tags": []string{fmt.Sprintf("t%d", i%10)},
			"parameters": []object{
				{"name": "name", "in": "path", "required": true, "schema": text}, {"name": "unit", "in": "query", "schema": object{"type": "string", "enum": []string{"bar", "psi"}}},
			},
			"responses": object{"200": object{"description": "a reading", "content": object{"application/json": object{"schema": object{"$ref": "#/components/schemas/Setting0"}}}}},
		}}
		if i%2 == 0 {
			continue
		}
		name := fmt.Sprintf("Setting%d", i-1)
		properties := object{}
		for k := range 30 {
			properties[fmt.Sprintf("field_%d", k)] = text
		}
		schemas[name] = object{"type": "object", "properties": properties}
		paths[fmt.Sprintf("/settings/%d", i)] = object{"post": object{
			"operationId": fmt.Sprintf("set%d", i), "summary": "Sets a gauge.", "tags": []string{fmt.Sprintf("t%d", i%10)},
			"requestBody": object{"required": true, "content": object{"application/json": object{"schema": object{"$ref": "#/components/schemas/" + name}}}},
			"responses":   object{"200": object{"description": "done"}},
		}}
	}
	if len(schemas) == 0 {
		schemas["Setting0"] = object{"type": "object"}
	}
	raw, err := json.Marshal(object{"openapi": "3.1.0", "info": object{"title": "Gauges", "version": "1"}, "paths": paths, "components": object{"schemas": schemas}})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, fmt.Sprintf("gauges-%d.json", operations))
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return nil, err
	}
	return openapi.New(ctx, openapi.Config{Document: file, Base: base})
}

// importedDocument measures the time from a document to a domain.
func importedDocument(ctx context.Context, p *page, dir string, e effort) error {
	const operations = 800 // and half as many that set
	took, err := compete(ctx, e.rounds, 1, 1, func(ctx context.Context) error {
		source, err := documented(ctx, dir, "http://127.0.0.1:1", operations)
		if err != nil {
			return err
		}
		_, end, err := served(ctx, source, bridge.Overlay{Select: &bridge.Select{Tags: []string{"t1", "t2", "t3"}}})
		if err != nil {
			return err
		}
		return end()
	})
	if err != nil {
		return err
	}
	p.printf("\n### An OpenAPI document with %d operations, of which three tags of ten are selected, until it is served\n\n| p50 | max | processor time |\n|--:|--:|--:|\n| %.0f ms | %.0f ms | %.0f ms |\n",
		operations*3/2, milliseconds(took[0].at(0.5)), milliseconds(took[0].at(1)), milliseconds(took[0].cpuEach()))
	return nil
}

// bridgedTools measures the memory of bridges with a thousand tools.
func bridgedTools(ctx context.Context, p *page, _ string, _ effort) (err error) {
	const domains, each = 2, 500
	service := tools(each)
	defer service.Close()
	before := heap()
	began := time.Now()
	var ends []func() error
	defer func() {
		for _, end := range ends {
			err = errors.Join(err, end())
		}
	}()
	for range domains {
		source, failed := mcp.New(mcp.Config{URL: service.URL})
		if failed != nil {
			return failed
		}
		_, end, failed := served(ctx, source, bridge.Overlay{Trusted: true})
		if failed != nil {
			return failed
		}
		ends = append(ends, end)
	}
	took := time.Since(began)
	p.printf("\n### %d tools of MCP servers behind %d bridges\n\n| heap | until they are served |\n|--:|--:|\n| %.1f MB | %.0f ms |\n",
		domains*each, domains, (float64(heap())-float64(before))/(1<<20), milliseconds(took))
	return nil
}

// heap returns the size of the heap after a collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // frees what finalizers have released
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// bearer sends a key with each request.
type bearer struct{ key string }

// RoundTrip adds the key.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	return http.DefaultTransport.RoundTrip(r)
}

// overMCP measures a read by a tool of /mcp, which is a run of the server.
func overMCP(ctx context.Context, p *page, dir string, e effort) (err error) {
	w, err := startWhole(ctx, filepath.Join(dir, "server"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing(ctx, w.close)) }()
	session, err := connected(ctx, w.app.URL()+"/mcp", &http.Client{Transport: bearer{w.key}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	run, err := w.prepare(ctx, noop, 1)
	if err != nil {
		return err
	}
	p.printf("\n### One read, as a tool of /mcp and as `POST /v1/runs` of a plan that there is\n\n| at once | /mcp p50 | p95 | a second | REST p50 | p95 | a second |\n|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, inFlight := range []int{1, 16} {
		took, err := compete(ctx, e.rounds, e.of(20*inFlight), inFlight, asked(session, domainName+"__"+noop), run)
		if err != nil {
			return err
		}
		p.printf("| %d |", inFlight)
		for i := range took {
			p.printf(" %.1f ms | %.1f ms | %.0f |", milliseconds(took[i].at(0.5)), milliseconds(took[i].at(0.95)), took[i].perSecond())
		}
		p.printf("\n")
	}
	return nil
}
