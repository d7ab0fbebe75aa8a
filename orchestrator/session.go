package orchestrator

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// maxSessions bounds one page of a list.
const maxSessions = 100

// StartSession begins a conversation with its first message. With an
// idempotency key a repeat gives the same session. It waits for an answer or a
// question at most as long as wait says; the run goes on in any case.
func (s *Service) StartSession(ctx context.Context, who access.Principal, body contracts.StartSession, key string, wait time.Duration) (contracts.SessionResponse, error) {
	if err := who.May(access.ActionStartSession); err != nil {
		return contracts.SessionResponse{}, err
	}
	if err := checkMessage(body.Message); err != nil {
		return contracts.SessionResponse{}, err
	}
	if err := s.checkWebhook(body.WebhookURL); err != nil {
		return contracts.SessionResponse{}, err
	}
	if err := s.limiter.StartSession(who.Subject()); err != nil {
		return contracts.SessionResponse{}, err
	}
	session := s.newSession(who, body)
	if key != "" {
		// The id follows from the caller and the key: a repeat finds the session.
		session.ID = derivedID("ses", who.Subject(), key)
	}
	if err := s.openSession(ctx, session); err != nil {
		return contracts.SessionResponse{}, err
	}
	turn := Turn{
		TurnKey: TurnKey{Conversation: session.ID, Key: cmp.Or(key, "first")}, SessionID: session.ID,
		Message: body.Message, DryRun: body.DryRun,
	}
	turn.Fingerprint = fingerprint(body)
	if err := s.turn(ctx, who, session, turn); err != nil {
		return contracts.SessionResponse{}, err
	}
	return s.await(ctx, session.ID, wait)
}

// checkWebhook refuses a URL that must not be called from here.
func (s *Service) checkWebhook(url string) error {
	switch {
	case url == "":
		return nil
	case s.cfg.CheckWebhook == nil:
		return contracts.Errorf(contracts.CodeUnsupported, "this server sends no webhooks")
	}
	if err := s.cfg.CheckWebhook(url); err != nil {
		return contracts.Invalid("the webhook is refused", contracts.Fault{Pointer: "/webhook_url", Message: err.Error()})
	}
	return nil
}

func (s *Service) newSession(who access.Principal, body contracts.StartSession) Session {
	now := s.cfg.Now()
	session := Session{
		ID: execution.NewID("ses"), Name: cmp.Or(strings.TrimSpace(body.Name), nameOf(body.Message)), Owner: who.Contract(),
		WebhookURL: body.WebhookURL, Instances: body.Instances, Options: body.Options, CreatedAt: now, UpdatedAt: now,
	}
	if body.Budgets != nil {
		session.Budgets = *body.Budgets
	}
	return session
}

// openSession inserts the session; one that is there already with the same
// owner is the same request again.
func (s *Service) openSession(ctx context.Context, session Session) error {
	err := s.sessions.CreateSession(ctx, session)
	if contracts.CodeOf(err) != contracts.CodeConflict {
		return err
	}
	there, readErr := s.sessions.Session(ctx, session.ID)
	if readErr != nil || access.SubjectOf(there.Owner) != access.SubjectOf(session.Owner) {
		return err
	}
	return nil
}

// nameOf makes a session's name of its first message.
func nameOf(message string) string {
	name := contracts.CleanSummary(message)
	if runes := []rune(name); len(runes) > 60 {
		return strings.TrimSpace(string(runes[:59])) + "…"
	}
	return name
}

func checkMessage(message string) error {
	switch {
	case strings.TrimSpace(message) == "":
		return contracts.Invalid("the message is empty", contracts.Fault{Pointer: "/message", Message: "say what you want to be done"})
	case !utf8.ValidString(message):
		return contracts.Invalid("the message is not valid UTF-8", contracts.Fault{Pointer: "/message", Message: "send UTF-8"})
	case utf8.RuneCountInString(message) > contracts.MaxMessageChars:
		return contracts.Errorf(contracts.CodeTooLarge, "the message has more than %d characters", contracts.MaxMessageChars)
	}
	return nil
}

// Say adds a message to a session: the answer to its open question if it fits,
// else a new request.
func (s *Service) Say(ctx context.Context, who access.Principal, sessionID, message, key string, wait time.Duration) (contracts.SessionResponse, error) {
	session, err := s.ownSession(ctx, who, sessionID)
	if err != nil {
		return contracts.SessionResponse{}, err
	}
	if err := checkMessage(message); err != nil {
		return contracts.SessionResponse{}, err
	}
	if answered, err := s.answerOpenQuestion(ctx, who, session, message); err != nil || answered {
		if err != nil {
			return contracts.SessionResponse{}, err
		}
		return s.await(ctx, session.ID, wait)
	}
	turn := Turn{
		TurnKey: TurnKey{Conversation: session.ID, Key: cmp.Or(key, execution.NewID("msg"))}, SessionID: session.ID,
		Message: message, Fingerprint: fingerprint(message),
	}
	if err := s.turn(ctx, who, session, turn); err != nil {
		return contracts.SessionResponse{}, err
	}
	return s.await(ctx, session.ID, wait)
}

