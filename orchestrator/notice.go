package orchestrator

import (
	"encoding/json"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/sheet"
)

// InterruptNotice is what a webhook says of an interrupt that waits for a
// person. It carries what is needed to find and to understand the question,
// and none of the parameters: they may be personal, and are shown at the gate
// to those who may read it.
type InterruptNotice struct {
	// Event is always "interrupt".
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
}

// publicPrompt leaves the parameters out of what an approval asks.
func publicPrompt(i contracts.Interrupt) string {
	switch {
	case i.Type.Gate() && i.ToolName != "":
		return sheet.AsksFor(i.ToolName)
	case i.Type.Gate():
		return "Approve?"
	}
	return i.Prompt
}

// NoticeOf gives the delivery for an interrupt, to be written to the outbox in
// the transaction that opens it. There is one for each interrupt, ever.
func NoticeOf(i contracts.Interrupt, url string) (WebhookDelivery, error) {
	body, err := json.Marshal(InterruptNotice{
		Event: string(contracts.EventInterrupt), SessionID: i.SessionID, RunID: i.RunID, NodeID: i.NodeID,
		InterruptID: i.InterruptID, Code: i.Code, Type: i.Type, ToolName: i.ToolName, RiskLevel: i.RiskLevel,
		Reason: i.Reason, Prompt: publicPrompt(i), CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt,
	})
	if err != nil {
		return WebhookDelivery{}, contracts.Errorf(contracts.CodeInternal, "notice of interrupt %s: %w", i.InterruptID, err)
	}
	return WebhookDelivery{ID: "interrupt-" + i.InterruptID, URL: url, Body: body, CreatedAt: i.CreatedAt}, nil
}
