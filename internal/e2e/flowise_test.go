package e2e_test

import (
	"crypto/rand"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domainkit/sqlitestore"
	"github.com/manifold-run/manifold/domains/flowise"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
	"github.com/manifold-run/manifold/internal/app"
)

// serveFlowise serves the Flowise domain for one server, and returns its URL.
func serveFlowise(t *testing.T, endpoint, key string) string {
	t.Helper()
	return serveFlowises(t, flowise.Instance{ID: "test", Endpoint: endpoint, APIKey: key})
}

// serveFlowises serves the Flowise domain for several servers, and returns its URL.
func serveFlowises(t *testing.T, instances ...flowise.Instance) string {
	t.Helper()
	dir := t.TempDir()
	data, err := flowise.OpenData(t.Context(), filepath.Join(dir, "data.db"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := sqlitestore.Open(t.Context(), filepath.Join(dir, "keys.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = data.Close(), keys.Close() })
	svc, err := flowise.New(flowise.Config{Instances: instances, Data: data, Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	return domaintest.Serve(t, svc)
}

// onEachFlowise plays a test on a site whose only domain is Flowise, once for each
// server, with what else the site is set to.
func onEachFlowise(t *testing.T, play func(*testing.T, *site), settings ...func(*app.Config)) {
	t.Helper()
	for where, server := range flowiseServers() {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			endpoint, key := server(t)
			s := startSite(t, settings...)
			s.register(contracts.Registration{Domain: "flowise", URL: serveFlowise(t, endpoint, key)})
			play(t, s)
		})
	}
}

func flowiseServers() map[string]func(*testing.T) (endpoint, key string) {
	return map[string]func(*testing.T) (string, string){
		"in memory": func(t *testing.T) (string, string) {
			t.Helper()
			server, err := sandbox.New(sandbox.Config{})
			if err != nil {
				t.Fatal(err)
			}
			front := httptest.NewServer(server)
			t.Cleanup(front.Close)
			return front.URL, server.Key()
		},
		"a real one": realFlowise,
	}
}

// realFlowise returns the server that make test-flowise has started.
func realFlowise(t *testing.T) (endpoint, key string) {
	t.Helper()
	if os.Getenv("FLOWISE_URL") == "" && os.Getenv("REQUIRE_FLOWISE") == "1" {
		t.Fatal("REQUIRE_FLOWISE is set, but FLOWISE_URL is not")
	}
	if os.Getenv("FLOWISE_URL") == "" {
		t.Skip("FLOWISE_URL names no server")
	}
	return os.Getenv("FLOWISE_URL"), os.Getenv("FLOWISE_KEY")
}

// TestAChatflowIsCreatedBySentenceAndAnswers goes the whole way: a sentence, an
// approval, and the new flow answers; then it is changed back by sentences too.
func TestAChatflowIsCreatedBySentenceAndAnswers(t *testing.T) {
	t.Parallel()
	onEachFlowise(t, func(t *testing.T, s *site) {
		name := "Doorbell " + rand.Text()[:6] // the real server may be shared

		s.approved(`create a chatflow called "` + name + `" that replies "Pong"`)
		if got := s.told(`ask the chatflow "` + name + `": "Hello"`); !strings.Contains(got, "Pong") {
			t.Errorf("the new flow answers %q", got)
		}
		s.approved(`run the chatflow "` + name + `" for real with "Hello"`)
		s.approved(`rename the chatflow "` + name + `" to "` + name + ` two"`)
		if got := s.told(`list the versions of the chatflow "` + name + ` two"`); !strings.Contains(got, "v2") {
			t.Errorf("the versions are %q", got)
		}
		if got := s.told(`test the chatflow "` + name + ` two"`); !strings.Contains(got, "DONE") && !strings.Contains(got, "greeting") {
			t.Errorf("its tests say %q", got)
		}
		s.approved(`delete the chatflow "` + name + ` two"`)
	})
}

// TestAChatflowThatChangedAfterItsApprovalIsNotRun: the gate shows which graph it
// is for, and another one is refused when the approval comes.
func TestAChatflowThatChangedAfterItsApprovalIsNotRun(t *testing.T) {
	t.Parallel()
	for where, server := range flowiseServers() {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			endpoint, key := server(t)
			s := startSite(t)
			service := serveFlowise(t, endpoint, key)
			s.register(contracts.Registration{Domain: "flowise", URL: service})
			name := "Doorbell " + rand.Text()[:6]
			s.approved(`create a chatflow called "` + name + `" that replies "Pong"`)

			r := s.ask(`run the chatflow "` + name + `" for real with "Hello"`)
			if len(r.RunIDs) == 0 {
				t.Fatalf("no run: %s", asJSON(r))
			}
			gate := s.gates(r.RunIDs[0], 1)[0]
			hash, _ := gate.Action.Bound["graph_sha256"].(string)
			if len(hash) != 64 || !strings.Contains(gate.Prompt, "as changed") {
				t.Errorf("the gate is for %v: %s", gate.Action, gate.Prompt)
			}
			_, edit := domaintest.Execute(t, service, "apply_patch", map[string]any{
				"chatflow_id": gate.Action.Parameters["chatflow_id"], "base_sha256": hash,
				"ops": []any{map[string]any{"op_type": "SetParam", "node_id": "directReplyAgentflow_0", "param_name": "directReplyMessage", "value": "Gotcha"}},
			}, map[string]any{"run_id": "other", "node_id": "n1", "attempt": 1, "idempotency_key": name})
			if !edit.OK {
				t.Fatal(edit.Error)
			}
			anew := s.staleAfter(gate)
			if hash == anew.Action.Bound["graph_sha256"] {
				t.Errorf("the new gate is for the old graph: %s", asJSON(anew))
			}
			s.approve(anew)
			if view := s.ended(r.RunIDs[0]); view.State != contracts.RunCompleted || !strings.Contains(asJSON(view), "Gotcha") {
				t.Errorf("it ended as %s\n%s", view.State, states2text(view))
			}
			s.approved(`delete the chatflow "` + name + `"`)
		})
	}
}

// TestAWriteOfAFlowShowsWhatItDoesAndMindsOtherEdits: each gate shows what would change
// of what, and what a colleague saves in Flowise before the approval is not
// overwritten.
func TestAWriteOfAFlowShowsWhatItDoesAndMindsOtherEdits(t *testing.T) {
	t.Parallel()
	for where, server := range flowiseServers() {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			endpoint, key := server(t)
			s := startSite(t)
			service := serveFlowise(t, endpoint, key)
			s.register(contracts.Registration{Domain: "flowise", URL: service})
			name := "Doorbell " + rand.Text()[:6]
			s.approved(`create a chatflow called "` + name + `" that replies "Pong"`)
			for sentence, shows := range map[string]string{
				`rename the chatflow "` + name + `" to "Bell"`: "renamed from " + name,
				`delete the chatflow "` + name + `"`:           "deleted with its messages",
			} {
				r := s.ask(sentence)
				if len(r.RunIDs) == 0 {
					t.Fatalf("%s: no run: %s", sentence, asJSON(r))
				}
				gate := s.gates(r.RunIDs[0], 1)[0]
				if !strings.Contains(gate.Prompt+asJSON(gate.Evidence), shows) {
					t.Errorf("%s: the gate does not show %q: %s %s", sentence, shows, gate.Prompt, asJSON(gate.Evidence))
				}
				id, _ := gate.Action.Parameters["chatflow_id"].(string)
				reply := "by hand " + rand.Text()
				_, loaded := domaintest.Execute(t, service, "load_flow", map[string]any{"chatflow_id": id}, map[string]any{"run_id": "r", "node_id": "n", "attempt": 1})
				_, edit := domaintest.Execute(t, service, "apply_patch", map[string]any{
					"chatflow_id": id, "base_sha256": loaded.Facts["sha256"],
					"ops": []any{map[string]any{"op_type": "SetParam", "node_id": "directReplyAgentflow_0", "param_name": "directReplyMessage", "value": reply}},
				}, map[string]any{"run_id": "other", "node_id": "n1", "attempt": 1, "idempotency_key": reply})
				if !edit.OK {
					t.Fatal(edit.Error)
				}
				anew := s.staleAfter(gate)
				if _, err := s.otto.Reject(t.Context(), anew, "look at what was changed first", client.Opt{}); err != nil {
					t.Fatal(err)
				}
				s.ended(r.RunIDs[0])
				if got := s.told(`ask the chatflow "` + name + `": "Hello"`); !strings.Contains(got, reply) {
					t.Errorf("%s: the edit is lost: %q", sentence, got)
				}
			}
			// A name that is only near is asked about, and nothing is done.
			r := s.ask(`delete the chatflow "Front ` + name + `"`)
			if len(r.RunIDs) == 0 {
				t.Fatalf("no run: %s", asJSON(r))
			}
			if gate := s.gates(r.RunIDs[0], 1)[0]; gate.Type != contracts.InterruptClarification || !strings.Contains(asJSON(gate.Options), "there is none called") {
				t.Errorf("a name that is not there: %s", asJSON(gate))
			}
		})
	}
}

