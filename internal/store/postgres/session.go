package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/postgres/proof"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator"
)

var (
	_ orchestrator.Sessions = (*Talk)(nil)
	_ orchestrator.Turns    = (*Talk)(nil)
)

const insertSession = `
INSERT INTO session (id, version, owner, name, webhook_url, created_at, updated_at, body) VALUES ($1, 0, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING`

// CreateSession inserts a session. It commits.
func (s *Talk) CreateSession(ctx context.Context, session orchestrator.Session) error {
	body, err := stored.Encode(session)
	if err != nil {
		return err
	}
	n, err := s.exec(ctx, "create session "+session.ID, proof.OfSession(session.ID), Change{}, insertSession, session.ID, session.Owner.Subject(), session.Name, session.WebhookURL,
		stored.Nanos(session.CreatedAt), stored.Nanos(session.UpdatedAt), body)
	if err == nil && n == 0 {
		return contracts.Errorf(contracts.CodeConflict, "there is a session %q already", session.ID)
	}
	return err
}

const selectSession = `SELECT version, name, updated_at, body FROM session `

// Session gives one session.
func (s *Talk) Session(ctx context.Context, id string) (orchestrator.Session, error) {
	return one(ctx, s.db, "read session "+id, noSession(id), stored.ScanSession, selectSession+`WHERE id = $1`, id)
}

// ListSessions gives the newest first.
func (s *Talk) ListSessions(ctx context.Context, f orchestrator.SessionFilter) (contracts.List[orchestrator.Session], error) {
	var q query
	if f.Owner != "" {
		q.Where(`owner = ?`, f.Owner)
	}
	if !f.Before.IsZero() {
		q.Where(`created_at < ?`, stored.Nanos(f.Before))
	}
	if err := q.Beyond(f.Cursor, `created_at, id`, `<`); err != nil {
		return contracts.List[orchestrator.Session]{}, err
	}
	text, args := q.text(selectSession, `ORDER BY created_at DESC, id DESC`, f.Limit)
	sessions, err := list(ctx, s.db, "list sessions", stored.ScanSession, text, args...)
	return contracts.Cut(sessions, f.Limit, func(s orchestrator.Session) string { return stored.Mark(s.CreatedAt, s.ID) }), err
}

const updateSession = `
UPDATE session SET version = $3, name = $4, webhook_url = $5, updated_at = $6, body = $7 WHERE id = $1 AND version = $2`

// SaveSession replaces a session that nobody has changed since. It commits.
func (s *Talk) SaveSession(ctx context.Context, session orchestrator.Session) (orchestrator.Session, error) {
	was := session.Version
	session.Version++
	body, err := stored.Encode(session)
	if err != nil {
		return session, err
	}
	n, err := s.exec(ctx, "save session "+session.ID, proof.OfSession(session.ID), Change{SessionID: session.ID}, updateSession, session.ID, was, session.Version, session.Name, session.WebhookURL,
		stored.Nanos(session.UpdatedAt), body)
	if err != nil || n > 0 {
		return session, err
	}
	if _, err := s.Session(ctx, session.ID); err != nil {
		return session, err
	}
	return session, contracts.Errorf(contracts.CodeConflict, "session %q has changed since", session.ID)
}

// DeleteSession removes a session with all that belongs to it; ledger entries
// stay. It commits.
func (s *Talk) DeleteSession(ctx context.Context, id string) error {
	return s.transact(ctx, "delete session "+id, func(tx pgx.Tx) error {
		if err := lockForDeletion(ctx, tx); err != nil {
			return err
		}
		return deleteSession(ctx, s.db, tx, id, execution.GoneByRequest)
	})
}

func noSession(id string) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no session %q", id)
}

const (
	selectTurn = `SELECT version, body FROM turn `
	turnOfKey  = `WHERE conversation = $1 AND key = $2 AND model = $3`
	insertTurn = `
INSERT INTO turn (conversation, key, model, version, session_id, interrupt_id, run_id, outcome, begun_at, body)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT DO NOTHING`
	updateTurn = `
UPDATE turn SET version = $5, session_id = $6, interrupt_id = $7, run_id = $8, outcome = $9, body = $10 ` + turnOfKey + ` AND version = $4`
)

// BeginTurn inserts a turn, or gives the one that has its key. It commits.
func (s *Talk) BeginTurn(ctx context.Context, t orchestrator.Turn) (turn orchestrator.Turn, created bool, err error) {
	body, err := stored.Encode(t)
	if err != nil {
		return turn, false, err
	}
	n, err := s.exec(ctx, "begin a turn", proof.OfSession(t.SessionID), Change{SessionID: t.SessionID}, insertTurn, t.Conversation, t.Key, t.Model, t.Version, t.SessionID, t.InterruptID, t.RunID,
		string(t.Outcome), stored.Nanos(t.CreatedAt), body)
	if err != nil {
		return turn, false, err
	}
	turn, err = s.Turn(ctx, t.TurnKey)
	return turn, n > 0 && err == nil, err
}

// SaveTurn replaces a turn that nobody has changed since. It commits.
func (s *Talk) SaveTurn(ctx context.Context, t orchestrator.Turn) (orchestrator.Turn, error) {
	was := t.Version
	t.Version++
	body, err := stored.Encode(t)
	if err != nil {
		return t, err
	}
	n, err := s.exec(ctx, "save a turn", proof.OfSession(t.SessionID), Change{SessionID: t.SessionID, RunID: t.RunID}, updateTurn, t.Conversation, t.Key, t.Model, was, t.Version, t.SessionID, t.InterruptID, t.RunID, string(t.Outcome), body)
	if err != nil || n > 0 {
		return t, err
	}
	if _, err := s.Turn(ctx, t.TurnKey); err != nil {
		return t, err
	}
	return t, contracts.Errorf(contracts.CodeConflict, "turn %q has changed since", t.Key)
}

// Turn gives the turn of a key.
func (s *Talk) Turn(ctx context.Context, key orchestrator.TurnKey) (orchestrator.Turn, error) {
	return one(ctx, s.db, "read a turn", noTurn(key), stored.ScanTurn, selectTurn+turnOfKey, key.Conversation, key.Key, key.Model)
}

// ListTurns gives the turns that the filter selects.
func (s *Talk) ListTurns(ctx context.Context, f orchestrator.TurnFilter) ([]orchestrator.Turn, error) {
	var q query
	if f.SessionID != "" {
		q.Where(`session_id = ?`, f.SessionID)
	}
	if f.InterruptID != "" { // the second half is that of the index
		q.Where(`interrupt_id = ? AND interrupt_id <> ''`, f.InterruptID)
	}
	if f.Unfinished {
		q.Where(`outcome = ''`)
	}
	if !f.Before.IsZero() {
		q.Where(`begun_at < ?`, stored.Nanos(f.Before))
	}
	text, args := q.text(selectTurn, `ORDER BY place`, f.Limit)
	turns, err := list(ctx, s.db, "list turns", stored.ScanTurn, text, args...)
	return contracts.Cut(turns, f.Limit, func(orchestrator.Turn) string { return "" }).Items, err
}

func noTurn(key orchestrator.TurnKey) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no turn %q of conversation %q", key.Key, key.Conversation)
}
