package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
)

// front stands before a Flowise and counts what the domain asks of it.
type front struct {
	mu    sync.Mutex
	asked []string
}

func (f *front) serve(t *testing.T, endpoint string) string {
	t.Helper()
	return inFront(t, endpoint, func(w http.ResponseWriter, r *http.Request, flowise http.Handler) {
		f.mu.Lock()
		f.asked = append(f.asked, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/v1"))
		f.mu.Unlock()
		flowise.ServeHTTP(w, r)
	})
}

// inFront has somebody take the requests for a Flowise, and returns their address.
func inFront(t *testing.T, endpoint string, takes func(w http.ResponseWriter, r *http.Request, flowise http.Handler)) string {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	flowise := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { takes(w, r, flowise) }))
	t.Cleanup(server.Close)
	return server.URL
}

// again begins to count again.
func (f *front) anew() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = nil
}

func (f *front) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, f.asked...)
}

// colleague edits a flow in Flowise's own page.
type colleague struct {
	*testing.T
	service, endpoint, key string
	id, last               string
}

func (c *colleague) execute(capability string, parameters map[string]any) contracts.ToolResult {
	c.Helper()
	_, out := domaintest.Execute(c, c.service, capability, parameters, map[string]any{"run_id": "r", "node_id": "n", "attempt": 1})
	if !out.OK {
		c.Fatalf("%s: %v", capability, out.Error)
	}
	return out
}

// graph is the flow as it is on the server.
func (c *colleague) graph() string {
	c.Helper()
	status, answer := overHTTP(c.T, http.MethodGet, c.endpoint+"/api/v1/chatflows/"+c.id, c.key, "")
	var row struct{ FlowData string }
	if err := json.Unmarshal(answer, &row); err != nil || status != http.StatusOK {
		c.Fatalf("%d %v", status, err)
	}
	return row.FlowData
}
