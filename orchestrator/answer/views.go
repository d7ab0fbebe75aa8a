package answer

import (
	"context"
	"errors"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/gates"
	"github.com/manifold-run/manifold/orchestrator/sessions"
	"github.com/manifold-run/manifold/planner"
)

// ViewDeps are the use cases and ports that read models are built from.
type ViewDeps struct {
	Sessions *sessions.Directory
	Gates    *gates.Gates
	Turns    orchestrator.Turns
	Runner   *execution.Runner
	Catalogs orchestrator.Catalogs
}

// Views reads the state of sessions. It changes nothing and has no state.
type Views struct {
	dir      *sessions.Directory
	gates    *gates.Gates
	turns    orchestrator.Turns
	runner   *execution.Runner
	catalogs orchestrator.Catalogs
}

// NewViews returns the views of a store.
func NewViews(deps ViewDeps) (*Views, error) {
	if deps.Sessions == nil || deps.Gates == nil || deps.Turns == nil || deps.Runner == nil || deps.Catalogs == nil {
		return nil, errors.New("views: every dependency is needed")
	}
	return &Views{
		dir: deps.Sessions, gates: deps.Gates, turns: deps.Turns, runner: deps.Runner, catalogs: deps.Catalogs,
	}, nil
}

// Part returns the view of a session, limited to of.Turn or of.RunID if one is set. It does not
// check access to the session.
func (v *Views) Part(ctx context.Context, who access.Principal, of orchestrator.SessionView) (orchestrator.SessionView, error) {
	session, err := v.dir.Get(ctx, of.SessionID)
	if err != nil {
		return orchestrator.SessionView{}, err
	}
	view, err := v.Session(ctx, session)
	if err != nil {
		return orchestrator.SessionView{}, err
	}
	view.Turn, view.RunID, view.After = of.Turn, of.RunID, of.After
	switch {
	case view.Turn.Key != "":
		err = v.ofTurn(ctx, &view)
	case view.RunID != "":
		err = v.ofRun(ctx, &view)
	case len(view.RunIDs) > 0 && view.Running:
		view.RunID = view.RunIDs[len(view.RunIDs)-1]
		err = v.ofRun(ctx, &view)
	}
	if contracts.CodeOf(err) == contracts.CodeNotFound && view.RunID != "" {
		return swept(view), nil
	}
	if err != nil {
		return view, err
	}
	view.MayApprove, view.MayAnswer, err = v.gates.Permissions(ctx, who, view.Open...)
	return view, err
}

// ofTurn limits a view to its turn: a regenerated message displays its own outcome, whatever came
// after it.
func (v *Views) ofTurn(ctx context.Context, view *orchestrator.SessionView) error {
	t, err := v.substance(ctx, view.Turn)
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	view.Used = contracts.SumTokens(t.Calls)
	if t.RunID == "" {
		view.Running, view.Answer = t.Outcome == "", t.Answer
		return nil
	}
	view.RunID = t.RunID
	if err := v.ofRun(ctx, view); err != nil {
		return err
	}
	if view.Answer != nil {
		view.Answer.Blocks = append(view.Answer.Blocks, Remarks(t)...)
	}
	return nil
}

// substance returns the turn with the result of a turn: for an answer, the turn that asked.
func (v *Views) substance(ctx context.Context, key orchestrator.TurnKey) (orchestrator.Turn, error) {
	t, err := v.turns.Turn(ctx, key)
	if err != nil || t.AskingTurn == nil {
		return t, err
	}
	return v.turns.Turn(ctx, *t.AskingTurn)
}

// swept returns the view of a turn whose run has been deleted; the turn is not executed again.
func swept(view orchestrator.SessionView) orchestrator.SessionView {
	return orchestrator.SessionView{
		SessionID: view.SessionID, Name: view.Name, Notice: view.Notice, Turn: view.Turn, Status: contracts.SessionCompleted,
		Answer: &contracts.Answer{Blocks: []contracts.Block{{
			Kind: contracts.BlockNote, Text: "This was done before, and is not kept any more. Say it again in a new message to have it done anew.",
		}}},
	}
}

func (v *Views) ofRun(ctx context.Context, view *orchestrator.SessionView) error {
	run, err := v.runner.View(ctx, view.RunID)
	if err != nil {
		return err
	}
	view.Answer, view.Open, view.Steps = Compose(v.catalogs.Catalog(), run), run.Interrupts, orchestrator.StepsOf(run)
	view.Used = view.Used.Add(run.Tokens)
	view.Running = run.State == contracts.RunRunning || run.State == contracts.RunCancelling || orchestrator.AwaitsOwner(run)
	view.Waits = run.State == contracts.RunWaiting && !view.Running && len(run.Interrupts) == 0
	if len(run.Interrupts) > 0 && len(run.Nodes) > 1 && !answered(run) {
		view.Rows, view.Mermaid = planner.Rows(run.Plan), planner.Mermaid(run.Plan)
	}
	return nil
}

// answered reports whether a human step of a workflow is completed: the plan is displayed above the
// first question only.
func answered(run contracts.RunView) bool {
	return slices.ContainsFunc(run.Nodes, func(n contracts.NodeView) bool {
		return n.Kind == contracts.KindHuman && run.Plan.InWorkflow(n.Node) && n.State == contracts.NodeCompleted
	})
}

