package conversation

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/answer"
	"github.com/manifold-run/manifold/orchestrator/gates"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// View returns the current view of an input's outcome.
func (c *Conversation) View(ctx context.Context, who access.Principal, o Outcome) (orchestrator.SessionView, error) {
	if len(o.Show) > 0 {
		return c.viewOfInterrupts(ctx, who, o)
	}
	if o.Alone {
		return orchestrator.SessionView{InReplyTo: o.InReplyTo, SessionID: o.SessionID, Name: o.Name, Language: o.Language, Notice: o.Notice, Answer: o.Answer, Status: contracts.SessionCompleted}, nil
	}
	view, err := c.views.Part(ctx, who, orchestrator.SessionView{SessionID: o.SessionID, Turn: o.Turn, RunID: o.RunID, After: o.After})
	view.Notice, view.Language, view.InReplyTo = o.Notice, o.Language, o.InReplyTo
	if o.Quiet {
		view.Answer = nil
	}
	return view, err
}

// viewOfInterrupts returns a view of the given gates and questions only.
func (c *Conversation) viewOfInterrupts(ctx context.Context, who access.Principal, o Outcome) (orchestrator.SessionView, error) {
	view := orchestrator.SessionView{InReplyTo: o.InReplyTo, SessionID: o.SessionID, Name: o.Name, Language: o.Language, Notice: o.Notice, Status: contracts.SessionPendingInterrupt}
	view.Open = append(view.Open, o.Show...)
	var err error
	view.MayApprove, view.MayAnswer, err = c.reader.gates.Permissions(ctx, who, o.Show...)
	return view, err
}

// RecordDisplayed records the gates that a reply has displayed in full; an interface calls it when
// the reply is written. If it fails they are displayed again.
func (c *Conversation) RecordDisplayed(ctx context.Context, view orchestrator.SessionView) {
	if err := gates.RecordShown(ctx, c.turns, view); err != nil {
		c.cfg.Logger.WarnContext(ctx, "what was shown is not kept", slog.Any("error", err))
	}
}

// Refresh returns the current state of an earlier view.
func (c *Conversation) Refresh(ctx context.Context, who access.Principal, from orchestrator.SessionView) (orchestrator.SessionView, error) {
	if from.SessionID == "" {
		return from, nil
	}
	view, err := c.views.Part(ctx, who, from)
	view.Notice, view.Language, view.InReplyTo = from.Notice, from.Language, from.InReplyTo
	return view, err
}

// Await refreshes a view until nothing is running, at most for wait.
func (c *Conversation) Await(ctx context.Context, who access.Principal, from orchestrator.SessionView, wait time.Duration) (orchestrator.SessionView, error) {
	view := from
	err := orchestrator.WaitFor(ctx, c.notifier, from.SessionID, wait, func(ctx context.Context) (bool, error) {
		var err error
		view, err = c.Refresh(ctx, who, view)
		return !view.Running, err
	})
	return view, err
}

// Session returns the state of a whole session. It waits while the session is running, at most for
// wait.
func (c *Conversation) Session(ctx context.Context, who access.Principal, id string, wait time.Duration) (contracts.SessionResponse, error) {
	if _, err := c.dir.Read(ctx, who, id); err != nil {
		return contracts.SessionResponse{}, err
	}
	return c.SessionOf(ctx, Outcome{SessionID: id}, wait)
}

// SessionOf is like Session, without an access check: whoever decides a gate may see its result,
// but not the earlier session.
func (c *Conversation) SessionOf(ctx context.Context, o Outcome, wait time.Duration) (contracts.SessionResponse, error) {
	began := time.Now()
	view, ended, err := c.endOfNew(ctx, o, wait)
	if ended || err != nil {
		return view.Response(), err
	}
	wait -= time.Since(began)
	err = orchestrator.WaitUntilIdle(ctx, c.notifier, o.SessionID, wait, func(ctx context.Context) (bool, error) {
		var err error
		view, err = c.views.Session(ctx, orchestrator.Session{ID: o.SessionID})
		return view.Status != contracts.SessionRunning, err
	})
	if err != nil {
		return contracts.SessionResponse{}, err
	}
	view = withReply(view, o)
	view.InReplyTo = o.InReplyTo
	c.RecordDisplayed(ctx, view)
	session, err := c.dir.Get(ctx, o.SessionID) // only for its name and times
	view.Name, view.CreatedAt, view.UpdatedAt = session.Name, session.CreatedAt, session.UpdatedAt
	return view.Response(), err
}