// TestTheGateOfAFlowShowsWhatItsTestsSay: of what the change would make of it, before
// anybody approves that.
func TestTheGateOfAFlowShowsWhatItsTestsSay(t *testing.T) {
	t.Parallel()
	onEachFlowise(t, func(t *testing.T, s *site) {
		name := "Doorbell " + rand.Text()[:6]
		s.approved(`create a chatflow called "` + name + `" that replies "We open at nine"`)
		if got := s.told(`add a test to the chatflow "` + name + `": "When do you open?" must contain "nine"`); !strings.Contains(got, "1 test kept") {
			t.Errorf("the test: %s", got)
		}
		for reply, says := range map[string]string{"Closed": "tests: 0 of 1 pass", "Always at nine": "tests: 1 of 1 pass"} {
			r := s.ask(`change the reply of the chatflow "` + name + `" to "` + reply + `"`)
			if len(r.RunIDs) == 0 {
				t.Fatalf("no run: %s", asJSON(r))
			}
			gate := s.gates(r.RunIDs[0], 1)[0]
			if gate.Type != contracts.InterruptWriteApproval || !strings.Contains(gate.Prompt+asJSON(gate.Evidence), says) {
				t.Errorf("the gate of %q does not say %q: %s %s", reply, says, gate.Prompt, asJSON(gate.Evidence))
			}
			if _, err := s.otto.Reject(t.Context(), gate, "only to look", client.Opt{}); err != nil {
				t.Fatal(err)
			}
			s.ended(r.RunIDs[0])
		}
		s.approved(`delete the chatflow "` + name + `"`)
	})
}

