package e2e_test

import (
	"crypto/rand"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
)

// say is what a person answers to the questions of a workflow, by their types, each
// once and in order; approvals of writes are otto's.
type say map[contracts.InterruptType][]any

// developed plays a development to its end and gives the run with its answer; who
// looks sees each question before it is answered.
func (s *site) developed(sentence string, answers say, looks ...func(contracts.Interrupt)) (contracts.RunView, string) {
	s.t.Helper()
	r := s.ask(sentence)
	if len(r.RunIDs) == 0 {
		s.t.Fatalf("%s: no run: %s", sentence, asJSON(r))
	}
	asked := map[contracts.InterruptType]int{}
	seen := map[string]bool{}
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		view, err := s.rita.Run(s.t.Context(), r.RunIDs[0], client.Opt{})
		if err != nil {
			s.t.Fatal(err)
		}
		if view.State.Terminal() {
			done, err := s.rita.AwaitSession(s.t.Context(), r.SessionID)
			if err != nil {
				s.t.Fatal(err)
			}
			return view, textOf(done.Answer)
		}
		for _, i := range view.Interrupts {
			if seen[i.InterruptID] || i.Status != contracts.InterruptOpen {
				continue
			}
			seen[i.InterruptID] = true
			for _, look := range looks {
				look(i)
			}
			if i.Type == contracts.InterruptWriteApproval {
				if i.Action.Capability == "flowise.create_chatflow" && !strings.Contains(asJSON(i.Evidence), "nodes added") && !strings.Contains(asJSON(i.Evidence), "the pattern ") && !strings.Contains(asJSON(i.Evidence), "the template ") {
					s.t.Errorf("the gate does not show what is built: %s", asJSON(i.Evidence))
				}
				s.approve(i)
				continue
			}
			if i.Type == contracts.InterruptResultReview {
				s.reviewable(i)
			}
			if asked[i.Type] >= len(answers[i.Type]) {
				s.t.Fatalf("%s: nobody expected %s: %s\n%s", sentence, i.Type, i.Prompt, asJSON(i))
			}
			if _, err := s.rita.Resume(s.t.Context(), r.SessionID, contracts.Resume{InterruptID: i.InterruptID, Response: answers[i.Type][asked[i.Type]]}, client.Opt{}); err != nil {
				s.t.Fatalf("%s: answer %s: %v\n%s", sentence, i.Type, err, asJSON(i))
			}
			asked[i.Type]++
		}
	}
	s.t.Fatalf("%s: it did not end", sentence)
	return contracts.RunView{}, ""
}

// reviewable holds the review of a result to what a person must see: what was changed,
// each test with its trials and its time, what they took together, and where it is.
func (s *site) reviewable(i contracts.Interrupt) {
	s.t.Helper()
	if i.Show["tests"] == nil { // nothing was written, and it says why
		if i.Show["problems"] == nil && i.Show["not_done"] == nil {
			s.t.Errorf("the review does not show why nothing was written: %s", asJSON(i.Show))
		}
		return
	}
	for label, part := range map[string]string{"changes": "", "tests": " of 1, ", "tests_took": " ms", "link": "http"} {
		if value := i.Show[label]; value == nil || !strings.Contains(asJSON(value), part) {
			s.t.Errorf("the review does not show %s: %s", label, asJSON(i.Show))
		}
	}
}

func decides(decision string, more ...any) map[string]any {
	out := map[string]any{"decision": decision}
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i].(string)] = more[i+1]
	}
	return out
}