// MaxViewRuns is the number of a session's newest runs that its view includes.
const MaxViewRuns = 100

// Session returns the view of a whole session: its open interrupts, or else its open run or turn,
// or else the last answer.
func (v *Views) Session(ctx context.Context, session orchestrator.Session) (orchestrator.SessionView, error) {
	out := orchestrator.SessionView{
		SessionID: session.ID, Name: session.Name, RunIDs: []string{},
		CreatedAt: session.CreatedAt, UpdatedAt: session.UpdatedAt, Status: contracts.SessionCompleted,
	}
	at, err := v.turns.SessionState(ctx, session.ID, MaxViewRuns)
	if err != nil {
		return out, err
	}
	runs, turns, last := at.Runs, at.Turns, LastSubstance(at.Turns)
	out.Open = at.Open
	if out.Tokens, err = orchestrator.TokensOf(ctx, v.runner, turns, runs); err != nil {
		return out, err
	}
	for _, run := range slices.Backward(runs) { // the oldest first
		out.RunIDs = append(out.RunIDs, run.ID)
		out.Running = out.Running || !run.State.Terminal()
	}
	out.Running = len(out.Open) == 0 && (out.Running || slices.ContainsFunc(turns, goesOn))
	switch {
	case len(out.Open) > 0:
		out.Status = contracts.SessionPendingInterrupt
	case out.Running:
		out.Status = contracts.SessionRunning
		return out, nil
	case len(runs) > 0 && runs[0].State == contracts.RunFailed && (last == nil || last.RunID == runs[0].ID || last.RunID == ""):
		out.Status = contracts.SessionError
	}
	if out.Answer = withdrawn(turns, last); out.Answer != nil && len(out.Open) == 0 {
		return out, nil
	}
	out.Answer, err = v.lastAnswer(ctx, last, runs)
	return out, err
}

// OfEnd is like Session for a session whose only content is a run that has just ended in this
// process. It returns false if the session must be read from the store.
func (v *Views) OfEnd(session orchestrator.Session, runID string) (orchestrator.SessionView, bool) {
	run, ok := v.runner.EndOf(runID)
	if !ok {
		return orchestrator.SessionView{}, false
	}
	out := orchestrator.SessionView{
		SessionID: session.ID, Name: session.Name, RunIDs: []string{runID}, CreatedAt: session.CreatedAt, UpdatedAt: session.UpdatedAt.UTC(),
		Status: contracts.SessionCompleted, Tokens: run.Tokens, Answer: Compose(v.catalogs.Catalog(), run),
	}
	if run.State == contracts.RunFailed {
		out.Status = contracts.SessionError
	}
	return out, true
}

// goesOn reports whether a turn is in progress, or was interrupted and will be finished.
func goesOn(t orchestrator.Turn) bool {
	return t.Outcome == "" && t.Kind != orchestrator.TurnCommand && t.Kind != ""
}

// LastSubstance returns the turn that a session is about: the last request, or the request that was
// answered last, but never a command or decision.
func LastSubstance(turns []orchestrator.Turn) *orchestrator.Turn {
	for n := range slices.Backward(turns) {
		t := &turns[n]
		switch {
		case t.Command != "" || t.Kind == orchestrator.TurnCommand || t.Kind == orchestrator.TurnDecision || t.Outcome == orchestrator.TurnRefused:
			continue
		case t.AskingTurn == nil:
			return t
		}
		if at := slices.IndexFunc(turns, func(of orchestrator.Turn) bool { return of.TurnKey == *t.AskingTurn }); at >= 0 {
			return &turns[at]
		}
	}
	return nil
}

// lastAnswer returns the answer of the last turn, or of the last run if that is newer: a
// compensation has no turn.
func (v *Views) lastAnswer(ctx context.Context, last *orchestrator.Turn, runs []execution.Run) (*contracts.Answer, error) {
	if len(runs) > 0 && (last == nil || last.Answer == nil || runs[0].CreatedAt.After(last.CreatedAt)) {
		if last != nil && last.Outcome == orchestrator.TurnClarifying {
			return nil, nil //nolint:nilnil // a question is open: there is no answer yet
		}
		run, err := v.runner.ViewOf(ctx, runs[0])
		if err != nil {
			return nil, err
		}
		composed := Compose(v.catalogs.Catalog(), run)
		if composed != nil && last != nil && last.RunID == runs[0].ID {
			composed.Blocks = append(composed.Blocks, Remarks(*last)...)
		}
		return composed, nil
	}
	if last == nil {
		return nil, nil //nolint:nilnil // nothing was said yet
	}
	return last.Answer, nil
}

// withdrawn returns the reply to the command that withdrew the question of the last request, since
// that request has no other answer. It returns nil if nothing was withdrawn.
func withdrawn(turns []orchestrator.Turn, last *orchestrator.Turn) *contracts.Answer {
	if last == nil || last.Outcome != orchestrator.TurnClarifying || last.RunID != "" {
		return nil
	}
	end := turns[len(turns)-1]
	if end.Command != chat.Drop && end.Command != chat.Cancel || end.Notice == "" {
		return nil
	}
	return &contracts.Answer{Blocks: []contracts.Block{{Kind: contracts.BlockNote, Text: end.Notice}}}
}
