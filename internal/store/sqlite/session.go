package sqlite

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
)

var (
	_ orchestrator.Sessions = (*Store)(nil)
	_ orchestrator.Turns    = (*Store)(nil)
)

const insertSession = `
INSERT INTO session (id, owner, name, webhook_url, created_at, updated_at, body) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`

// CreateSession inserts a session.
func (s *Store) CreateSession(ctx context.Context, session orchestrator.Session) error {
	body, err := encode(session)
	if err != nil {
		return err
	}
	return s.write(ctx, "create session "+session.ID, func(ctx context.Context, x *tx) error {
		n, err := x.exec(ctx, insertSession, session.ID, session.Owner.Subject(), session.Name, session.WebhookURL,
			nanos(session.CreatedAt), nanos(session.UpdatedAt), body)
		if err == nil && n == 0 {
			return contracts.Errorf(contracts.CodeConflict, "there is a session %q already", session.ID)
		}
		return err
	})
}

const selectSession = `SELECT name, updated_at, body FROM session `

func scanSession(row scanner) (orchestrator.Session, error) {
	var name, body string
	var updated int64
	if err := row.Scan(&name, &updated, &body); err != nil {
		return orchestrator.Session{}, err
	}
	session, err := decode[orchestrator.Session](body)
	session.Name, session.UpdatedAt = name, stamp(updated)
	return session, err
}

// Session gives one session.
func (s *Store) Session(ctx context.Context, id string) (orchestrator.Session, error) {
	var session orchestrator.Session
	err := s.view(ctx, "read session "+id, func(ctx context.Context, h *handle) error {
		var err error
		session, err = scanSession(h.row(ctx, selectSession+`WHERE id = ?`, id))
		return missing(err, noSession(id))
	})
	return session, err
}

// ListSessions gives the newest first.
func (s *Store) ListSessions(ctx context.Context, owner string, before time.Time, limit int) ([]orchestrator.Session, error) {
	var where []string
	var args []any
	if owner != "" {
		where, args = append(where, `owner = ?`), append(args, owner)
	}
	if !before.IsZero() {
		where, args = append(where, `created_at < ?`), append(args, nanos(before))
	}
	query := selectSession + whereAll(where) + `ORDER BY created_at DESC, id DESC LIMIT ?`
	var sessions []orchestrator.Session
	err := s.view(ctx, "list sessions", func(ctx context.Context, h *handle) error {
		var err error
		sessions, err = collect(ctx, h, scanSession, query, append(args, limitOf(limit))...)
		return err
	})
	return sessions, err
}

// RenameSession changes a session's name.
func (s *Store) RenameSession(ctx context.Context, id, name string, at time.Time) error {
	return s.write(ctx, "rename session "+id, func(ctx context.Context, x *tx) error {
		n, err := x.exec(ctx, `UPDATE session SET name = ?, updated_at = ? WHERE id = ?`, name, nanos(at), id)
		if err == nil && n == 0 {
			return noSession(id)
		}
		return err
	})
}

// DeleteSession removes a session with all that belongs to it; ledger entries
// stay.
func (s *Store) DeleteSession(ctx context.Context, id string) error {
	return s.write(ctx, "delete session "+id, func(ctx context.Context, x *tx) error {
		if err := x.deleteRunsOf(ctx, id); err != nil {
			return err
		}
		if _, err := x.exec(ctx, `DELETE FROM turn WHERE session_id = ?`, id); err != nil {
			return err
		}
		n, err := x.exec(ctx, `DELETE FROM session WHERE id = ?`, id)
		if err == nil && n == 0 {
			return noSession(id)
		}
		return err
	})
}

func noSession(id string) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no session %q", id)
}

const (
	selectTurn = `SELECT body FROM turn `
	insertTurn = `
INSERT INTO turn (conversation, key, model, session_id, interrupt_id, body) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`
)

func scanTurn(row scanner) (orchestrator.Turn, error) {
	body, err := text(row)
	if err != nil {
		return orchestrator.Turn{}, err
	}
	return decode[orchestrator.Turn](body)
}

// BeginTurn inserts a turn, or gives the one that has its key.
func (s *Store) BeginTurn(ctx context.Context, t orchestrator.Turn) (turn orchestrator.Turn, created bool, err error) {
	body, err := encode(t)
	if err != nil {
		return turn, false, err
	}
	err = s.write(ctx, "begin a turn", func(ctx context.Context, x *tx) error {
		n, err := x.exec(ctx, insertTurn, t.Conversation, t.Key, t.Model, t.SessionID, t.InterruptID, body)
		if err != nil {
			return err
		}
		created = n > 0
		turn, err = scanTurn(x.row(ctx, selectTurn+`WHERE conversation = ? AND key = ? AND model = ?`, t.Conversation, t.Key, t.Model))
		return err
	})
	return turn, created && err == nil, err
}

// SaveTurn replaces the turn of a key.
func (s *Store) SaveTurn(ctx context.Context, t orchestrator.Turn) error {
	body, err := encode(t)
	if err != nil {
		return err
	}
	return s.write(ctx, "save a turn", func(ctx context.Context, x *tx) error {
		n, err := x.exec(ctx, `UPDATE turn SET session_id = ?, interrupt_id = ?, body = ? WHERE conversation = ? AND key = ? AND model = ?`,
			t.SessionID, t.InterruptID, body, t.Conversation, t.Key, t.Model)
		if err == nil && n == 0 {
			return contracts.Errorf(contracts.CodeNotFound, "there is no turn %q of conversation %q", t.Key, t.Conversation)
		}
		return err
	})
}

// TurnByInterrupt gives the turn that waits for an answer.
func (s *Store) TurnByInterrupt(ctx context.Context, interruptID string) (orchestrator.Turn, error) {
	var turn orchestrator.Turn
	err := s.view(ctx, "find the turn of interrupt "+interruptID, func(ctx context.Context, h *handle) error {
		var err error
		turn, err = scanTurn(h.row(ctx, selectTurn+`WHERE interrupt_id = ? AND interrupt_id <> '' ORDER BY place DESC LIMIT 1`, interruptID))
		return missing(err, contracts.Errorf(contracts.CodeNotFound, "no turn waits for interrupt %q", interruptID))
	})
	return turn, err
}

// SessionTurns gives a session's turns, oldest first.
func (s *Store) SessionTurns(ctx context.Context, sessionID string) ([]orchestrator.Turn, error) {
	var turns []orchestrator.Turn
	err := s.view(ctx, "read the turns of session "+sessionID, func(ctx context.Context, h *handle) error {
		var err error
		turns, err = collect(ctx, h, scanTurn, selectTurn+`WHERE session_id = ? ORDER BY place`, sessionID)
		return err
	})
	return turns, err
}
