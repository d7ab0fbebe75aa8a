package runstate

import (
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// outcome is the ledger's record of how a node ended.
type outcome struct {
	State     contracts.NodeState    `json:"state"`
	Skip      Skip                   `json:"skip,omitempty"`
	Summary   string                 `json:"summary,omitempty"`
	Facts     map[string]any         `json:"facts,omitempty"`
	Artifacts contracts.ArtifactRefs `json:"artifacts,omitempty"`
	Error     *contracts.ToolError   `json:"error,omitempty"`
	Checks    []contracts.Check      `json:"checks,omitempty"`
	Attempts  int                    `json:"attempts,omitempty"`
	Spent     map[string]float64     `json:"spent,omitempty"`
	// Calls are the model calls; Fallback explains why the fallback was used.
	Calls    []contracts.ModelCall `json:"calls,omitempty"`
	Fallback string                `json:"fallback,omitempty"`
}

func outcomeOf(row *Row) outcome {
	o := outcome{
		State: row.State, Skip: row.Skip, Error: row.Error, Checks: row.Checks, Attempts: row.Attempts, Spent: row.Spent,
		Calls: row.Thoughts, Fallback: row.Fallback,
	}
	if r := row.Result; r != nil {
		o.Summary, o.Facts, o.Artifacts = r.Summary, r.Facts, r.Artifacts
	}
	return o
}

func endEvent(row *Row, at time.Time) contracts.Event {
	e := contracts.Event{Type: contracts.EventNodeEnd, Status: string(row.State)}
	if row.StartedAt != nil {
		e.DurationMS = at.Sub(*row.StartedAt).Milliseconds()
	}
	if row.Result != nil {
		e.Summary = row.Result.Summary
	}
	if row.Error != nil {
		e.Type, e.Summary = contracts.EventNodeError, row.Error.Message
	}
	return e
}

// LastDecision returns the last decision of a gate, or one by the system if there is none.
func LastDecision(i *contracts.Interrupt) contracts.InterruptDecided {
	if len(i.Decisions) == 0 {
		return contracts.InterruptDecided{DecidedBy: "system"}
	}
	return i.Decisions[len(i.Decisions)-1]
}

// decision is the ledger's record of the outcome of an interrupt.
type decision struct {
	InterruptID string                       `json:"interrupt_id"`
	Type        contracts.InterruptType      `json:"type"`
	Status      contracts.InterruptStatus    `json:"status"`
	Decisions   []contracts.InterruptDecided `json:"decisions,omitempty"`
	Response    any                          `json:"response,omitempty"`
}

func decisionPayload(i *contracts.Interrupt) decision {
	return decision{i.InterruptID, i.Type, i.Status, i.Decisions, i.Response}
}
