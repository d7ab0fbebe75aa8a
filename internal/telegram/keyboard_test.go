package telegram_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/telegram/telegramtest"
)

// bare waits until a message has no buttons.
func (w *world) bare(m telegramtest.Message) {
	w.t.Helper()
	w.sees(m.Chat, fmt.Sprintf("message %d without buttons", m.ID), func(now telegramtest.Message) bool {
		return now.ID == m.ID && len(now.Buttons) == 0
	})
}

// TestNoButtonsStayBelowWhatIsClosed: a question that is answered by text, and a gate that is shown in
// three places and decided in another interface.
func TestNoButtonsStayBelowWhatIsClosed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.rita.Says("set an alert above 250")
	question := w.reads(ritaID, "For which stock?", "2. ")
	w.rita.Says("2")
	gate := w.reads(ritaID, "MSFT", "Somebody else has to approve")
	if len(question.Buttons) == 0 || len(gate.Buttons) == 0 {
		t.Fatalf("no buttons to begin with: %+v %+v", question, gate)
	}
	w.bare(question)
	code := strings.Fields(gate.Buttons[0].Text)[1]
	w.otto.Says("/gate " + code)
	shown := w.reads(ottoID, code, "risk")
	w.rita.Says("/status")
	again := w.sees(ritaID, "the status", func(m telegramtest.Message) bool { return m.ID > gate.ID && strings.Contains(m.Text, code) })
	i, err := w.admin().Gate(t.Context(), code)
	if err == nil {
		_, err = w.admin().Reject(t.Context(), i, "not now", client.Opt{})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []telegramtest.Message{gate, shown, again} {
		w.bare(m)
	}
}

// TestAQuestionThatIsAnsweredElsewhereGoesOnHere: the chat that asked loses its buttons and is
// notified of the next step; pressing an old button says who has answered.
func TestAQuestionThatIsAnsweredElsewhereGoesOnHere(t *testing.T) {
	t.Parallel()
	w := onStage(t)
	w.rita.Says("rehearse the questions")
	question := w.asked("Which part?", "plain one")
	i := gates(w)[0]
	if _, err := w.admin().Answer(t.Context(), i, map[string]any{"decision": "create_new"}, client.Opt{}); err != nil {
		t.Fatal(err)
	}
	next := w.asked("try 1", "Retry")
	w.bare(question)
	w.presses(question, "plain one")
	w.told(i.Code+" is answered, by", "admin")
	if now := w.asked("try 1"); len(now.Buttons) != len(next.Buttons) {
		t.Errorf("the press of an old button has changed what is asked now: %+v", now)
	}
	for _, i := range gates(w) {
		if i.Status == contracts.InterruptOpen && i.Type != contracts.InterruptCredentialCheck {
			t.Errorf("%s is open", i.Type)
		}
	}
}
