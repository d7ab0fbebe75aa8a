package orchestrator

import (
	"cmp"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// SessionView is what an interface displays: the state of a whole session, or the outcome of one
// turn or run of it.
type SessionView struct {
	SessionID string
	Name      string
	Status    contracts.SessionStatus
	// Language is the code of the language to answer in, "" if unknown.
	Language string
	// Notice is the reply to a command, in trusted Markdown; it is displayed first.
	Notice string
	Answer *contracts.Answer
	Open   []contracts.Interrupt
	// MayApprove are the codes of the open gates that the reader may approve.
	MayApprove []string
	// MayAnswer are the codes of the open questions that the reader may answer.
	MayAnswer []string
	// Rows and Mermaid show the plan of the run while it has more than one step and a person has to
	// decide about it.
	Rows    []contracts.PlanRow
	Mermaid string
	// Steps are the calls of the run that are known so far.
	Steps   []Step
	Running bool
	// Waits means that the run waits for something other than a person: a timer, a lock or another
	// run.
	Waits bool
	// RunID is the displayed run, if any. Its events after After are new to the reader.
	RunID  string
	RunIDs []string
	After  int64
	Tokens contracts.Tokens
	// Used are the tokens of the request that the view is about, and of its run.
	Used contracts.Tokens

	CreatedAt, UpdatedAt time.Time

	// Turn is the turn that the view is limited to, InReplyTo the turn that it replies to.
	Turn, InReplyTo TurnKey
}

// Step is one call of a run, for progress displays.
type Step struct {
	ID    string
	Title string
	State contracts.NodeState
}

// StepsOf returns the calls of a run, in order.
func StepsOf(run contracts.RunView) []Step {
	var out []Step
	for _, n := range run.Nodes {
		if n.Kind == contracts.KindTool {
			out = append(out, Step{ID: n.NodeID, Title: cmp.Or(contracts.CleanSummary(n.Title), n.Tool), State: n.State})
		}
	}
	return out
}

// AwaitsOwner reports whether the run is in state waiting although all its interrupts are decided,
// i.e. its owner has not processed the decision yet.
func AwaitsOwner(view contracts.RunView) bool {
	if view.State != contracts.RunWaiting {
		return false
	}
	return slices.ContainsFunc(view.Nodes, func(n contracts.NodeView) bool {
		if n.State != contracts.NodeAwaitingApproval && n.State != contracts.NodeAwaitingInput && n.State != contracts.NodeOutcomeUnknown {
			return false
		}
		return !slices.ContainsFunc(view.Interrupts, func(i contracts.Interrupt) bool { return i.NodeID == n.NodeID })
	})
}

// IsNews reports whether an event is worth displaying. Nodes between the calls, such as the choice
// of one search result, are not.
func (v SessionView) IsNews(e contracts.Event) bool {
	if e.Type != contracts.EventNodeStart && e.Type != contracts.EventNodeEnd {
		return true
	}
	return slices.ContainsFunc(v.Steps, func(s Step) bool { return s.ID == e.NodeID })
}

// Response returns the view in the form of the REST API.
func (v SessionView) Response() contracts.SessionResponse {
	out := contracts.SessionResponse{
		SessionID: v.SessionID, Name: v.Name, Status: v.Status, Interrupts: v.Open, Answer: v.Answer,
		Tokens: v.Tokens, RunIDs: v.RunIDs, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
	}
	if out.Interrupts == nil {
		out.Interrupts = []contracts.Interrupt{}
	}
	if out.RunIDs == nil {
		out.RunIDs = []string{}
	}
	if len(out.Interrupts) > 0 {
		out.Interrupt = &out.Interrupts[0]
	}
	return out
}
