package e2e_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
)

// front stands before a Flowise: it counts what the domain asks of it, and lets
// something happen right before one of the requests.
type front struct {
	mu     sync.Mutex
	asked  []string
	at     int // before which request; 0 for none
	happen func()
}

func (f *front) serve(t *testing.T, endpoint string) string {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.asked = append(f.asked, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/v1"))
		happen := func() {}
		if len(f.asked) == f.at {
			happen = f.happen
		}
		f.mu.Unlock()
		happen()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// from begins to count anew.
func (f *front) from(at int, happen func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked, f.at, f.happen = nil, at, happen
}

func (f *front) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, f.asked...)
}

// TestAColleaguesEditIsNeverLostInSilence: somebody saves the flow in Flowise's own
// page before any one of the requests that a change by a sentence makes, from the
// first look to the last read-back. What they did is there afterwards, or a gate
// shows it, or it is a version that can be restored.
//
// Flowise has no conditional write. Between the last look and the write itself
// there is one exchange, and an edit in there cannot be seen by anybody: that one
// moment is left out here, and stands in the README.
func TestAColleaguesEditIsNeverLostInSilence(t *testing.T) {
	t.Parallel()
	for where, server := range flowiseServers() {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			endpoint, key := server(t)
			f := &front{}
			service := serveFlowise(t, f.serve(t, endpoint), key)
			s := startSite(t)
			s.register(contracts.Registration{Domain: "flowise", URL: service})
			name := "Shared " + rand.Text()[:6]
			s.approved(`create a chatflow called "` + name + `" that replies "Pong"`)
			c := &colleague{T: t, service: service, endpoint: endpoint, key: key}
			c.find(name)
			for at := 1; ; at++ {
				f.from(at, func() { c.edit("by hand " + rand.Text()) })
				ours := "ours " + rand.Text()
				ended := s.changedOrAsked(`change the reply of the chatflow "` + name + `" to "` + ours + `"`)
				asked := f.requests()
				if len(asked) < at {
					break // the change needs no more requests than that
				}
				if strings.HasPrefix(asked[at-1], "PUT ") {
					continue // the one exchange that nobody sees
				}
				if !c.isThere() && !c.isKept() {
					t.Errorf("before request %d, %s: the edit is lost; the change %s\n%s", at, asked[at-1], ended, strings.Join(asked, "\n"))
				}
				if ended == "completed" && !strings.Contains(c.graph(), ours) && !c.isThere() {
					t.Errorf("before request %d, %s: neither is there", at, asked[at-1])
				}
			}
		})
	}
}

// changedOrAsked asks for a change and approves what is shown once; a second gate,
// which shows somebody else's edit, is rejected. It tells how that ended.
func (s *site) changedOrAsked(sentence string) string {
	s.t.Helper()
	r := s.ask(sentence)
	if len(r.RunIDs) == 0 {
		s.t.Fatalf("%s: no run: %s", sentence, asJSON(r))
	}
	approved := ""
	return eventually(s.t, "the end of "+sentence, func() (string, bool) {
		view, err := s.rita.Run(s.t.Context(), r.RunIDs[0], client.Opt{})
		if err != nil {
			return "", false
		}
		if view.State.Terminal() {
			return string(view.State), true
		}
		for _, i := range view.Interrupts {
			switch {
			case i.Status != contracts.InterruptOpen || !i.Type.Gate() || i.InterruptID == approved:
			case approved == "":
				approved = i.InterruptID
				s.approve(i)
			default:
				if len(i.Difference) == 0 {
					s.t.Errorf("the new gate shows no difference: %s", asJSON(i))
				}
				if _, err := s.otto.Reject(s.t.Context(), i, "look at it first", client.Opt{}); err != nil {
					s.t.Fatal(err)
				}
			}
		}
		return "", false
	}, func() string { return sentence })
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

func (c *colleague) find(name string) {
	c.Helper()
	matches, _ := c.execute("resolve_target", map[string]any{"query": name}).Facts["matches"].([]any)
	first, _ := matches[0].(map[string]any)
	c.id, _ = first["value"].(string)
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

// edit saves the flow with another label of its first node.
func (c *colleague) edit(label string) {
	c.Helper()
	now := c.graph()
	from := strings.Index(now, `"label":"`) + len(`"label":"`)
	until := from + strings.Index(now[from:], `"`)
	c.last = label
	status, answer := overHTTP(c.T, http.MethodPut, c.endpoint+"/api/v1/chatflows/"+c.id, c.key, asJSON(map[string]any{"flowData": now[:from] + label + now[until:]}))
	if status != http.StatusOK {
		c.Fatalf("%d %s", status, answer)
	}
}

func (c *colleague) isThere() bool { return strings.Contains(c.graph(), c.last) }

// isKept tells whether a version with the edit can be restored.
func (c *colleague) isKept() bool {
	c.Helper()
	c.execute("list_changes", map[string]any{"chatflow_id": c.id})
	rows, _ := c.execute("list_versions", map[string]any{"chatflow_id": c.id, "limit": 5}).Facts["versions"].([]any)
	for i := range rows {
		if i+1 == len(rows) {
			break
		}
		newer, _ := rows[i].(map[string]any)
		older, _ := rows[i+1].(map[string]any)
		diff := c.execute("diff_versions", map[string]any{"chatflow_id": c.id, "from": older["version"], "to": newer["version"]})
		if strings.Contains(asJSON(diff.Facts)+string(diff.Artifacts["diff"]), c.last) {
			return true
		}
	}
	return false
}
