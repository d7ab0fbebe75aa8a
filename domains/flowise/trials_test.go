package flowise_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/domains/flowise/sandbox"
)

// instead replaces the server's answers for a path.
func (b *bench) instead(path string, answers func(w http.ResponseWriter, n int)) {
	b.Helper()
	target, err := url.Parse(b.base)
	if err != nil {
		b.Fatal(err)
	}
	flowise := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	var asked atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, path) {
			answers(w, int(asked.Add(1)))
			return
		}
		flowise.ServeHTTP(w, r)
	}))
	b.Cleanup(front.Close)
	b.config.Instances[0].Endpoint = front.URL
	b.restart()
}

// TestAFlowThatAnswersNowThisNowThatIsSeenByItsTrials: a test passes only if all its trials do,
// also before a change is approved.
func TestAFlowThatAnswersNowThisNowThatIsSeenByItsTrials(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create("Moody", "We open at nine")
	b.instead("/prediction/", func(w http.ResponseWriter, n int) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(object{"text": []string{"We open at ten", "We open at nine"}[n%2]})
	})
	kept := b.facts("add_test", object{"chatflow_id": id, "question": "When?", "contains": "nine"}, in{key: "once"})
	scopes, _ := kept["domain_scopes"].([]any)
	if len(scopes) != 1 || scopes[0] != "flowise" || kept["trials"] != 1.0 {
		t.Errorf("kept %v", kept)
	}
	if once := b.proposed("set_reply", object{"chatflow_id": id, "reply": "Nine"}); once["tests"] != "tests: 1 of 1 pass" {
		t.Errorf("asked once: %v", once["tests"])
	}
	kept = b.facts("add_test", object{"chatflow_id": id, "question": "When?", "contains": "nine", "trials": 4}, in{key: "often"})
	if tests, _ := kept["integration_tests"].([]any); kept["trials"] != 4.0 || len(tests) != 1 {
		t.Errorf("kept %v", kept)
	}
	if often := text(b.proposed("set_reply", object{"chatflow_id": id, "reply": "Nine"})["tests"]); !strings.HasPrefix(often, "tests: 0 of 1 pass") {
		t.Errorf("asked four times: %v", often)
	}
	done := b.facts("test_chatflow", object{"chatflow_id": id}, in{})
	cases, _ := done["cases"].([]any)
	one, _ := cases[0].(object)
	if done["trials"] != 4.0 || one["passed"] != 2.0 || one["ok"] != false {
		t.Errorf("tested: %v", done)
	}
	// Adding a test keeps the number of trials.
	if kept = b.facts("add_test", object{"chatflow_id": id, "question": "Who?"}, in{key: "more"}); kept["trials"] != 4.0 {
		t.Errorf("kept %v", kept)
	}
	b.refused("add_test", object{"chatflow_id": id, "question": "Who?", "trials": 6}, in{key: "too often"})
}

// TestAFlowThatFailsWhenItIsAskedIsDiagnosedByWhatItSays: its graph is valid, so the prediction's
// error is the cause.
func TestAFlowThatFailsWhenItIsAskedIsDiagnosedByWhatItSays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create("Well built", "Pong")
	b.instead("/prediction/", func(w http.ResponseWriter, _ int) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"statusCode":500,"success":false,"message":"Error: predictionsServices.buildChatflow - 401 Incorrect API key provided: sk-abc123abc123abc123abc123","stack":{}}`))
	})
	found := b.facts("diagnose_chatflow", object{"chatflow_id": id, "question": "Ping?"}, in{})
	causes, _ := found["causes"].([]any)
	if found["valid"] != true || found["asked"] != true || found["answers"] != false || len(causes) != 1 {
		t.Fatalf("%v", found)
	}
	cause, _ := causes[0].(object)
	if cause["category"] != "CREDENTIAL" || !strings.Contains(text(cause["what"]), "Incorrect API key") || text(cause["fix"]) == "" {
		t.Errorf("the cause is %v", cause)
	}
	if verdict := text(found["verdict"]); !strings.Contains(verdict, "fails when it is asked") || strings.Contains(verdict, "sk-abc123") {
		t.Errorf("the verdict is %q", verdict)
	}
}

// TestOnlyWhatChangedSinceThenIsTold, and for a server with many flows only the page of the last
// changes is read.
func TestOnlyWhatChangedSinceThenIsTold(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var ago atomic.Int64
	server, err := sandbox.New(sandbox.Config{Now: func() time.Time { return now.Add(-time.Duration(ago.Load())) }})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	b := &bench{T: t, server: server, base: front.URL, key: server.Key()}
	b.open()
	graph := b.graph(b.execute("compile_flow", object{"ops": replyOps("Pong")}, in{}))
	ago.Store(int64(4 * 24 * time.Hour))
	for range 120 {
		server.AddFlow("Long ago", "AGENTFLOW", graph)
	}
	ago.Store(0)
	server.AddFlow("Just now", "AGENTFLOW", graph)

	names := func(parameters object) string {
		t.Helper()
		got := b.facts("list_changes", parameters, in{})
		rows, _ := got["changes"].([]any)
		var out []string
		for _, row := range rows {
			r, _ := row.(object)
			at, err := time.Parse(time.RFC3339, text(r["at"]))
			if err != nil || text(r["at"])[:10] < text(got["since"]) {
				t.Errorf("%v is of %v (%v), since %v", r["name"], at, err, got["since"])
			}
			out = append(out, text(r["name"]))
		}
		return strings.Join(out, ", ")
	}
	if got := names(object{}); got != "Just now" {
		t.Errorf("since yesterday: %s", got)
	}
	long := names(object{"since": now.UTC().AddDate(0, 0, -5).Format(time.DateOnly), "limit": 2})
	if long != "Just now, Long ago" {
		t.Errorf("since five days: %s", long)
	}
	if got := names(object{"since": now.UTC().AddDate(0, 0, 1).Format(time.DateOnly)}); got != "" {
		t.Errorf("since tomorrow: %s", got)
	}

	before := len(server.Requests())
	if got := names(object{}); got != "Just now" {
		t.Errorf("looked again: %s", got)
	}
	if asked := server.Requests()[before:]; len(asked) != 1 {
		t.Errorf("a look of nothing new asks for %v", asked)
	}
}

// TestATemplateWithoutItsCredentialIsNotProposed: the flow would be created and fail when asked.
func TestATemplateWithoutItsCredentialIsNotProposed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	unbound := append(chatOps("")[:4:4], chatOps("")[5:]...)
	graph := b.graph(b.execute("compile_flow", object{"ops": unbound, "type": "CHATFLOW"}, in{}))
	b.instead("/marketplaces/templates", func(w http.ResponseWriter, _ int) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode([]object{{
			"id": exampleID, "templateName": "Team Desk", "flowData": graph, "type": "Chatflow", "badge": "", "description": "An agent with a calculator",
			"framework": []string{}, "usecases": []string{}, "categories": []string{},
		}})
	})
	parameters := object{"name": "From a template", "template": "Team Desk"}
	refusal := b.refused("propose", object{"write": "create_chatflow", "parameters": parameters}, in{})
	if !strings.Contains(refusal.Message, "credential") || !strings.Contains(refusal.Message, "openAIApi") {
		t.Errorf("without a credential: %v", refusal)
	}
	if made := b.server.Effects(); len(made) != 0 {
		t.Errorf("made %v", made)
	}
	_, called := b.newCredential("openAIApi")
	parameters["credential"] = called
	if shown := b.proposed("create_chatflow", parameters); shown["graph"] == nil {
		t.Errorf("with one: %v", shown)
	}
}
