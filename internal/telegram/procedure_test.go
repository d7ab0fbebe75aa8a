package telegram_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/telegram/telegramtest"
)

// rehearsal is a pack whose only workflow asks every kind of question, around one write.
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

// asked waits for a question or an end, and checks its buttons. Progress messages have the same
// words, but no buttons.
func (w *world) asked(words string, buttons ...string) telegramtest.Message {
	w.t.Helper()
	m := w.sees(ritaID, "question: "+words, func(m telegramtest.Message) bool {
		return strings.Contains(m.Text, words) && !strings.HasPrefix(m.Text, "Working…") && (len(buttons) == 0 || len(m.Buttons) > 0)
	})
	for i, want := range buttons {
		if i >= len(m.Buttons) || !strings.HasSuffix(m.Buttons[i].Text, want) {
			w.t.Errorf("%q has the buttons %+v, and not %v", words, m.Buttons, buttons)
		}
	}
	return m
}

// presses lets rita press the button of an answer. A question that arrives while an earlier answer is
// processed is shown again, and its first message loses the buttons.
func (w *world) presses(m telegramtest.Message, answer string) {
	w.t.Helper()
	button := func(shown telegramtest.Message) string {
		for _, b := range shown.Buttons {
			if shown.Text == m.Text && strings.HasSuffix(b.Text, answer) {
				return b.Data
			}
		}
		return ""
	}
	if button(m) == "" {
		m = w.sees(ritaID, "button "+answer, func(shown telegramtest.Message) bool { return button(shown) != "" })
	}
	w.rita.PressesData(m, button(m))
}

// approved lets otto approve the next gate, which rita is shown without asking, and which she may
// withdraw.
func (w *world) approved(done map[string]bool) {
	w.t.Helper()
	code := ""
	w.sees(ritaID, "gate", func(m telegramtest.Message) bool {
		for _, b := range m.Buttons {
			if of, is := strings.CutPrefix(b.Text, "Withdraw "); is && !done[of] {
				code = of
				return true
			}
		}
		return false
	})
	done[code] = true
	w.otto.Says("/gate " + code)
	w.otto.Presses(w.reads(ottoID, code, "risk"), "Approve")
}

// opens waits until the only session is at a gate of a type, whatever its chat shows.
func (w *world) opens(kind contracts.InterruptType) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	of := func(i contracts.Interrupt) bool { return i.Type == kind && i.Status == contracts.InterruptOpen }
	for e, err := range w.admin().Stream(ctx, gates(w)[0].SessionID, 0) {
		if err != nil {
			w.t.Fatalf("no gate of type %s opens: %v", kind, err)
		}
		if e.Type == contracts.EventInterrupt && slices.ContainsFunc(gates(w), of) {
			return
		}
	}
}

// TestEveryQuestionOfAWorkflowIsAnsweredInTelegram: a search and a choice, a retry and a skip, a
// value, a rejection and an edit, an iteration, and a rollback that undoes both writes, each with
// its gate.
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
	end := w.asked("Rehearsed: rollback.")
	if strings.Count(end.Text, "Taken back: ") != 2 {
		t.Errorf("it ends with %q", end.Text)
	}
	if set, deleted := w.domain.called("set_price_alert"), w.domain.called("delete_price_alert"); set != 2 || deleted != 2 {
		t.Errorf("%d alerts were set, and %d deleted", set, deleted)
	}
}

// TestAWorkflowIsAcceptedInTelegram: the answers that the other test does not give. Telegram is
// slow when an answer opens the next gate, so that the gate is open before the chat is refreshed:
// the run is followed nevertheless.
func TestAWorkflowIsAcceptedInTelegram(t *testing.T) {
	t.Parallel()
	w := onStage(t)
	w.rita.Says("rehearse the questions")
	w.presses(w.asked("Which part?", "plain one"), "Create new")
	question := w.asked("try 1")
	if !strings.Contains(question.Text, "create_new") {
		t.Errorf("it shows %q", question.Text)
	}
	w.presses(question, "Skip")
	w.asked("How many?")
	w.rita.Says("2")
	draft := w.asked("draft 1", "Approve")
	release := w.api.Hold("answerCallbackQuery")
	defer release()
	w.presses(draft, "Approve")
	w.opens(contracts.InterruptWriteApproval)
	release()
	w.approved(map[string]bool{})
	w.presses(w.asked("round 1"), "Accept")
	w.asked("Rehearsed: accept.")
	if n := w.domain.called("set_price_alert"); n != 1 {
		t.Errorf("%d alerts were set", n)
	}
}

func TestAWorkflowIsStoppedInTelegram(t *testing.T) {
	t.Parallel()
	w := onStage(t)
	w.rita.Says("rehearse the questions")
	w.presses(w.asked("Which part?", "plain one"), "Create new")
	w.presses(w.asked("try 1"), "Stop")
	w.asked("cancelled")
	if n := w.domain.called("set_price_alert"); n != 0 {
		t.Errorf("%d alerts were set", n)
	}
}