// staleAfter approves a gate whose flow somebody has changed meanwhile, and gives
// the gate that shows what that means.
func (s *site) staleAfter(gate contracts.Interrupt) contracts.Interrupt {
	s.t.Helper()
	s.approve(gate)
	for _, g := range s.gates(gate.RunID, 1) {
		if g.InterruptID != gate.InterruptID && len(g.Difference) > 0 && strings.Contains(g.Reason, "was changed meanwhile") {
			return g
		}
		s.t.Fatalf("the gate after a colleague's edit: %s", asJSON(g))
	}
	return contracts.Interrupt{}
}

// approved asks for a write, approves what the gate shows and waits for the end.
func (s *site) approved(sentence string) {
	s.t.Helper()
	r := s.ask(sentence)
	if len(r.RunIDs) == 0 {
		s.t.Fatalf("%s: no run: %s", sentence, asJSON(r))
	}
	s.approve(s.gates(r.RunIDs[0], 1)[0])
	view := s.ended(r.RunIDs[0])
	if view.State != contracts.RunCompleted {
		s.t.Fatalf("%s: %s\n%s", sentence, view.State, states2text(view))
	}
	s.sound(view)
}

// told asks for a read and returns the answer as text.
func (s *site) told(sentence string) string {
	s.t.Helper()
	r := s.ask(sentence)
	if len(r.RunIDs) == 0 {
		s.t.Fatalf("%s: no run: %s", sentence, asJSON(r))
	}
	view := s.ended(r.RunIDs[0])
	if view.State != contracts.RunCompleted {
		s.t.Fatalf("%s: %s\n%s", sentence, view.State, states2text(view))
	}
	session, err := s.rita.AwaitSession(s.t.Context(), r.SessionID)
	if err != nil {
		s.t.Fatal(err)
	}
	return textOf(session.Answer)
}
