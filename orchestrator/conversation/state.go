package conversation

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/answer"
	"github.com/manifold-run/manifold/orchestrator/gates"
	"github.com/manifold-run/manifold/planner"
)

// ChatState is where a chat stands: what to show now, and whether more comes.
type ChatState struct {
	SessionID string
	Name      string
	// Notice is the reply to a command; it stands before everything else.
	Notice string
	Answer *contracts.Answer
	Open   []contracts.Interrupt
	// MayApprove are the codes of those open gates that the caller may approve.
	MayApprove []string
	// Plan is what the run is made of, while it has more steps than one.
	Plan *planner.Preview
	// Steps are the calls of the run, as far as they are known.
	Steps   []ChatStep
	Running bool
	// Waits tells that the run waits for something that is no person: a timer,
	// a lock, another run.
	Waits bool
	// RunID is the run that the turn belongs to, if it has one. Its events after
	// After are news to this chat.
	RunID  string
	After  int64
	Tokens contracts.Tokens

	turn orchestrator.TurnKey // what the state was narrowed to
}

// ChatStep is one call of a run, for those who show progress.
type ChatStep struct {
	ID    string
	Title string
	State contracts.NodeState
}

func stepsOf(view contracts.RunView) []ChatStep {
	var out []ChatStep
	for _, n := range view.Nodes {
		if n.Kind == contracts.KindTool {
			out = append(out, ChatStep{ID: n.NodeID, Title: cmp.Or(contracts.CleanSummary(n.Title), n.Tool), State: n.State})
		}
	}
	return out
}

// Refresh gives where the chat of an earlier state stands now.
func (s *Conversation) Refresh(ctx context.Context, who access.Principal, from ChatState) (ChatState, error) {
	if from.SessionID == "" {
		return from, nil
	}
	state, err := s.chatState(ctx, who, from.SessionID, from.turn, from.RunID, from.After)
	state.Notice = from.Notice
	return state, err
}

// Await refreshes a state until nothing runs any more, at most as long as wait
// says.
func (s *Conversation) Await(ctx context.Context, who access.Principal, from ChatState, wait time.Duration) (ChatState, error) {
	state := from
	err := s.hub.Until(ctx, from.SessionID, wait, func(ctx context.Context) (bool, error) {
		var err error
		state, err = s.Refresh(ctx, who, state)
		return !state.Running, err
	})
	return state, err
}

// AwaitCommit waits until something was committed in any session, at most as long
// as wait says. It is a hint, as all of the hub's.
func (s *Conversation) AwaitCommit(ctx context.Context, wait time.Duration) {
	signal, leave := s.hub.Subscribe(orchestrator.EverySession)
	defer leave()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-signal:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Follow gives the events of a session after a number, waiting for the first
// of them at most as long as wait says.
func (s *Conversation) Follow(ctx context.Context, who access.Principal, sessionID string, after int64, wait time.Duration) ([]contracts.Event, error) {
	if _, err := s.dir.Read(ctx, who, sessionID); err != nil {
		return nil, err
	}
	var events []contracts.Event
	err := s.hub.Until(ctx, sessionID, wait, func(ctx context.Context) (bool, error) {
		var err error
		events, err = s.runs.Events(ctx, sessionID, after, orchestrator.EventPage(0))
		return len(events) > 0, err
	})
	return events, err
}

// chatState reads where a chat stands: narrowed to a turn or to a run, or, with
// neither, the whole session.
func (s *Conversation) chatState(ctx context.Context, who access.Principal, sessionID string, key orchestrator.TurnKey, runID string, after int64) (ChatState, error) {
	session, err := s.dir.Get(ctx, sessionID)
	if err != nil {
		return ChatState{}, err
	}
	response, err := s.response(ctx, session)
	if err != nil {
		return ChatState{}, err
	}
	state := ChatState{
		SessionID: sessionID, Name: session.Name, Answer: response.Answer, Open: response.Interrupts,
		Running: response.Status == contracts.SessionRunning, Tokens: response.Tokens,
		turn: key, RunID: runID, After: after,
	}
	switch {
	case key.Key != "":
		err = s.ofTurn(ctx, &state)
	case runID != "":
		err = s.ofRun(ctx, &state)
	case len(response.RunIDs) > 0 && state.Running:
		state.RunID = response.RunIDs[len(response.RunIDs)-1]
		err = s.ofRun(ctx, &state)
	}
	for _, i := range state.Open {
		if i.Type.Expires() && gates.MayDecide(who, session.Owner, i, contracts.DecisionApprove) == nil {
			state.MayApprove = append(state.MayApprove, i.Code)
		}
	}
	return state, err
}

// ofTurn narrows a state to its turn: a message that is regenerated shows its
// own outcome, whatever came after it.
func (s *Conversation) ofTurn(ctx context.Context, state *ChatState) error {
	t, err := s.turnByKey(ctx, state.SessionID, state.turn)
	if err != nil || t.SessionID == "" {
		return err
	}
	if t.RunID == "" {
		state.Running, state.Answer = t.Outcome == "", t.Answer
		return nil
	}
	state.RunID = t.RunID
	err = s.ofRun(ctx, state)
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		of := state.turn
		*state = swept(state.SessionID, state.Name, "")
		state.turn = of
		return nil
	}
	if err != nil {
		return err
	}
	if state.Answer != nil {
		state.Answer.Blocks = append(state.Answer.Blocks, remarks(t)...)
	}
	return nil
}

// swept is where a turn stands whose run is no longer kept: it is not done anew.
func swept(sessionID, name, notice string) ChatState {
	return ChatState{SessionID: sessionID, Name: name, Notice: notice, Answer: &contracts.Answer{Blocks: []contracts.Block{{
		Kind: contracts.BlockNote, Text: "This was done before, and is not kept any more. Say it again in a new message to have it done anew.",
	}}}}
}

func (s *Conversation) ofRun(ctx context.Context, state *ChatState) error {
	view, err := s.runner.View(ctx, state.RunID)
	if err != nil {
		return err
	}
	state.Answer, state.Open, state.Steps = answer.Compose(s.catalogs.Catalog(), view), view.Interrupts, stepsOf(view)
	state.Running = view.State == contracts.RunRunning || view.State == contracts.RunCancelling || unsettled(view)
	state.Waits = view.State == contracts.RunWaiting && !state.Running && len(view.Interrupts) == 0
	if len(view.Interrupts) > 0 && len(view.Nodes) > 1 {
		preview := planner.Describe(view.Plan, s.catalogs.Catalog())
		state.Plan = &preview
	}
	return nil
}

// unsettled tells whether a run that seems to wait for a person has what it
// waits for already: the decision stands, and the run is about to take it up.
func unsettled(view contracts.RunView) bool {
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
