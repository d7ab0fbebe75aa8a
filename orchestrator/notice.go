package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/execution"
)

// InterruptNotice is the body of a webhook call about an interrupt that waits for a person. It has
// what is needed to find and understand the question, but no parameters: they may be personal, and
// are shown at the gate to those who may read it.
type InterruptNotice struct {
	// Event is "interrupt" when the interrupt opens, and later "reminder" or "escalation" for the
	// people in To.
	Event       string                  `json:"event"`
	SessionID   string                  `json:"session_id"`
	RunID       string                  `json:"run_id,omitempty"`
	NodeID      string                  `json:"node_id,omitempty"`
	InterruptID string                  `json:"interrupt_id"`
	Code        string                  `json:"code"`
	Type        contracts.InterruptType `json:"type"`
	ToolName    string                  `json:"tool_name,omitempty"`
	RiskLevel   contracts.RiskLevel     `json:"risk_level,omitempty"`
	Reason      string                  `json:"reason,omitempty"`
	Prompt      string                  `json:"prompt"`
	CreatedAt   time.Time               `json:"created_at"`
	ExpiresAt   *time.Time              `json:"expires_at,omitempty"`
	DecidableAt *time.Time              `json:"decidable_at,omitempty"`
	To          []string                `json:"to,omitempty"`
}

// publicPrompt returns the prompt of an interrupt, for a gate without its parameters.
func publicPrompt(i contracts.Interrupt) string {
	switch {
	case i.Type.IsGate() && i.ToolName != "":
		return gateview.AsksFor(i.ToolName)
	case i.Type.IsGate():
		return "Approve?"
	}
	return i.Prompt
}

// MaxReminders is the maximum number of reminders for one gate.
const MaxReminders = 20

// Later events of notices.
const (
	NoticeReminder   = "reminder"
	NoticeEscalation = "escalation"
)

// NoticesOf returns the deliveries for an interrupt, to be inserted into the outbox in the
// transaction that opens it. They are the opening, the reminders and the escalation, each due at
// its CreatedAt; the later ones are not sent once the interrupt is decided. Ids are derived from
// the interrupt, so that each notice exists once. Without a URL there are none.
func NoticesOf(i contracts.Interrupt, url string) ([]WebhookDelivery, error) {
	if url == "" {
		return nil, nil
	}
	var out []WebhookDelivery
	add := func(event, id string, at time.Time, to []string) error {
		body, err := json.Marshal(InterruptNotice{
			Event: event, SessionID: i.SessionID, RunID: i.RunID, NodeID: i.NodeID,
			InterruptID: i.InterruptID, Code: i.Code, Type: i.Type, ToolName: i.ToolName, RiskLevel: i.RiskLevel,
			Reason: i.Reason, Prompt: publicPrompt(i), CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt, DecidableAt: i.DecidableAt, To: to,
		})
		if err != nil {
			return contracts.Errorf(contracts.CodeInternal, "notice of interrupt %s: %w", i.InterruptID, err)
		}
		out = append(out, WebhookDelivery{ID: id + i.InterruptID, URL: url, Body: body, CreatedAt: at})
		return nil
	}
	if err := add(string(contracts.EventInterrupt), "interrupt-", i.CreatedAt, nil); err != nil {
		return nil, err
	}
	at := i.CreatedAt
	for n := range MaxReminders {
		at = at.Add(time.Duration(i.RemindS) * time.Second)
		if i.RemindS <= 0 || i.ExpiresAt != nil && !at.Before(*i.ExpiresAt) {
			break
		}
		if err := add(NoticeReminder, fmt.Sprintf("reminder-%d-", n+1), at, i.Reviewers); err != nil {
			return nil, err
		}
	}
	if i.EscalateAt == nil {
		return out, nil
	}
	err := add(NoticeEscalation, "escalation-", *i.EscalateAt, i.EscalateTo)
	return out, err
}

// DueNotices are the due notices of an open interrupt: the last reminder and the escalation, each
// named uniquely within the interrupt. "" means none.
type DueNotices struct{ Reminder, Escalation string }

// NoticesDue is NoticesOf for an interface that notifies people itself. It returns what is due now,
// and the time of the next notice, zero if there is none.
func NoticesDue(i contracts.Interrupt, now time.Time) (due DueNotices, next time.Time) {
	if i.EscalateAt != nil && !now.Before(*i.EscalateAt) {
		due.Escalation = NoticeEscalation
	} else if i.EscalateAt != nil {
		next = *i.EscalateAt
	}
	pause := time.Duration(i.RemindS) * time.Second
	if pause <= 0 {
		return due, next
	}
	n := min(int(now.Sub(i.CreatedAt)/pause), MaxReminders)
	if n > 0 {
		due.Reminder = fmt.Sprintf("%s-%d", NoticeReminder, n)
	}
	after := i.CreatedAt.Add(time.Duration(n+1) * pause)
	if n < MaxReminders && (i.ExpiresAt == nil || after.Before(*i.ExpiresAt)) && (next.IsZero() || after.Before(next)) {
		next = after
	}
	return due, next
}

// StillNeeded reports whether a delivery should still be sent: a reminder or escalation of a
// decided gate should not. If the gate cannot be read, it reports true.
func StillNeeded(ctx context.Context, gates execution.Gates, d WebhookDelivery) bool {
	var n InterruptNotice
	if json.Unmarshal(d.Body, &n) != nil || n.Event != NoticeReminder && n.Event != NoticeEscalation {
		return true
	}
	i, err := execution.GetInterrupt(ctx, gates, n.InterruptID)
	return err == nil && i.Status == contracts.InterruptOpen || err != nil && contracts.CodeOf(err) != contracts.CodeNotFound
}
