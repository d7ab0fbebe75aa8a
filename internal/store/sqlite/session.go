package sqlite

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator"
)

var (
	_ orchestrator.Sessions = (*Talk)(nil)
	_ orchestrator.Turns    = (*Talk)(nil)
)

const insertSession = `
INSERT INTO session (id, owner, name, webhook_url, created_at, updated_at, body) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`

// CreateSession inserts a session.
func (s *Talk) CreateSession(ctx context.Context, session orchestrator.Session) error {
	body, err := stored.Encode(session)
	if err != nil {
		return err
	}
	return s.write(ctx, "create session "+session.ID, func(ctx context.Context, x *tx) error {
		n, err := x.exec(ctx, insertSession, session.ID, session.Owner.Subject(), session.Name, session.WebhookURL,
			stored.Nanos(session.CreatedAt), stored.Nanos(session.UpdatedAt), body)
		if err == nil && n == 0 {
			return contracts.Errorf(contracts.CodeConflict, "there is a session %q already", session.ID)
		}
		return err
	})
}

const selectSession = `SELECT version, name, updated_at, body FROM session `

// Session gives one session.
func (s *Talk) Session(ctx context.Context, id string) (orchestrator.Session, error) {
	var session orchestrator.Session
	err := s.view(ctx, "read session "+id, func(ctx context.Context, h *handle) error {
		var err error
		session, err = stored.ScanSession(h.row(ctx, selectSession+`WHERE id = ?`, id))
		return missing(err, noSession(id))
	})
	return session, err
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
	var sessions []orchestrator.Session
	err := s.view(ctx, "list sessions", func(ctx context.Context, h *handle) error {
		var err error
		sessions, err = collect(ctx, h, stored.ScanSession, text, args...)
		return err
	})
	return contracts.Cut(sessions, f.Limit, func(s orchestrator.Session) string { return stored.Mark(s.CreatedAt, s.ID) }), err
}

// SaveSession replaces a session that nobody has changed since.
func (s *Talk) SaveSession(ctx context.Context, session orchestrator.Session) (orchestrator.Session, error) {
	was := session.Version
	session.Version++
	body, err := stored.Encode(session)
	if err != nil {
		return session, err
	}
	err = s.write(ctx, "save session "+session.ID, func(ctx context.Context, x *tx) error {
		n, err := x.exec(ctx, `UPDATE session SET version = ?, name = ?, webhook_url = ?, updated_at = ?, body = ? WHERE id = ? AND version = ?`,
			session.Version, session.Name, session.WebhookURL, stored.Nanos(session.UpdatedAt), body, session.ID, was)
		if err != nil || n > 0 {
			return err
		}
		var is int64
		if err := x.row(ctx, `SELECT version FROM session WHERE id = ?`, session.ID).Scan(&is); err != nil {
			return missing(err, noSession(session.ID))
		}
		return contracts.Errorf(contracts.CodeConflict, "session %q has changed since", session.ID)
	})
	return session, err
}

// DeleteSession removes a session with all that belongs to it; ledger entries
// stay.
func (s *Talk) DeleteSession(ctx context.Context, id string) error {
	return s.write(ctx, "delete session "+id, func(ctx context.Context, x *tx) error { return deleteSession(ctx, x, id, execution.GoneByRequest) })
}

func deleteSession(ctx context.Context, x *tx, id, why string) error {
	if err := x.deleteRunsOf(ctx, id, why); err != nil {
		return err
	}
	if _, err := x.exec(ctx, `DELETE FROM turn WHERE session_id = ?`, id); err != nil {
		return err
	}
	n, err := x.exec(ctx, `DELETE FROM session WHERE id = ?`, id)
	if err == nil && n == 0 {
		return noSession(id)
	}
	if err != nil {
		return err
	}
	return bury(ctx, x, execution.SessionChain(id), why)
}

func noSession(id string) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no session %q", id)
}

const (
	selectTurn = `SELECT version, body FROM turn `
	turnOfKey  = `WHERE conversation = ? AND key = ? AND model = ?`
	insertTurn = `
INSERT INTO turn (conversation, key, model, session_id, interrupt_id, version, outcome, begun_at, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`
)

// BeginTurn inserts a turn, or gives the one that has its key.
func (s *Talk) BeginTurn(ctx context.Context, t orchestrator.Turn) (turn orchestrator.Turn, created bool, err error) {
	body, err := stored.Encode(t)
	if err != nil {
		return turn, false, err
	}
	err = s.write(ctx, "begin a turn", func(ctx context.Context, x *tx) error {
		n, err := x.exec(ctx, insertTurn, t.Conversation, t.Key, t.Model, t.SessionID, t.InterruptID, t.Version, string(t.Outcome), stored.Nanos(t.CreatedAt), body)
		if err != nil {
			return err
		}
		created = n > 0
		turn, err = stored.ScanTurn(x.row(ctx, selectTurn+turnOfKey, t.Conversation, t.Key, t.Model))
		return err
	})
	return turn, created && err == nil, err
}

// SaveTurn replaces a turn that nobody has changed since.
func (s *Talk) SaveTurn(ctx context.Context, t orchestrator.Turn) (orchestrator.Turn, error) {
	was := t.Version
	t.Version++
	body, err := stored.Encode(t)
	if err != nil {
		return t, err
	}
	err = s.write(ctx, "save a turn", func(ctx context.Context, x *tx) error {
		n, err := x.exec(ctx, `UPDATE turn SET version = ?, session_id = ?, interrupt_id = ?, outcome = ?, body = ? `+turnOfKey+` AND version = ?`,
			t.Version, t.SessionID, t.InterruptID, string(t.Outcome), body, t.Conversation, t.Key, t.Model, was)
		if err != nil || n > 0 {
			return err
		}
		var is int64
		if err := x.row(ctx, `SELECT version FROM turn `+turnOfKey, t.Conversation, t.Key, t.Model).Scan(&is); err != nil {
			return missing(err, noTurn(t.TurnKey))
		}
		return contracts.Errorf(contracts.CodeConflict, "turn %q has changed since", t.Key)
	})
	return t, err
}

// Turn gives the turn of a key.
func (s *Talk) Turn(ctx context.Context, key orchestrator.TurnKey) (orchestrator.Turn, error) {
	var turn orchestrator.Turn
	err := s.view(ctx, "read a turn", func(ctx context.Context, h *handle) error {
		var err error
		turn, err = stored.ScanTurn(h.row(ctx, selectTurn+turnOfKey, key.Conversation, key.Key, key.Model))
		return missing(err, noTurn(key))
	})
	return turn, err
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
	var turns []orchestrator.Turn
	err := s.view(ctx, "list turns", func(ctx context.Context, h *handle) error {
		var err error
		turns, err = collect(ctx, h, stored.ScanTurn, text, args...)
		return err
	})
	return contracts.Cut(turns, f.Limit, func(orchestrator.Turn) string { return "" }).Items, err
}

func noTurn(key orchestrator.TurnKey) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no turn %q of conversation %q", key.Key, key.Conversation)
}