// ownSession gives a session that the caller may go on with.
func (s *Service) ownSession(ctx context.Context, who access.Principal, id string) (Session, error) {
	session, err := s.sessions.Session(ctx, id)
	if err != nil {
		return Session{}, err
	}
	return session, hide(who.MaySteerRun(session.Owner), "session", id)
}

// readSession gives a session that the caller may see.
func (s *Service) readSession(ctx context.Context, who access.Principal, id string) (Session, error) {
	session, err := s.sessions.Session(ctx, id)
	if err != nil {
		return Session{}, err
	}
	return session, hide(who.MayReadRun(session.Owner), "session", id)
}

// hide makes "you may not" read like "there is none": what is somebody else's
// is not even confirmed to exist.
func hide(err error, what, id string) error {
	if err != nil {
		return contracts.Errorf(contracts.CodeNotFound, "there is no %s %q", what, id)
	}
	return nil
}

// Session gives the state of a session, waiting while it is running.
func (s *Service) Session(ctx context.Context, who access.Principal, id string, wait time.Duration) (contracts.SessionResponse, error) {
	if _, err := s.readSession(ctx, who, id); err != nil {
		return contracts.SessionResponse{}, err
	}
	return s.await(ctx, id, wait)
}

// Sessions lists the caller's sessions, the newest first.
func (s *Service) Sessions(ctx context.Context, who access.Principal, before time.Time, limit int) ([]contracts.SessionResponse, error) {
	list, err := s.sessions.ListSessions(ctx, who.Subject(), before, pageSize(limit))
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

func pageSize(limit int) int {
	if limit <= 0 || limit > maxSessions {
		return maxSessions
	}
	return limit
}

// RenameSession gives a session another name.
func (s *Service) RenameSession(ctx context.Context, who access.Principal, id, name string) (contracts.SessionResponse, error) {
	session, err := s.ownSession(ctx, who, id)
	if err != nil {
		return contracts.SessionResponse{}, err
	}
	name = contracts.CleanSummary(name)
	if name == "" {
		return contracts.SessionResponse{}, contracts.Invalid("the name is empty", contracts.Fault{Pointer: "/name", Message: "give a name"})
	}
	if err := s.sessions.RenameSession(ctx, id, name, s.cfg.Now()); err != nil {
		return contracts.SessionResponse{}, err
	}
	session.Name = name
	return s.response(ctx, session)
}

// DeleteSession removes a session whose runs have all ended.
func (s *Service) DeleteSession(ctx context.Context, who access.Principal, id string) error {
	if _, err := s.ownSession(ctx, who, id); err != nil {
		return err
	}
	return s.sessions.DeleteSession(ctx, id)
}

// Events gives what happened in a session, in order.
func (s *Service) Events(ctx context.Context, who access.Principal, sessionID string, after int64, limit int) ([]contracts.Event, error) {
	if _, err := s.readSession(ctx, who, sessionID); err != nil {
		return nil, err
	}
	return s.runs.Events(ctx, sessionID, after, eventPage(limit))
}

func eventPage(limit int) int {
	const most = 1000
	if limit <= 0 || limit > most {
		return most
	}
	return limit
}

// await gives the response once the session is no longer running, or the time
// is over.
func (s *Service) await(ctx context.Context, sessionID string, wait time.Duration) (contracts.SessionResponse, error) {
	var response contracts.SessionResponse
	err := s.hub.until(ctx, sessionID, wait, func(ctx context.Context) (bool, error) {
		session, err := s.sessions.Session(ctx, sessionID)
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
func (s *Service) response(ctx context.Context, session Session) (contracts.SessionResponse, error) {
	out := contracts.SessionResponse{
		SessionID: session.ID, Name: session.Name, Interrupts: []contracts.Interrupt{}, RunIDs: []string{},
		CreatedAt: session.CreatedAt, UpdatedAt: session.UpdatedAt, Status: contracts.SessionCompleted,
	}
	open, err := s.runs.Interrupts(ctx, execution.InterruptFilter{SessionID: session.ID, Status: contracts.InterruptOpen})
	if err != nil {
		return out, err
	}
	runs, err := s.runs.ListRuns(ctx, execution.RunFilter{SessionID: session.ID, Limit: maxSessions, Brief: true})
	if err != nil {
		return out, err
	}
	turns, err := s.said(ctx, session.ID)
	if err != nil {
		return out, err
	}
	turns = slices.DeleteFunc(turns, func(t Turn) bool { return t.Command != "" }) // a command is not what the session is about
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

func lastIsRun(turns []Turn, runID string) bool {
	return len(turns) == 0 || turns[len(turns)-1].RunID == runID || turns[len(turns)-1].RunID == ""
}

// lastAnswer is what the last turn came to, or the last run if it is newer: a
// compensation has no turn.
func (s *Service) lastAnswer(ctx context.Context, turns []Turn, runs []execution.Run) (*contracts.Answer, error) {
	var last *Turn
	if len(turns) > 0 {
		last = &turns[len(turns)-1]
	}
	if len(runs) > 0 && (last == nil || last.Answer == nil || runs[0].CreatedAt.After(last.CreatedAt)) {
		if last != nil && last.Outcome == TurnClarifying {
			return nil, nil //nolint:nilnil // a question is open: there is no answer yet
		}
		view, err := s.runner.View(ctx, runs[0].ID)
		if err != nil {
			return nil, err
		}
		answer := s.compose(view)
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