// TestAChatflowIsDevelopedBySentence: from a goal to a tested flow that a person
// accepts, changed on their feedback, changed again later by its name, and rolled
// back; without a model.
func TestAChatflowIsDevelopedBySentence(t *testing.T) {
	t.Parallel()
	onEachFlowise(t, func(t *testing.T, s *site) {
		name := "Doorman" + rand.Text()[:5]

		view, told := s.developed(`develop a chatbot called "`+name+`" that always replies "We open at nine"`, say{
			contracts.InterruptPlanApproval: {decides("approve"), decides("approve")},
			contracts.InterruptResultReview: {decides("iterate", "feedback", `it must always reply "We open at ten"`), decides("accept")},
		})
		if view.State != contracts.RunCompleted || !strings.HasPrefix(told, "text  The chatflow is done") {
			t.Fatalf("%s: %s\n%s", view.State, told, states2text(view))
		}
		if strings.Contains(told, "not needed") || strings.Contains(told, "sha256") {
			t.Errorf("the answer tells of steps in between: %s", told)
		}
		if got := s.told(`ask the chatflow "` + name + `": "When do you open?"`); !strings.Contains(got, "We open at ten") {
			t.Errorf("the new flow answers %q", got)
		}
		// A change by its name, which is then taken back.
		view, told = s.developed(`develop the chatflow "`+name+`" further so that it always replies "We are closed"`, say{
			contracts.InterruptSelectTarget: {"1"},
			contracts.InterruptPlanApproval: {decides("approve")},
			contracts.InterruptResultReview: {decides("rollback")},
		})
		if view.State != contracts.RunCompleted || !strings.Contains(told, "not accepted") {
			t.Errorf("%s: %s\n%s", view.State, told, states2text(view))
		}
		if got := s.told(`ask the chatflow "` + name + `": "When do you open?"`); !strings.Contains(got, "We open at ten") {
			t.Errorf("after the rollback it answers %q", got)
		}
		// The page that it shall answer from is asked for, and its address is what is built with.
		view, told = s.developed("build me a bot that answers from our FAQ page, remembers, and uses gpt-4o-mini", say{
			contracts.InterruptCredentialCheck: {decides("skip")},
			contracts.InterruptClarification:   {"the one of the shop", "acme.example/faq"},
			contracts.InterruptPlanApproval:    {decides("approve")},
			contracts.InterruptResultReview:    {decides("stop")}, // without the credential nothing was written
		}, func(i contracts.Interrupt) {
			if i.Type == contracts.InterruptPlanApproval && !strings.Contains(asJSON(i.Value), `"address": "https://acme.example/faq"`) {
				t.Errorf("it is not built from the page: %s", asJSON(i.Value))
			}
		})
		if !view.State.Terminal() {
			t.Errorf("%s: %s\n%s", view.State, told, states2text(view))
		}
		// A new one that is not accepted is gone.
		view, told = s.developed(`develop a chatbot called "`+name+` two" that always replies "Closed"`, say{
			contracts.InterruptPlanApproval: {decides("approve")},
			contracts.InterruptResultReview: {decides("rollback")},
		})
		if view.State != contracts.RunCompleted || !strings.Contains(told, "not accepted") {
			t.Errorf("%s: %s\n%s", view.State, told, states2text(view))
		}
		if got := s.told(`list my chatflows`); strings.Contains(got, name+" two") || !strings.Contains(got, name) {
			t.Errorf("after the rollback: %s", got)
		}
	})
}

// TestFeedbackThatChangesNoChatflowIsToldAndAskedAboutAgain: what a person wants changed
// and nobody can read is said with the plan and at the review, nothing is written for it,
// and what was made before can still be changed, accepted or taken back.
func TestFeedbackThatChangesNoChatflowIsToldAndAskedAboutAgain(t *testing.T) {
	t.Parallel()
	onEachFlowise(t, func(t *testing.T, s *site) {
		const fog = "the harbour master has to hear of it in case of fog"
		for ending, want := range map[string]struct{ said, list, answers string }{
			"accept":   {"The chatflow is done", "", "We open at nine"},
			"rollback": {"not accepted", "gone", ""},
			"iterate":  {"The chatflow is done", "", "We open at ten"},
		} {
			name := "Pier" + rand.Text()[:5]
			reviews := []any{decides("iterate", "feedback", fog), decides(ending)}
			plans := []any{decides("approve"), decides("approve")}
			if ending == "iterate" {
				reviews = []any{decides("iterate", "feedback", fog), decides("iterate", "feedback", `it must always reply "We open at ten"`), decides("accept")}
				plans = append(plans, decides("approve"))
			}
			view, told := s.developed(`develop a chatbot called "`+name+`" that always replies "We open at nine"`, say{
				contracts.InterruptPlanApproval: plans, contracts.InterruptResultReview: reviews,
			})
			if view.State != contracts.RunCompleted || !strings.Contains(told, want.said) {
				t.Errorf("%s: %s: %s\n%s", ending, view.State, told, states2text(view))
				continue
			}
			asked, err := s.rita.Gates(t.Context(), client.GatesFilter{RunID: view.RunID})
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range []contracts.InterruptType{contracts.InterruptPlanApproval, contracts.InterruptResultReview} {
				if !slices.ContainsFunc(asked, func(i contracts.Interrupt) bool {
					return i.Type == kind && strings.Contains(asJSON(i), "harbour master")
				}) {
					t.Errorf("%s: no %s says what is not done: %s", ending, kind, asJSON(asked))
				}
			}
			if got := s.told("list my chatflows"); strings.Contains(got, name) == (want.list == "gone") {
				t.Errorf("%s: %s", ending, got)
			}
			if want.answers != "" {
				if got := s.told(`ask the chatflow "` + name + `": "When?"`); !strings.Contains(got, want.answers) {
					t.Errorf("%s: it answers %q", ending, got)
				}
			}
		}
	})
}

