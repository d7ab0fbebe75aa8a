package sqlstore

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator"
)

var (
	_ orchestrator.Sessions = (*SessionStore)(nil)
	_ orchestrator.Turns    = (*SessionStore)(nil)
)

const (
	insertSession = `
INSERT INTO session (id, version, owner, name, webhook_url, created_at, updated_at, body) VALUES ($1, 0, $2, $3, $4, $5, $6, $7)`
	insertAbsentSession = insertSession + ` ON CONFLICT DO NOTHING`
)

// sessionRow returns the arguments of insertSession.
func sessionRow(s orchestrator.Session) ([]any, error) {
	body, err := stored.Encode(s)
	return []any{s.ID, s.Owner.Subject(), s.Name, s.WebhookURL, stored.Nanos(s.CreatedAt), stored.Nanos(s.UpdatedAt), body}, err
}

func sessionExists(id string) error {
	return contracts.Errorf(contracts.CodeConflict, "there is a session %q already", id)
}

// CreateSession inserts a session, or returns an error of code conflict if its id exists. It
// commits.
func (s *SessionStore) CreateSession(ctx context.Context, session orchestrator.Session) error {
	row, err := sessionRow(session)
	if err != nil {
		return err
	}
	n, err := s.exec(ctx, "create session "+session.ID, ofSession(session.ID), Change{}, insertAbsentSession, row...)
	if err == nil && n == 0 {
		return sessionExists(session.ID)
	}
	return err
}

// CreateSessionWithRun inserts a session and its first run in one transaction. It commits.
func (s *SessionStore) CreateSessionWithRun(ctx context.Context, session orchestrator.Session, run execution.Run, ttl time.Duration, first execution.Transition) error {
	row, err := sessionRow(session)
	if err != nil {
		return err
	}
	c, err := creation(run, ttl, first, s.now())
	if err != nil {
		return err
	}
	createRun := c.apply
	c.apply = func(ctx context.Context, g *group) error {
		if _, there := g.sessions[session.ID]; there {
			return sessionExists(session.ID)
		}
		if err := createRun(ctx, g); err != nil {
			return err
		}
		g.knowSession(session.ID, sessionHead{owner: session.Owner.Subject(), webhook: session.WebhookURL})
		// If another server inserted the session first, this statement fails, and the run is not
		// inserted.
		g.others = append(g.others, Statement{Text: insertSession, Args: row, Scope: ofSession(session.ID)})
		return nil
	}
	return s.write(ctx, "create session "+session.ID+" with run "+run.ID, c)
}

const selectSession = `SELECT version, name, updated_at, body FROM session `

// Session returns one session, or an error of code not_found.
func (s *SessionStore) Session(ctx context.Context, id string) (orchestrator.Session, error) {
	return readRow(ctx, s.core, "read session "+id, missing("session", id), stored.ScanSession, selectSession+`WHERE id = $1`, id)
}

// ListSessions returns a page of sessions, newest first.
func (s *SessionStore) ListSessions(ctx context.Context, f orchestrator.SessionFilter) (contracts.List[orchestrator.Session], error) {
	var q stored.Query
	if f.Owner != "" {
		q.Where(`owner = ?`, f.Owner)
	}
	if !f.Before.IsZero() {
		q.Where(`created_at < ?`, stored.Nanos(f.Before))
	}
	if err := q.Beyond(f.Cursor, `created_at, id`, `<`); err != nil {
		return contracts.List[orchestrator.Session]{}, err
	}
	text, args := q.Text(selectSession, `ORDER BY created_at DESC, id DESC`, f.Limit)
	sessions, err := readAll(ctx, s.core, "list sessions", stored.ScanSession, text, args...)
	return contracts.Cut(sessions, f.Limit, func(s orchestrator.Session) string { return stored.Mark(s.CreatedAt, s.ID) }), err
}

const updateSession = `
UPDATE session SET version = $3, name = $4, webhook_url = $5, updated_at = $6, body = $7 WHERE id = $1 AND version = $2`

// SaveSession replaces a session, or returns an error of code conflict if its version has
// changed. It commits.
func (s *SessionStore) SaveSession(ctx context.Context, session orchestrator.Session) (orchestrator.Session, error) {
	was := session.Version
	session.Version++
	body, err := stored.Encode(session)
	if err != nil {
		return session, err
	}
	n, err := s.exec(ctx, "save session "+session.ID, ofSession(session.ID), Change{SessionID: session.ID}, updateSession, session.ID, was, session.Version, session.Name, session.WebhookURL,
		stored.Nanos(session.UpdatedAt), body)
	if err != nil || n > 0 {
		return session, err
	}
	if _, err := s.Session(ctx, session.ID); err != nil {
		return session, err
	}
	return session, contracts.Errorf(contracts.CodeConflict, "session %q has changed since", session.ID)
}

// DeleteSession deletes a session with all its rows except ledger entries. It returns an error of
// code conflict if a run is unfinished. It commits.
func (s *SessionStore) DeleteSession(ctx context.Context, id string) error {
	act, _ := execution.AdminActionOf(ctx)
	return s.transact(ctx, "delete session "+id, func(ctx context.Context, x Tx) error {
		if err := x.Lock(ctx, LockWaiters, LockBlobs); err != nil {
			return err
		}
		return deleteSession(ctx, x, id, act, execution.GoneByRequest)
	})
}
