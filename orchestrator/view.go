package orchestrator

import (
	"cmp"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// SessionView is what an interface shows of where a conversation stands: the whole
// session, or what one turn or run of it came to.
type SessionView struct {
	SessionID string
	Name      string
	Status    contracts.SessionStatus
	// Language is the one that the reader is answered in, by its code, "" if that is
	// not known.
	Language string
	// Notice is the reply to a command, Markdown of our own; it stands before
	// everything else.
	Notice string
	Answer *contracts.Answer
	Open   []contracts.Interrupt
	// MayApprove are the codes of those open gates that the reader may approve.
	MayApprove []string
	// MayAnswer are the codes of those open questions that the reader may answer.
	MayAnswer []string
	// Rows and Mermaid are the plan of the run, while it has more steps than one
	// and a person has to decide about it.
	Rows    []contracts.PlanRow
	Mermaid string
	// Steps are the calls of the run, as far as they are known.
	Steps   []Step
	Running bool
	// Waits means that the run waits for something that is no person: a timer,
	// a lock, another run.
	Waits bool
	// RunID is the run that is shown, if it is one. Its events after After are
	// news to this reader.
	RunID  string
	RunIDs []string
	After  int64
	Tokens contracts.Tokens
	// Used are those of the request alone that the view is about, and of its run.
	Used contracts.Tokens

	CreatedAt, UpdatedAt time.Time

	// Turn is what the view was narrowed to, Said the turn that it is the reply to.
	Turn, InReplyTo TurnKey
}

// Step is one call of a run, for those who show progress.
type Step struct {
	ID    string
	Title string
	State contracts.NodeState
}

// StepsOf are the calls of a run, in order.
func StepsOf(run contracts.RunView) []Step {
	var out []Step
	for _, n := range run.Nodes {
		if n.Kind == contracts.KindTool {
			out = append(out, Step{ID: n.NodeID, Title: cmp.Or(contracts.CleanSummary(n.Title), n.Tool), State: n.State})
		}
	}
	return out
}

// AwaitsOwner reports whether a run that seems to wait for a person has what it
// waits for already: the decision stands, and the run is about to take it up.
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

// IsNews reports whether an event is news to people: what a plan does between its
// calls, such as choosing from what was found, is none.
func (v SessionView) IsNews(e contracts.Event) bool {
	if e.Type != contracts.EventNodeStart && e.Type != contracts.EventNodeEnd {
		return true
	}
	return slices.ContainsFunc(v.Steps, func(s Step) bool { return s.ID == e.NodeID })
}

// Response is the view as REST has it.
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
