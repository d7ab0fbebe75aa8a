package orchestrator_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/runs"
)

func TestANameThatWasNotFoundIsAskedAndSearchedAgain(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	say := func(key, words string) orchestrator.SessionView {
		t.Helper()
		state, err := o.Chat(t.Context(), ana, inChat("c", key, words))
		if err == nil {
			state, err = o.Await(t.Context(), ana, state, patience)
		}
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	asks := func(state orchestrator.SessionView, options int, words string) {
		t.Helper()
		if len(state.Open) != 1 || state.Open[0].Type != contracts.InterruptClarification || len(state.Open[0].Options) != options || !strings.Contains(state.Open[0].Prompt, words) {
			t.Fatalf("want a question with %d options about %s, got %+v, answer %s", options, words, state.Open, text(state.Answer))
		}
	}
	asks(say("m1", "book 2 days off for Zoltan Kiss from 2026-12-07"), 0, "Nothing was found. Which worker?")
	second := say("m2", "Zoltan")
	asks(second, 0, "Nothing was found. Which worker?")
	asks(say("m3", "Ana"), 2, "")
	state := say("m4", "2")
	if len(state.Open) != 1 || state.Open[0].Type != contracts.InterruptWriteApproval || state.Open[0].Label("worker") != "Ana Lopes" {
		t.Fatalf("the gate is %+v", state.Open)
	}
	if again := say("m3", "Ana"); again.RunID != state.RunID {
		t.Errorf("the repeated answer leads to run %q, not %q", again.RunID, state.RunID)
	}
	if runs, err := o.Runs.List(t.Context(), ana, runs.Filter{}); err != nil || len(runs.Items) != 1 {
		t.Errorf("%d runs, %v", len(runs.Items), err)
	}
}

func TestARequestIsNotTakenForANameToSearch(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	r := o.ask("book 2 days off for Zoltan Kiss from 2026-12-07")
	r, err := o.Say(t.Context(), ana, r.SessionID, "show the leave balance of Chen Wei", "k2", patience)
	if err != nil || len(r.RunIDs) != 2 || len(r.Interrupts) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = o.Say(t.Context(), ana, r.SessionID, "Bruno", "k3", patience)
	if err != nil || len(r.Interrupts) != 1 || r.Interrupts[0].Type != contracts.InterruptWriteApproval {
		t.Errorf("%+v, %v", r.Interrupts, err)
	}
}

func TestEveryDoorSearchesAgain(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	entry, _ := o.catalog.Capability("people.book_leave")
	told := bytes.Replace(entry.Capability.Schema, []byte(`"type": "string"`), []byte(`"type": "string", "pattern": "^w[0-9]+$"`), 1)
	if bytes.Equal(told, entry.Capability.Schema) {
		t.Fatal("the schema of workers has changed")
	}
	entry.Capability.Schema = told
	r := o.ask("book 2 days off for Zoltan Kiss from 2026-12-07")
	var err error
	if r, err = o.Resume(t.Context(), ana, r.SessionID, contracts.Resume{Response: "Zoltan"}, patience); err != nil || len(r.Interrupts) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err = o.Resume(t.Context(), ana, r.SessionID, contracts.Resume{Response: "w2"}, patience); err != nil || len(r.Interrupts) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if g := r.Interrupt; g.Type != contracts.InterruptWriteApproval || g.Action.Parameters["worker"] != "w2" {
		t.Errorf("%+v", g)
	}
}
