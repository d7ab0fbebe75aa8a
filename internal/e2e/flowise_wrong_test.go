package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// erring is a model that keeps to every schema and whose ops are wrong each time.
func erring(ops string) *scripted.Script {
	return says(
		scripted.Rule{System: "Say whether the goal asks for a new flow", Answer: whole(`{"intent":"create","target_name":"","needs":[],"confidence":0.9}`)},
		scripted.Rule{System: "what success means in sentences", Answer: whole(`{"contract":{"action":"create","name":"Erring","goal":"Guests are greeted.","domain_targets":[],"credentials":[],` +
			`"data_fields":[],"pii_fields":[],"success_criteria":["answers with \"Hello\""]},"approaches":[]}`)},
		scripted.Rule{System: "Bound the change before it is written", Answer: whole(`{"max_ops":6,"focus_nodes":[],"protected_nodes":[]}`)},
		scripted.Rule{System: "Write a JSON list of ops", Answer: whole(`{"ops":` + ops + `}`)},
	)
}

// TestAModelThatAlwaysErrsEndsAtAPerson: a development whose model is wrong each time
// it is asked, whatever people let it try again, waits for a person each time and
// ends within its budget; nothing is written at the Flowise server.
func TestAModelThatAlwaysErrsEndsAtAPerson(t *testing.T) {
	t.Parallel()
	// A person agrees to everything but a write, and lets it try again while it may.
	for name, c := range map[string]struct {
		answers scripted.Answerer
		own     bool // it is the model that did the steps
		long    bool // it is not played with each commit
		until   contracts.InterruptType
	}{
		"ops that do not compile":  {erring(`[{"op_type":"SetParam","node_id":"nobody_0","param_name":"x","value":"y"}]`), true, true, contracts.InterruptResultReview},
		"ops that do not validate": {erring(`[{"op_type":"AddNode","node_name":"directReplyAgentflow","node_id":"directReplyAgentflow_0"}]`), true, true, contracts.InterruptResultReview},
		"ops of no known kind":     {erring(`[{"op_type":"Wish"}]`), true, false, contracts.InterruptResultReview},
		"more ops than it may":     {erring(`[` + strings.Repeat(`{"op_type":"SetParam","node_id":"a","param_name":"x","value":"y"},`, 60) + `{"op_type":"RemoveNode","node_id":"a"}]`), true, false, contracts.InterruptResultReview},
		"against every schema":     {says(scripted.Rule{Answer: whole(`{"ops":"none","contract":7,"intent":"dance"}`)}), false, true, contracts.InterruptWriteApproval},
		"answers that break":       {says(scripted.Rule{Answer: scripted.Answer{Fault: scripted.FaultGarbled}}), false, true, contracts.InterruptWriteApproval},
		"errors":                   {says(scripted.Rule{Answer: scripted.Answer{Fault: scripted.FaultBroken}}), false, false, contracts.InterruptWriteApproval},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.long && !longTests() {
				t.Skip("MANIFOLD_NIGHTLY is not set")
			}
			asked, model := modelled(t, app.EngineOpenAI, c.answers)
			endpoint, key := flowiseServers()["in memory"](t)
			f := &front{}
			s := startSite(t, model)
			s.register(contracts.Registration{Domain: "flowise", URL: serveFlowise(t, f.serve(t, endpoint), key)})
			f.anew()
			view, last, reviews := s.refused(`develop a chatbot called "Erring" that always replies "Hello"`)
			if last.Type != c.until || view.State == contracts.RunCompleted && last.Type != contracts.InterruptResultReview {
				t.Errorf("%s after %q: %s\n%s", view.State, last.Type, asJSON(last), states2text(view))
			}
			for _, r := range f.requests() {
				if !strings.HasPrefix(r, "GET ") {
					t.Errorf("asked Flowise for %s", r)
				}
			}
			if c.own && reviews != 6 {
				t.Errorf("a person was asked %d times", reviews)
			}
			if view.Tokens.In+view.Tokens.Out > 80_000 || asked.Count() > 40 || asked.Count() < 4 {
				t.Errorf("%d requests, %+v", asked.Count(), view.Tokens)
			}
			plan := nodeIn(view, "compile_patch_ir", []contracts.NodeState{contracts.NodeCompleted})
			if c.own != (plan.Fallback == "") {
				t.Errorf("own %v, fallback %q", c.own, plan.Fallback)
			}
		})
	}
}

// refused plays a development whose writes nobody wants: it gives the run at its end,
// the last question, and how often the result was shown for review. Who looks sees
// each question.
func (s *site) refused(sentence string, looks ...func(contracts.Interrupt)) (contracts.RunView, contracts.Interrupt, int) {
	s.t.Helper()
	r := s.ask(sentence)
	if len(r.RunIDs) == 0 {
		s.t.Fatalf("%s: no run: %s", sentence, asJSON(r))
	}
	var last contracts.Interrupt
	reviews, seen := 0, map[string]bool{}
	view := eventually(s.t, "the end of "+sentence, func() (contracts.RunView, bool) {
		view, err := s.rita.Run(s.t.Context(), r.RunIDs[0], client.Opt{})
		if err != nil || view.State.Terminal() {
			return view, err == nil
		}
		for _, i := range view.Interrupts {
			if i.Status != contracts.InterruptOpen || seen[i.InterruptID] {
				continue
			}
			seen[i.InterruptID], last = true, i
			for _, look := range looks {
				look(i)
			}
			answer := decides("approve")
			switch i.Type { //nolint:exhaustive // whatever else is asked is agreed to
			case contracts.InterruptWriteApproval:
				if _, err := s.otto.Reject(s.t.Context(), i, "not this", client.Opt{}); err != nil {
					s.t.Fatal(err)
				}
				continue
			case contracts.InterruptResultReview:
				reviews++
				if i.Show["problems"] == nil {
					s.t.Errorf("it does not show what is wrong: %s", asJSON(i.Show))
				}
				if slices.Contains(i.Answers, "accept") {
					s.t.Errorf("what was not written can be accepted: %s", asJSON(i.Answers))
				}
				answer = decides("iterate", "feedback", "try again")
				if !slices.Contains(i.Answers, "iterate") || reviews > 5 {
					answer = decides("stop")
				}
			}
			if _, err := s.rita.Resume(s.t.Context(), r.SessionID, contracts.Resume{InterruptID: i.InterruptID, Response: answer}, client.Opt{}); err != nil {
				s.t.Fatalf("answer %s: %v\n%s", i.Type, err, asJSON(i))
			}
		}
		time.Sleep(10 * time.Millisecond)
		return view, false
	})
	return view, last, reviews
}
