package sqlstore

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator"
)

const (
	selectTurn = `SELECT version, body FROM turn `
	turnOfKey  = `WHERE conversation = $1 AND key = $2 AND model = $3`
	insertTurn = `
INSERT INTO turn (conversation, key, model, version, session_id, interrupt_id, outcome, begun_at, body{pg:, run_id})
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9{pg:, $10})
ON CONFLICT DO NOTHING`
	updateTurn = `
UPDATE turn SET version = $5, session_id = $6, interrupt_id = $7, outcome = $8, body = $9{pg:, run_id = $10} ` + turnOfKey + ` AND version = $4`
)

// BeginTurn inserts a turn, or returns the existing one with its key. created reports which. It
// commits.
func (s *SessionStore) BeginTurn(ctx context.Context, t orchestrator.Turn) (turn orchestrator.Turn, created bool, err error) {
	body, err := stored.Encode(t)
	if err != nil {
		return turn, false, err
	}
	n, err := s.exec(ctx, "begin a turn", ofSession(t.SessionID), Change{SessionID: t.SessionID}, insertTurn, t.Conversation, t.Key, t.Model, t.Version, t.SessionID, t.InterruptID,
		string(t.Outcome), stored.Nanos(t.CreatedAt), body, t.RunID)
	if err != nil {
		return turn, false, err
	}
	turn, err = s.Turn(ctx, t.TurnKey)
	return turn, n > 0 && err == nil, err
}

// SaveTurn replaces a turn, or returns an error of code conflict if its version has changed. It
// commits.
func (s *SessionStore) SaveTurn(ctx context.Context, t orchestrator.Turn) (orchestrator.Turn, error) {
	was := t.Version
	t.Version++
	body, err := stored.Encode(t)
	if err != nil {
		return t, err
	}
	n, err := s.exec(ctx, "save a turn", ofSession(t.SessionID), Change{SessionID: t.SessionID, RunID: t.RunID}, updateTurn, t.Conversation, t.Key, t.Model, was, t.Version, t.SessionID, t.InterruptID, string(t.Outcome), body, t.RunID)
	if err != nil || n > 0 {
		return t, err
	}
	if _, err := s.Turn(ctx, t.TurnKey); err != nil {
		return t, err
	}
	return t, contracts.Errorf(contracts.CodeConflict, "turn %q has changed since", t.Key)
}

// Turn returns the turn with a key, or an error of code not_found.
func (s *SessionStore) Turn(ctx context.Context, key orchestrator.TurnKey) (orchestrator.Turn, error) {
	return readRow(ctx, s.core, "read a turn", noTurn(key), stored.ScanTurn, selectTurn+turnOfKey, key.Conversation, key.Key, key.Model)
}

// ListTurns returns the selected turns, oldest first.
func (s *SessionStore) ListTurns(ctx context.Context, f orchestrator.TurnFilter) ([]orchestrator.Turn, error) {
	text, args := selectedTurns(f)
	turns, err := readAll(ctx, s.core, "list turns", stored.ScanTurn, text, args...)
	return contracts.Cut(turns, f.Limit, func(orchestrator.Turn) string { return "" }).Items, err
}

func selectedTurns(f orchestrator.TurnFilter) (text string, args []any) {
	var q stored.Query
	if f.SessionID != "" {
		q.Where(`session_id = ?`, f.SessionID)
	}
	if f.InterruptID != "" { // the second condition matches that of the partial index
		q.Where(`interrupt_id = ? AND interrupt_id <> ''`, f.InterruptID)
	}
	if f.Unfinished {
		q.Where(`outcome = ''`)
	}
	if !f.Before.IsZero() {
		q.Where(`begun_at < ?`, stored.Nanos(f.Before))
	}
	return q.Text(selectTurn, `ORDER BY place`, f.Limit)
}

// SessionState returns the turns, the newest runs (up to limit) and the open gates of a session,
// in one snapshot.
func (s *SessionStore) SessionState(ctx context.Context, sessionID string, limit int) (orchestrator.SessionState, error) {
	var at orchestrator.SessionState
	ofTurns, turnArgs := selectedTurns(orchestrator.TurnFilter{SessionID: sessionID})
	ofRuns, runArgs, err := selectedRuns(execution.RunFilter{SessionID: sessionID, Brief: true, Limit: limit})
	if err != nil {
		return at, err
	}
	open := selectedGates(execution.InterruptFilter{SessionID: sessionID, Status: contracts.InterruptOpen})
	ofGates, gateArgs := open.Text(selectInterrupt, `ORDER BY place`, 0)
	err = s.db.Snapshot(ctx,
		Statement{Text: ofTurns, Args: turnArgs, Each: appendRows(&at.Turns, stored.ScanTurn)},
		Statement{Text: ofRuns, Args: runArgs, Each: appendRows(&at.Runs, stored.ScanRun)},
		Statement{Text: ofGates, Args: gateArgs, Each: appendRows(&at.Open, stored.ScanInterrupt)})
	if err != nil {
		return orchestrator.SessionState{}, s.db.Fault("read where session "+sessionID+" stands", err)
	}
	at.Runs = at.Runs[:min(len(at.Runs), limit)]
	return at, nil
}

func noTurn(key orchestrator.TurnKey) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no turn %q of conversation %q", key.Key, key.Conversation)
}
