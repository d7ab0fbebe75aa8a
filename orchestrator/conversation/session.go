package conversation

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/answer"
)

// orchestrator.MaxPage bounds one page of a list.

// StartSession begins a conversation with its first message. With an
// idempotency key a repeat gives the same session. It waits for an answer or a
// question at most as long as wait says; the run goes on in any case.
func (s *Conversation) StartSession(ctx context.Context, who access.Principal, body contracts.StartSession, key string, wait time.Duration) (contracts.SessionResponse, error) {
	if err := orchestrator.CheckMessage(body.Message); err != nil {
		return contracts.SessionResponse{}, err
	}
	if err := s.dir.CheckWebhook(body.WebhookURL); err != nil {
		return contracts.SessionResponse{}, err
	}
	if err := s.dir.Admit(who); err != nil {
		return contracts.SessionResponse{}, err
	}
	session := s.dir.Draft(who, body)
	if key != "" {
		// The id follows from the caller and the key: a repeat finds the session.
		session.ID = orchestrator.DerivedID("ses", who.Subject(), key)
	}
	if err := s.dir.Open(ctx, session); err != nil {
		return contracts.SessionResponse{}, err
	}
	turn := orchestrator.Turn{
		TurnKey: orchestrator.TurnKey{Conversation: session.ID, Key: cmp.Or(key, "first")}, SessionID: session.ID,
		Message: body.Message, DryRun: body.DryRun,
	}
	turn.Fingerprint = fingerprint(body)
	if err := s.turn(ctx, who, session, turn); err != nil {
		return contracts.SessionResponse{}, err
	}
	return s.await(ctx, session.ID, wait)
}

// Say adds a message to a session: the answer to its open question if it fits,
// else a new request.
func (s *Conversation) Say(ctx context.Context, who access.Principal, sessionID, message, key string, wait time.Duration) (contracts.SessionResponse, error) {
	session, err := s.dir.Own(ctx, who, sessionID)
	if err != nil {
		return contracts.SessionResponse{}, err
	}
	if err := orchestrator.CheckMessage(message); err != nil {
		return contracts.SessionResponse{}, err
	}
	if answered, err := s.answerOpenQuestion(ctx, who, session, message); err != nil || answered {
		if err != nil {
			return contracts.SessionResponse{}, err
		}
		return s.await(ctx, session.ID, wait)
	}
	turn := orchestrator.Turn{
		TurnKey: orchestrator.TurnKey{Conversation: session.ID, Key: cmp.Or(key, execution.NewID("msg"))}, SessionID: session.ID,
		Message: message, Fingerprint: fingerprint(message),
	}
	if err := s.turn(ctx, who, session, turn); err != nil {
		return contracts.SessionResponse{}, err
	}
	return s.await(ctx, session.ID, wait)
}

// Session gives the state of a session, waiting while it is running.
func (s *Conversation) Session(ctx context.Context, who access.Principal, id string, wait time.Duration) (contracts.SessionResponse, error) {
	if _, err := s.dir.Read(ctx, who, id); err != nil {
		return contracts.SessionResponse{}, err
	}
	return s.await(ctx, id, wait)
}

// Sessions lists the caller's sessions, the newest first.
func (s *Conversation) Sessions(ctx context.Context, who access.Principal, before time.Time, limit int) ([]contracts.SessionResponse, error) {
	list, err := s.dir.List(ctx, who, before, limit)
	if err != nil {
		return nil, err
	}
	out := make([]contracts.SessionResponse, 0, len(list))
	for _, session := range list {
		response, err := s.response(ctx, session)
		if err != nil {
			return nil, err
		}
		response.Answer = nil // a list shows where each stands
		out = append(out, response)
	}
	return out, nil
}

// RenameSession gives a session another name.
func (s *Conversation) RenameSession(ctx context.Context, who access.Principal, id, name string) (contracts.SessionResponse, error) {
	session, err := s.dir.Rename(ctx, who, id, name)
	if err != nil {
		return contracts.SessionResponse{}, err
	}
	return s.response(ctx, session)
}

