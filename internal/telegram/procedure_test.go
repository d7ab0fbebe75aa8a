package telegram_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/telegram/telegramtest"
)

// rehearsal is a pack whose one workflow asks every question that a workflow can
// ask, around one write.
const rehearsal = `{"domain": "stage", "pack": {"schema_version": "1", "domain": "stage", "version": "1", "workflows": [{
  "name": "rehearse_questions", "description": "Rehearses the questions of a workflow.", "schema": {"type": "object", "properties": {}},
  "metadata": {"intent_hints": {"examples": ["rehearse the questions", "please rehearse the questions", "rehearse the questions with me", "let us rehearse the questions", "rehearse all questions"], "not": ["what is the price"]}},
  "steps": [
    {"id": "find", "kind": "set", "set": {"found": "${[{'value': 'v1', 'label': (has(round.with.words) ? string(round.with.words) : 'plain') + ' one'}, {'value': 'v2', 'label': 'another'}]}"}},
    {"id": "which", "kind": "human", "depends_on": ["find"], "human": {"interrupt": "select_target", "prompt": "Which part?",
      "options_from": "${steps.find.facts.found}", "allow": ["choose", "create_new", "search"]},
      "on": [{"answer": "search", "goto": "find", "max": 3, "with": {"words": "${steps.which.facts.value}"}}]},
    {"id": "ready", "kind": "human", "depends_on": ["which"], "human": {"interrupt": "credential_check", "prompt": "A key is missing (try ${string(round.n)}).",
      "show": {"missing": "${[{'name': 'openai', 'create_at': 'https://keys.example.com/new'}]}", "chosen": "${steps.which.facts.decision}"}, "allow": ["retry", "skip", "stop"]},
      "on": [{"answer": "retry", "goto": "ready", "max": 3}]},
    {"id": "count", "kind": "human", "depends_on": ["ready"], "human": {"interrupt": "clarification", "prompt": "How many?", "response_schema": {"type": "integer", "minimum": 1}}},
    {"id": "agree", "kind": "human", "depends_on": ["count"], "human": {"interrupt": "plan_approval", "prompt": "Shall it be so (draft ${string(round.n)})?",
      "value": {"title": "First", "count": "${steps.count.facts.value}"}, "allow": ["approve", "edit", "reject"]},
      "on": [{"answer": "reject", "goto": "agree", "max": 2, "with": {"why": "${steps.agree.facts.feedback}"}}]},
    {"id": "alert", "kind": "tool", "tool": "finance.set_price_alert", "depends_on": ["agree"], "params": {"symbol": "AAPL", "above": "${round.n == 1 ? 250 : 260}"}},
    {"id": "look", "kind": "human", "depends_on": ["alert"], "human": {"interrupt": "result_review", "prompt": "Good so (round ${string(round.n)})?",
      "show": {"title": "${steps.agree.facts.value.title}"}, "allow": ["accept", "iterate", "rollback", "stop"]},
      "on": [{"answer": "iterate", "goto": "alert", "max": 2}]}],
  "result": {"summary": "Rehearsed: ${steps.look.facts.decision}."}}]}}`

func onStage(t *testing.T) *world {
	t.Helper()
	return setup(t, func(c *app.Config) {
		c.Bootstrap = []byte(strings.Replace(string(c.Bootstrap), "]}", ","+rehearsal+"]}", 1))
	})
}

// asked waits for a question, and holds its buttons against those that are wanted.
func (w *world) asked(words string, buttons ...string) telegramtest.Message {
	w.t.Helper()
	m := w.reads(ritaID, words)
	for i, want := range buttons {
		if i >= len(m.Buttons) || !strings.HasSuffix(m.Buttons[i].Text, want) {
			w.t.Errorf("%q has the buttons %+v, and not %v", words, m.Buttons, buttons)
		}
	}
	return m
}

// presses has rita press the button of an answer.
func (w *world) presses(m telegramtest.Message, answer string) {
	w.t.Helper()
	for _, b := range m.Buttons {
		if strings.HasSuffix(b.Text, answer) {
			w.rita.PressesData(m, b.Data)
			return
		}
	}
	w.t.Fatalf("there is no button %q below %+v", answer, m)
}

