package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/planner/workflow/workflowtest"
)

// studio plays the domains of the example workflows over HTTP, in the process of
// the test.
type studio struct {
	*workflowtest.Studio

	urls      map[string]string
	manifests map[string]map[string]any
}

func newStudio(t *testing.T) *studio {
	t.Helper()
	s := &studio{Studio: workflowtest.NewStudio(), urls: map[string]string{}, manifests: workflowtest.Manifests(t)}
	for name, manifest := range s.manifests {
		if manifest["capabilities"] == nil {
			continue // a pack has no service
		}
		server := httptest.NewServer(s.serve(manifest))
		t.Cleanup(func() {
			server.CloseClientConnections()
			server.Close()
		})
		s.urls[name] = server.URL
	}
	return s
}

func (s *studio) serve(manifest map[string]any) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, contracts.Health{Status: contracts.HealthOK})
	})
	mux.HandleFunc("GET /manifest", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, manifest) })
	mux.HandleFunc("POST /execute", func(w http.ResponseWriter, r *http.Request) {
		var req contracts.ExecuteRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		answer(w, http.StatusOK, s.Execute(req))
	})
	return mux
}

// register makes the domains and the pack known, the pack last. An admin confirms
// what looks as if it wrote, since the example calls it a read.
func (s *studio) register(on *site) {
	on.t.Helper()
	for name, url := range s.urls {
		report, err := on.admin.RegisterDomain(on.t.Context(), contracts.Registration{Domain: name, URL: url})
		if err == nil && report.Outcome == contracts.DomainPending {
			report, err = on.admin.ConfirmDomain(on.t.Context(), name, report.Digest)
		}
		if err != nil || report.Outcome != contracts.DomainActive {
			on.t.Fatalf("register %s: %v %s", name, err, asJSON(report))
		}
	}
	for name, manifest := range s.manifests {
		if s.urls[name] != "" {
			continue
		}
		raw, err := json.Marshal(manifest)
		if err != nil {
			on.t.Fatal(err)
		}
		on.register(contracts.Registration{Domain: name, Pack: raw})
	}
}

// face is a way to begin the example, and to answer what it asks. What is asked
// is read by REST in every face.
type face interface {
	// begin asks for a flow, and returns its run.
	begin(t *testing.T, goal string) (runID string)
	// answers gives one answer as rita, who asked.
	answers(t *testing.T, i contracts.Interrupt, words any)
	// approves decides a gate as otto.
	approves(t *testing.T, i contracts.Interrupt, d contracts.Decision)
}

// rest is REST, by the client.
type rest struct{ *site }

func (r rest) begin(t *testing.T, goal string) string {
	t.Helper()
	return r.in(t).run(call("flowise.develop_chatflow", map[string]any{"goal": goal})).RunIDs[0]
}

func (r rest) answers(t *testing.T, i contracts.Interrupt, words any) {
	t.Helper()
	if _, err := r.rita.Answer(t.Context(), i, words, client.Opt{}); err != nil {
		t.Fatalf("answer %s with %v: %v", i.NodeID, words, err)
	}
}

func (r rest) approves(t *testing.T, i contracts.Interrupt, d contracts.Decision) {
	t.Helper()
	var err error
	if d == contracts.DecisionApprove {
		_, err = r.otto.Approve(t.Context(), i, "", client.Opt{})
	} else {
		_, err = r.otto.Reject(t.Context(), i, "", client.Opt{})
	}
	if err != nil {
		t.Fatalf("%s %s: %v", d, i.NodeID, err)
	}
}

// talk is a chat of one person through OpenAI's API, with its history.
type talk struct {
	*site

	key     string
	id      string
	history []map[string]string
}

// says sends a message, and returns the reply.
func (c *talk) says(t *testing.T, words string) string {
	t.Helper()
	c.history = append(c.history, map[string]string{"role": "user", "content": words})
	raw, err := json.Marshal(map[string]any{"model": "manifold", "messages": c.history})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+"/v1/chat/completions", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("X-Conversation-Id", c.id)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // it was only read
	var reply struct {
		Choices []struct {
			Message struct{ Content string }
		}
	}
	if err := json.NewDecoder(res.Body).Decode(&reply); err != nil || len(reply.Choices) != 1 {
		t.Fatalf("%q: status %d, %v", words, res.StatusCode, err)
	}
	content := reply.Choices[0].Message.Content
	c.history = append(c.history, map[string]string{"role": "assistant", "content": content})
	return content
}

func (c *talk) last() string { return c.history[len(c.history)-1]["content"] }

// chats is the chat face: rita asks and answers in hers, otto approves in his.
type chats struct {
	*site

	rita, otto *talk
}

func newChats(t *testing.T, s *site) *chats {
	t.Helper()
	_, rita := s.person("rita", "operator")
	_, otto := s.person("otto", "approver")
	return &chats{site: s, rita: &talk{site: s, key: rita, id: "rita of " + t.Name()}, otto: &talk{site: s, key: otto, id: "otto of " + t.Name()}}
}

func (c *chats) begin(t *testing.T, goal string) string {
	t.Helper()
	before := c.runs(t)
	said := c.rita.says(t, "build a chatflow that answers from our FAQ")
	if strings.Contains(strings.ToLower(said), "goal") && len(c.runs(t)) == len(before) {
		c.rita.says(t, `"`+goal+`"`)
	}
	runs := c.runs(t)
	if len(runs) != len(before)+1 {
		t.Fatalf("nothing was begun: %s\n%s", said, c.rita.last())
	}
	for id := range before {
		delete(runs, id)
	}
	for id := range runs {
		return id
	}
	return ""
}

func (c *chats) runs(t *testing.T) map[string]bool {
	t.Helper()
	all, err := c.site.rita.Runs(t.Context(), client.RunsFilter{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, r := range all {
		out[r.RunID] = true
	}
	return out
}

func (c *chats) answers(t *testing.T, i contracts.Interrupt, words any) {
	t.Helper()
	if !strings.Contains(c.rita.last(), strings.SplitN(i.Prompt, "\n", 2)[0]) { // a gate was decided elsewhere
		c.rita.says(t, "status")
	}
	for _, line := range gateview.Lines(i) {
		if !strings.Contains(c.rita.last(), "| "+line[0]+" |") {
			t.Errorf("the chat does not show %q of %s:\n%s", line[0], i.NodeID, c.rita.last())
		}
	}
	text, ok := words.(string)
	if !ok {
		text = fmt.Sprint(words)
	}
	c.rita.says(t, text)
}

func (c *chats) approves(t *testing.T, i contracts.Interrupt, d contracts.Decision) {
	t.Helper()
	c.otto.says(t, "show "+i.Code) // a word decides only about what was shown where it is said
	if said := c.otto.says(t, string(d)+" "+i.Code); !strings.Contains(said, i.Code+" is ") {
		t.Fatalf("otto is told: %s", said)
	}
}