// TestAChatflowBeginsWithATemplate: the person chooses it with the plan, the gate says so,
// and what else was asked for is built into it.
func TestAChatflowBeginsWithATemplate(t *testing.T) {
	t.Parallel()
	endpoint, key := flowiseServers()["in memory"](t)
	s := startSite(t)
	s.register(contracts.Registration{Domain: "flowise", URL: serveFlowise(t, endpoint, key)})
	view, told := s.developed(`develop a chatbot called "Canyon" that gives an echo of what was said`, say{
		contracts.InterruptCredentialCheck: {decides("skip")},
		contracts.InterruptPlanApproval:    {decides("approve", "approach", "template:Simple Echo")},
		contracts.InterruptResultReview:    {decides("accept")},
	})
	if view.State != contracts.RunCompleted || !strings.Contains(told, "The chatflow is done") {
		t.Fatalf("%s: %s\n%s", view.State, told, states2text(view))
	}
	gates, err := s.rita.Gates(t.Context(), client.GatesFilter{RunID: view.RunID})
	if err != nil || !slices.ContainsFunc(gates, func(i contracts.Interrupt) bool {
		return i.Type == contracts.InterruptWriteApproval && strings.Contains(asJSON(i.Evidence), "the template Simple Echo")
	}) {
		t.Errorf("no gate says what it begins with: %v %s", err, asJSON(gates))
	}
	if got := s.told(`ask the chatflow "Canyon": "Hello there"`); !strings.Contains(got, "echo:Hello there") {
		t.Errorf("it answers %q", got)
	}
}

// TestAConditionOfAChatflowIsBuiltBySentence: each case has its answer.
func TestAConditionOfAChatflowIsBuiltBySentence(t *testing.T) {
	t.Parallel()
	onEachFlowise(t, func(t *testing.T, s *site) {
		name := "Porter" + rand.Text()[:5]
		view, told := s.developed(`develop a chatbot called "`+name+`" that replies "Ring twice" if somebody mentions "parcel" or "delivery", otherwise it replies "Good day"`, say{
			contracts.InterruptPlanApproval: {decides("approve")},
			contracts.InterruptResultReview: {decides("accept")},
		})
		if view.State != contracts.RunCompleted || !strings.Contains(told, "The chatflow is done") {
			t.Fatalf("%s: %s\n%s", view.State, told, states2text(view))
		}
		gates, err := s.rita.Gates(t.Context(), client.GatesFilter{RunID: view.RunID})
		if err != nil || !slices.ContainsFunc(gates, func(i contracts.Interrupt) bool {
			shown := asJSON(i.Evidence)
			return i.Type == contracts.InterruptWriteApproval && strings.Contains(shown, "Ring twice") && strings.Contains(shown, "Good day")
		}) {
			t.Errorf("no gate shows what it answers: %v %s", err, asJSON(gates))
		}
		for question, want := range map[string]string{"I have a parcel for you": "Ring twice", "Delivery!": "Ring twice", "Is anybody there?": "Good day"} {
			if got := s.told(`ask the chatflow "` + name + `": "` + question + `"`); !strings.Contains(got, want) {
				t.Errorf("%s: %s", question, got)
			}
		}
	})
}