// endOfNew waits for the run of a new session while this process executes it, and returns its end
// from memory. It returns false if the session must be read from the store.
func (c *Conversation) endOfNew(ctx context.Context, o Outcome, wait time.Duration) (view orchestrator.SessionView, ended bool, err error) {
	if o.New == nil || wait <= 0 {
		return view, false, nil
	}
	runner := c.machine.runner
	err = orchestrator.WaitUntilIdle(ctx, c.notifier, o.SessionID, wait, func(context.Context) (bool, error) {
		if runner.Quiet(o.RunID) {
			return false, nil
		}
		view, ended = c.views.OfEnd(*o.New, o.RunID)
		return true, nil
	})
	return view, ended, err
}

// withReply adds the reply to an input to the answer of the session: the REST API has no separate
// field for it.
func withReply(view orchestrator.SessionView, o Outcome) orchestrator.SessionView {
	if len(o.Show) > 0 {
		view.Open = o.Show
	}
	if o.Alone || o.Quiet {
		view.Answer = o.Answer
	}
	if o.Notice == "" {
		return view
	}
	told := contracts.Answer{Blocks: []contracts.Block{{Kind: contracts.BlockNote, Text: o.Notice}}}
	if view.Answer != nil {
		told.Blocks = append(told.Blocks, view.Answer.Blocks...)
		told.Verdict = view.Answer.Verdict
	}
	view.Answer = &told
	return view
}

// Sessions lists the caller's sessions, the newest first.
func (c *Conversation) Sessions(ctx context.Context, who access.Principal, before time.Time, p contracts.Page) (contracts.List[contracts.SessionResponse], error) {
	list, err := c.dir.List(ctx, who, before, p)
	out := contracts.List[contracts.SessionResponse]{Next: list.Next}
	if err != nil {
		return out, err
	}
	for _, session := range list.Items {
		view, err := c.views.Session(ctx, session)
		if err != nil {
			return out, err
		}
		view.Answer = nil // a list shows only states
		out.Items = append(out.Items, view.Response())
	}
	return out, nil
}

// ListTurns returns the turns of a session, the oldest first, without an access check.
func (c *Conversation) ListTurns(ctx context.Context, sessionID string) ([]orchestrator.Turn, error) {
	return c.turns.ListTurns(ctx, orchestrator.TurnFilter{SessionID: sessionID})
}

// Changes returns a channel with a signal after each change of a session, until leave. A signal has
// no content, so there is no access check.
func (c *Conversation) Changes(sessionID string) (signal <-chan struct{}, leave func()) {
	return c.notifier.Subscribe(sessionID, true)
}

// News returns the events of a session after a sequence number.
func (c *Conversation) News(ctx context.Context, who access.Principal, sessionID string, after int64) ([]contracts.Event, error) {
	if _, err := c.dir.Read(ctx, who, sessionID); err != nil {
		return nil, err
	}
	return c.journal.Events(ctx, sessionID, after, contracts.MaxEvents)
}

// Peek returns the view of a chat without creating a session, for the background calls of
// frontends. It returns false if the chat has no session.
func (c *Conversation) Peek(ctx context.Context, who access.Principal, t Thread) (orchestrator.SessionView, bool, error) {
	session, known, err := c.threads.Find(ctx, who, t, "")
	if err != nil || !known {
		return orchestrator.SessionView{}, false, err
	}
	view, err := c.views.Part(ctx, who, orchestrator.SessionView{SessionID: session.ID})
	return view, err == nil, err
}

// IsCurrent reports whether the chat should be continued rather than the newer one: it has an open
// interrupt or run, and the newer one has no session yet.
func (c *Conversation) IsCurrent(ctx context.Context, who access.Principal, conversation, newer string) bool {
	if _, begun, err := c.threads.Own(ctx, who, sessions.ChatID(who, newer)); begun || err != nil {
		return false
	}
	session, begun, err := c.threads.Own(ctx, who, sessions.ChatID(who, conversation))
	if !begun || err != nil {
		return false
	}
	open, err := c.machine.store.Interrupts(ctx, execution.InterruptFilter{SessionID: session.ID, Status: contracts.InterruptOpen, Limit: 1})
	if err != nil || len(open) > 0 {
		return err == nil
	}
	runs, err := c.journal.ListRuns(ctx, execution.RunFilter{SessionID: session.ID, Limit: answer.MaxViewRuns, Brief: true})
	return err == nil && slices.ContainsFunc(runs.Items, func(r execution.Run) bool { return !r.State.Terminal() })
}