// await gives the response once the session is no longer running, or the time
// is over.
func (s *Conversation) await(ctx context.Context, sessionID string, wait time.Duration) (contracts.SessionResponse, error) {
	var response contracts.SessionResponse
	err := s.hub.Until(ctx, sessionID, wait, func(ctx context.Context) (bool, error) {
		session, err := s.dir.Get(ctx, sessionID)
		if err != nil {
			return false, err
		}
		response, err = s.response(ctx, session)
		return response.Status != contracts.SessionRunning, err
	})
	return response, err
}

// response says where a session stands: an open question, else a run under
// way, else how the last one ended.
func (s *Conversation) response(ctx context.Context, session orchestrator.Session) (contracts.SessionResponse, error) {
	out := contracts.SessionResponse{
		SessionID: session.ID, Name: session.Name, Interrupts: []contracts.Interrupt{}, RunIDs: []string{},
		CreatedAt: session.CreatedAt, UpdatedAt: session.UpdatedAt, Status: contracts.SessionCompleted,
	}
	open, err := s.runs.Interrupts(ctx, execution.InterruptFilter{SessionID: session.ID, Status: contracts.InterruptOpen})
	if err != nil {
		return out, err
	}
	runs, err := s.runs.ListRuns(ctx, execution.RunFilter{SessionID: session.ID, Limit: orchestrator.MaxPage, Brief: true})
	if err != nil {
		return out, err
	}
	turns, err := s.Said(ctx, session.ID)
	if err != nil {
		return out, err
	}
	turns = slices.DeleteFunc(turns, func(t orchestrator.Turn) bool { return t.Command != "" }) // a command is not what the session is about
	running := false
	for _, run := range slices.Backward(runs) { // the oldest first
		out.RunIDs = append(out.RunIDs, run.ID)
		running = running || !run.State.Terminal()
	}
	out.Interrupts = append(out.Interrupts, open...)
	if len(open) > 0 {
		out.Interrupt = &out.Interrupts[0]
	}
	switch {
	case len(open) > 0:
		out.Status = contracts.SessionPendingInterrupt
	case running:
		out.Status = contracts.SessionRunning
		return out, nil
	case len(runs) > 0 && runs[0].State == contracts.RunFailed && lastIsRun(turns, runs[0].ID):
		out.Status = contracts.SessionError
	}
	out.Answer, err = s.lastAnswer(ctx, turns, runs)
	return out, err
}

func lastIsRun(turns []orchestrator.Turn, runID string) bool {
	return len(turns) == 0 || turns[len(turns)-1].RunID == runID || turns[len(turns)-1].RunID == ""
}

// lastAnswer is what the last turn came to, or the last run if it is newer: a
// compensation has no turn.
func (s *Conversation) lastAnswer(ctx context.Context, turns []orchestrator.Turn, runs []execution.Run) (*contracts.Answer, error) {
	var last *orchestrator.Turn
	if len(turns) > 0 {
		last = &turns[len(turns)-1]
	}
	if len(runs) > 0 && (last == nil || last.Answer == nil || runs[0].CreatedAt.After(last.CreatedAt)) {
		if last != nil && last.Outcome == orchestrator.TurnClarifying {
			return nil, nil //nolint:nilnil // a question is open: there is no answer yet
		}
		view, err := s.runner.View(ctx, runs[0].ID)
		if err != nil {
			return nil, err
		}
		answer := answer.Compose(s.catalogs.Catalog(), view)
		if answer != nil && last != nil && last.RunID == runs[0].ID {
			answer.Blocks = append(answer.Blocks, remarks(*last)...)
		}
		return answer, nil
	}
	if last == nil {
		return nil, nil //nolint:nilnil // nothing was said yet
	}
	return last.Answer, nil
}