// TestAChangeAsksFlowiseForNoMoreThanItNeeds counts at the Flowise server what a
// change of a flow asks for: one list to find it, one read of it as it is to begin
// with; then for each iteration the check whether it still is so, one write, and its
// read-back; and its tests. Nothing is asked for between that.
func TestAChangeAsksFlowiseForNoMoreThanItNeeds(t *testing.T) {
	t.Parallel()
	for where, server := range flowiseServers() {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			endpoint, key := server(t)
			f := &front{}
			s := startSite(t)
			s.register(contracts.Registration{Domain: "flowise", URL: serveFlowise(t, f.serve(t, endpoint), key)})
			name := "Counted" + rand.Text()[:5]
			f.anew()
			s.developed(`develop a chatbot called "`+name+`" that always replies "We open at nine"`, say{
				contracts.InterruptPlanApproval: {decides("approve")},
				contracts.InterruptResultReview: {decides("accept")},
			})
			// The look before a write finds that the id is free, and the pattern is saved of
			// the flow as it is at the end.
			wantRequests(t, "a new flow", f.requests(), map[string]int{"list": 0, "read": 4, "create": 1, "write": 0, "tests": 6})

			f.anew()
			s.developed(`develop the chatflow "`+name+`" further so that it always replies "We are closed"`, say{
				contracts.InterruptSelectTarget: {"1"},
				contracts.InterruptPlanApproval: {decides("approve"), decides("approve")},
				contracts.InterruptResultReview: {decides("iterate", "feedback", `it must always reply "We open at ten"`), decides("accept")},
			})
			// Two iterations: the look before the gate, the last look, the read-back; and
			// what is tested is read once.
			wantRequests(t, "a change", f.requests(), map[string]int{"list": 1, "read": 1 + 2*(2+1+1), "create": 0, "write": 2, "tests": 2 * 6})

			f.anew()
			s.approved(`change the reply of the chatflow "` + name + `" to "By appointment"`)
			// Three look-ups of what the sentence means, and the three reads of a write.
			wantRequests(t, "an edit", f.requests(), map[string]int{"list": 1, "read": 3 + 3, "create": 0, "write": 1, "tests": 0})

			f.anew()
			s.approved(`roll back the chatflow "` + name + `" to version 1`)
			wantRequests(t, "a rollback", f.requests(), map[string]int{"list": 1, "read": 2 + 3, "create": 0, "write": 1, "tests": 0})
			s.approved(`delete the chatflow "` + name + `"`)
		})
	}
}

// wantRequests holds what was asked of Flowise about flows to numbers.
func wantRequests(t *testing.T, of string, asked []string, want map[string]int) {
	t.Helper()
	got := map[string]int{"list": 0, "read": 0, "create": 0, "write": 0, "tests": 0}
	for _, r := range asked {
		for kind, begins := range map[string]string{"read": "GET /chatflows/", "write": "PUT /chatflows/", "tests": "POST /prediction/"} {
			if strings.HasPrefix(r, begins) {
				got[kind]++
			}
		}
		switch r {
		case "GET /chatflows":
			got["list"]++
		case "POST /chatflows":
			got["create"]++
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s asks Flowise for %v, want %v:\n%s", of, got, want, strings.Join(asked, "\n"))
	}
}

// TestADevelopmentStopsWhereACredentialIsMissing: a flow that cannot run is not
// built; a person is told what is missing.
func TestADevelopmentStopsWhereACredentialIsMissing(t *testing.T) {
	t.Parallel()
	server, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	s := startSite(t)
	s.register(contracts.Registration{Domain: "flowise", URL: serveFlowise(t, front.URL, server.Key())})
	view, _ := s.developed(`develop a chatbot that uses Claude and remembers the conversation`, say{
		contracts.InterruptCredentialCheck: {decides("stop")},
	})
	if view.State == contracts.RunCompleted || !strings.Contains(asJSON(view), "anthropicApi") {
		t.Errorf("%s\n%s", view.State, states2text(view))
	}
}

// TestAnAssistantIsAskedFor: people who want a chatflow speak of an assistant and how
// it always answers, and name no part of Flowise.
func TestAnAssistantIsAskedFor(t *testing.T) {
	t.Parallel()
	server, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	s := startSite(t)
	s.register(contracts.Registration{Domain: "flowise", URL: serveFlowise(t, front.URL, server.Key())})
	for _, sentence := range []string{
		"create an assistant that always answers in Spanish",
		"build an assistant that always answers in French",
	} {
		r := s.ask(sentence)
		if len(r.RunIDs) == 0 {
			t.Errorf("%s: no run: %s", sentence, asJSON(r))
			continue
		}
		view, err := s.rita.Run(t.Context(), r.RunIDs[0], client.Opt{})
		if err != nil {
			t.Fatal(err)
		}
		if got := asJSON(view); !strings.Contains(got, "flowise.read_goal") || !strings.Contains(got, sentence) {
			t.Errorf("%s: %s", sentence, states2text(view))
		}
	}
}
