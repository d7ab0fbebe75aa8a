package orchestrator_test

import (
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
)

// TestWhatIsDueOfAGate: reminders every ten minutes, an escalation after 25, and the expiry after
// 35.
func TestWhatIsDueOfAGate(t *testing.T) {
	t.Parallel()
	at := func(minutes int) time.Time { return time.Date(2027, 1, 1, 12, minutes, 0, 0, time.UTC) }
	gate := contracts.Interrupt{CreatedAt: at(0), RemindS: 600, EscalateAt: new(at(25)), ExpiresAt: new(at(35))}
	for minutes, want := range map[int]struct {
		due  orchestrator.DueNotices
		next time.Time
	}{
		0:  {orchestrator.DueNotices{}, at(10)},
		9:  {orchestrator.DueNotices{}, at(10)},
		10: {orchestrator.DueNotices{Reminder: "reminder-1"}, at(20)},
		24: {orchestrator.DueNotices{Reminder: "reminder-2"}, at(25)},
		26: {orchestrator.DueNotices{Reminder: "reminder-2", Escalation: "escalation"}, at(30)},
		31: {orchestrator.DueNotices{Reminder: "reminder-3", Escalation: "escalation"}, time.Time{}},
	} {
		if due, next := orchestrator.NoticesDue(gate, at(minutes)); due != want.due || !next.Equal(want.next) {
			t.Errorf("after %d minutes %+v, next %v", minutes, due, next)
		}
	}
	gate.ExpiresAt, gate.EscalateAt = nil, nil
	if due, next := orchestrator.NoticesDue(gate, at(10*(orchestrator.MaxReminders+5))); due.Reminder != "reminder-20" || !next.IsZero() {
		t.Errorf("after the last: %+v, next %v", due, next)
	}
	if due, next := orchestrator.NoticesDue(contracts.Interrupt{CreatedAt: at(0)}, at(90)); due != (orchestrator.DueNotices{}) || !next.IsZero() {
		t.Errorf("a gate without reminders: %+v, next %v", due, next)
	}
}
