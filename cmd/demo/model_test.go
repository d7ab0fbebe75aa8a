package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/sample"
)

// play answers a run's questions by type, each list in order with the last answer repeated, and
// lets otto approve its writes. It returns the ended run, and the texts of its questions by type.
func play(t *testing.T, rita, otto *client.Client, words string, answers map[contracts.InterruptType][]any) (contracts.RunView, map[contracts.InterruptType]string) {
	t.Helper()
	shown := map[contracts.InterruptType]string{}
	r, err := rita.StartSession(t.Context(), contracts.StartSession{Message: words}, wait())
	given := map[contracts.InterruptType]int{}
	for asked := 0; err == nil && asked < 20; asked++ {
		if r, err = rita.AwaitSession(t.Context(), r.SessionID); err != nil {
			break
		}
		if len(r.Interrupts) == 0 {
			view, err := rita.Run(t.Context(), r.RunIDs[0], client.Opt{})
			if err != nil {
				t.Fatal(err)
			}
			return view, shown
		}
		i := r.Interrupts[0]
		shown[i.Type] += text(i)
		if i.Type == contracts.InterruptWriteApproval {
			_, err = otto.Approve(t.Context(), i, "", client.Opt{})
		} else {
			is := answers[i.Type]
			response := is[min(given[i.Type], len(is)-1)]
			given[i.Type]++
			_, err = rita.Resume(t.Context(), r.SessionID, contracts.Resume{InterruptID: i.InterruptID, Response: response}, client.Opt{})
		}
	}
	t.Fatalf("%q does not end: %+v, %v", words, r, err)
	return contracts.RunView{}, nil
}

// TestTheScriptedModelDevelopsAChatflow does the guide's sixth step: the message does not say what the
// chatflow answers, so the model plans, bounds and writes it, and revises it after the review. A
// goal that is not in the script is done by the fallbacks, which say so.
func TestTheScriptedModelDevelopsAChatflow(t *testing.T) {
	t.Parallel()
	sample.Long(t, "it starts a demo")
	s, out, _ := start(t, "--model", "scripted")
	rita, otto := with(t, s, s.Keys.Requester), with(t, s, s.Keys.Approver)
	approve, accept := map[string]any{"decision": "approve"}, map[string]any{"decision": "accept"}
	accepts := map[contracts.InterruptType][]any{contracts.InterruptPlanApproval: {approve}, contracts.InterruptResultReview: {accept}}
	iterates := map[contracts.InterruptType][]any{contracts.InterruptPlanApproval: {approve}, contracts.InterruptResultReview: {
		map[string]any{"decision": "iterate", "feedback": "rooms are ready at four now"}, accept,
	}}
	thinking := []string{"classify_intent", "plan", "define_patch_scope", "compile_patch_ir"}
	again := []string{"plan#2", "define_patch_scope#2", "compile_patch_ir#2"}
	v, _ := play(t, rita, otto, quoted(printed(t, out.String(), "manifold ask 'develop")), iterates)
	if v.State != contracts.RunCompleted || v.Verdict.Status != contracts.VerdictVerified || v.Tokens.Out == 0 {
		t.Fatalf("%s %+v %+v", v.State, v.Verdict, v.Tokens)
	}
	thought := 0
	for _, n := range v.Nodes {
		if !slices.Contains(thinking, n.NodeID) && !slices.Contains(again, n.NodeID) {
			continue
		}
		thought++
		if n.Fallback != "" || len(n.Calls) != 1 {
			t.Errorf("%s: fallback %q, %d calls", n.NodeID, n.Fallback, len(n.Calls))
		}
	}
	if thought != len(thinking)+len(again) {
		t.Errorf("the model thought %d times", thought)
	}
	r, err := rita.StartSession(t.Context(), contracts.StartSession{Message: `ask the chatflow "Concierge": "May I come at noon?"`}, wait())
	if err != nil || !strings.Contains(text(r.Answer), "four in the afternoon") {
		t.Errorf("it answers %+v, %v", r.Answer, err)
	}

	changedAndTakenBack(t, rita, otto)

	v, _ = play(t, rita, otto, `develop a chatbot called "Porter" that always replies "Closed"`, accepts)
	if v.State != contracts.RunCompleted || v.Verdict.Status != contracts.VerdictVerified {
		t.Fatalf("%s %+v", v.State, v.Verdict)
	}
	for _, n := range v.Nodes {
		if slices.Contains(thinking, n.NodeID) && (n.Fallback == "" || len(n.Calls) != 1) {
			t.Errorf("%s without a script: fallback %q, %d calls", n.NodeID, n.Fallback, len(n.Calls))
		}
	}
}

// changedAndTakenBack lets the model change the chatflow by name; the reviewer sees the change, its
// cost and its place, and undoes it.
func changedAndTakenBack(t *testing.T, rita, otto *client.Client) {
	t.Helper()
	back := map[contracts.InterruptType][]any{
		contracts.InterruptSelectTarget: {"1"},
		contracts.InterruptPlanApproval: {map[string]any{"decision": "approve"}},
		contracts.InterruptResultReview: {map[string]any{"decision": "rollback"}},
	}
	v, shown := play(t, rita, otto, `develop the chatflow "Concierge" further so that guests learn that the breakfast ends at eleven`, back)
	if v.State != contracts.RunCompleted {
		t.Fatalf("%s: %s", v.State, text(v))
	}
	tools := map[string]contracts.NodeState{}
	for _, n := range v.Nodes {
		tools[n.NodeID] = n.State
		if slices.Contains([]string{"classify_intent", "plan", "define_patch_scope", "compile_patch_ir"}, n.NodeID) && (n.Fallback != "" || len(n.Calls) != 1) {
			t.Errorf("%s: fallback %q, %d calls", n.NodeID, n.Fallback, len(n.Calls))
		}
	}
	if tools["apply_patch"] != contracts.NodeCompleted || tools["restore_version"] != contracts.NodeCompleted {
		t.Errorf("it was not changed and restored: %v", tools)
	}
	review := shown[contracts.InterruptResultReview]
	for _, want := range []string{"eleven", ": passed, 1 of 1, ", "tokens", "/v2/agentcanvas/", "tests_took"} {
		if !strings.Contains(review, want) {
			t.Errorf("the review does not show %q: %s", want, review)
		}
	}
	plan := shown[contracts.InterruptPlanApproval]
	for _, want := range []string{"goal", "domain_targets", "credentials", "data_fields", "pii_fields", "success_criteria", "action"} {
		if !strings.Contains(plan, `"`+want+`"`) {
			t.Errorf("the plan does not say %q: %s", want, plan)
		}
	}
	r, err := rita.StartSession(t.Context(), contracts.StartSession{Message: `ask the chatflow "Concierge": "May I come at noon?"`}, wait())
	if err != nil || !strings.Contains(text(r.Answer), "four in the afternoon") {
		t.Errorf("after the rollback it answers %+v, %v", r.Answer, err)
	}
}

// text returns a value as JSON.
func text(v any) string {
	body, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(body)
}