// approved lets otto approve the next gate that waits for him.
func (w *world) approved(done map[string]bool) {
	w.t.Helper()
	var gate contracts.Interrupt
	w.api.Until("a gate waits", func() bool {
		for _, i := range gates(w) {
			if i.Type == contracts.InterruptWriteApproval && i.Status == contracts.InterruptOpen && !done[i.Code] {
				gate = i
				return true
			}
		}
		return false
	})
	done[gate.Code] = true
	w.otto.Says("show " + gate.Code)
	w.otto.Presses(w.reads(ottoID, gate.Code, "risk"), "Approve")
}

// TestEveryQuestionOfAWorkflowIsAnsweredInTelegram: a search and a choice, a retry
// and a skip, a value, a rejection and an edit, an iteration, and a rollback that
// takes back both writes, each behind its gate.
func TestEveryQuestionOfAWorkflowIsAnsweredInTelegram(t *testing.T) {
	t.Parallel()
	w := onStage(t)
	done := map[string]bool{}
	w.rita.Says("rehearse the questions")
	w.asked("plain one", "plain one", "another", "Create new")
	w.rita.Says("search: red")
	w.presses(w.asked("red one", "red one", "another"), "red one")
	first := w.asked("try 1", "Retry", "Skip", "Stop")
	if !strings.Contains(first.Text, "https://keys.example.com/new") || !strings.Contains(first.Text, "choose") {
		t.Errorf("it shows %q", first.Text)
	}
	w.presses(first, "Retry")
	w.presses(w.asked("try 2", "Retry", "Skip", "Stop"), "Skip")
	w.asked("How many?")
	w.rita.Says("3")
	draft := w.asked("draft 1", "Approve")
	if strings.Contains(draft.Text, "Plan: ") {
		t.Errorf("the plan was shown above the first question, and is shown again: %q", draft.Text)
	}
	if !strings.Contains(draft.Text, "First") || !strings.Contains(draft.Text, "3") {
		t.Errorf("what is to be approved is not shown: %q", draft.Text)
	}
	w.rita.Says("reject: not yet")
	w.asked("draft 2")
	w.rita.Says("edit: title = Better")
	w.approved(done)
	review := w.asked("round 1", "Accept", "Rollback", "Stop")
	if !strings.Contains(review.Text, "Better") {
		t.Errorf("what was edited is not what is shown: %q", review.Text)
	}
	w.rita.Says("iterate: higher")
	w.approved(done)
	w.presses(w.asked("round 2", "Accept", "Rollback", "Stop"), "Rollback")
	w.approved(done)
	w.approved(done)
	// Asked for: now and then the end of a run whose gates followed each other at
	// once is not told by itself.
	w.rita.Says("status")
	end := w.reads(ritaID, "Rehearsed: rollback.")
	if strings.Count(end.Text, "Taken back: ") != 2 {
		t.Errorf("it ends with %q", end.Text)
	}
	if set, deleted := w.domain.called("set_price_alert"), w.domain.called("delete_price_alert"); set != 2 || deleted != 2 {
		t.Errorf("%d alerts were set, and %d deleted", set, deleted)
	}
}

// TestAWorkflowIsAcceptedOrStoppedInTelegram: the answers that the other tale does
// not give.
func TestAWorkflowIsAcceptedOrStoppedInTelegram(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		stop  bool
		ends  string
		calls int
	}{
		"accepted": {false, "Rehearsed: accept.", 1},
		"stopped":  {true, "", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := onStage(t)
			w.rita.Says("rehearse the questions")
			w.presses(w.asked("Which part?", "plain one"), "Create new")
			question := w.asked("try 1")
			if !strings.Contains(question.Text, "create_new") {
				t.Errorf("it shows %q", question.Text)
			}
			if tc.stop {
				w.presses(question, "Stop")
				w.reads(ritaID, "cancelled")
			} else {
				w.presses(question, "Skip")
				w.asked("How many?")
				w.rita.Says("2")
				w.presses(w.asked("draft 1", "Approve"), "Approve")
				w.approved(map[string]bool{})
				w.presses(w.asked("round 1"), "Accept")
				w.reads(ritaID, tc.ends)
			}
			if n := w.domain.called("set_price_alert"); n != tc.calls {
				t.Errorf("%d alerts were set", n)
			}
		})
	}
}
