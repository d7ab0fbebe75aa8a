package telegram_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/telegram/telegramtest"
)

// counted counts the messages of a chat that start with a word.
func (w *world) counted(chat int64, word string) int {
	n := 0
	for _, m := range w.api.Messages(chat) {
		if strings.HasPrefix(m.Text, word) {
			n++
		}
	}
	return n
}

// TestRemindersAndTheEscalationReachWhoMayDecide: the approver chats are reminded, once also over a
// restart; an escalation is sent to its person's own chat, and decided gates cause no messages.
func TestRemindersAndTheEscalationReachWhoMayDecide(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	w := setup(t, func(c *app.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
		c.Telegram.Approvers = []int64{ottoID, group}
		c.Telegram.People[evaID] = app.TelegramPerson{Name: "eva", Roles: []string{"approver"}}
		c.Bootstrap = []byte(strings.TrimSuffix(string(c.Bootstrap), "}") +
			`,"site_policy":{"review":{"rules":[{"remind_s":60,"escalate_s":100,"escalate_to":["eva"]}]}}}`)
	})
	w.rita.Says(alert)
	code := strings.Fields(w.reads(ottoID, "AAPL", "approve ").Buttons[0].Text)[1]
	later.Add(int64(61 * time.Second))
	w.rita.Says(price) // this causes a change, so that the test need not wait for the clock
	w.reads(ottoID, "Reminder: ", code, "/gate "+code)
	w.reads(group, "Reminder: ", code)
	w.stop()
	later.Add(int64(45 * time.Second))
	w.start() // it checks at once, first what was sent to otto's chat before
	w.reads(evaID, "Escalated to you: ", code)
	if n, e := w.counted(ottoID, "Reminder: "), w.counted(ottoID, "Escalated"); n != 1 || e != 0 {
		t.Errorf("otto is reminded %d times, and escalated to %d times", n, e)
	}
	if n := w.counted(evaID, "Reminder: "); n != 0 {
		t.Errorf("eva, whose chat is none of approvers, is reminded %d times", n)
	}
	w.otto.Says("/gate " + code)
	w.otto.Presses(w.sees(ottoID, "the gate", func(m telegramtest.Message) bool { return len(m.Buttons) > 0 && strings.Contains(m.Text, code) }), "Approve")
	w.reads(ritaID, "verified")
	later.Add(int64(10 * time.Minute))
	w.rita.Says("set an alert for MSFT above 300")
	w.reads(ottoID, "MSFT", "approve ") // it has checked
	if n := w.counted(ottoID, "Reminder: "); n != 1 {
		t.Errorf("otto is reminded %d times, of what is decided as well", n)
	}
}
