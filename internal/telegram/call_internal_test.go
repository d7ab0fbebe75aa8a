package telegram

import (
	"log/slog"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/orchestratortest"
)

// TestAReminderThatACrashHasCutOffIsNotSaidTwice: it was stored, and it is unknown whether it
// arrived. There is no sender, so sending it again would panic.
func TestAReminderThatACrashHasCutOffIsNotSaidTwice(t *testing.T) {
	t.Parallel()
	in := &box{inbox: orchestratortest.NewStore(), channel: "c", now: time.Now, logger: slog.New(slog.DiscardHandler)}
	id := callID{"gate_a", 22, "reminder-1"}
	if _, err := in.receive(t.Context(), []orchestrator.InboxMessage{{ID: id.String(), Body: []byte(`{}`)}}); err != nil {
		t.Fatal(err)
	}
	c := &caller{box: in, told: map[callID]int{}}
	if err := c.remember(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.call(t.Context(), id, contracts.Interrupt{InterruptID: "gate_a"}); err != nil {
		t.Error(err)
	}
	// Another server has sent the next one: it is in the shared inbox.
	id.event = "reminder-2"
	if _, err := in.receive(t.Context(), []orchestrator.InboxMessage{{ID: id.String(), Body: []byte(`{}`)}}); err != nil {
		t.Fatal(err)
	}
	if err := c.call(t.Context(), id, contracts.Interrupt{InterruptID: "gate_a"}); err != nil {
		t.Error(err)
	}
}
