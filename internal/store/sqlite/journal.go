package sqlite

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/stored"
)

const selectEvents = `SELECT seq, body FROM event WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT +?`

// Events gives a session's events after a place.
func (s *Runs) Events(ctx context.Context, sessionID string, after int64, limit int) ([]contracts.Event, error) {
	var events []contracts.Event
	err := s.view(ctx, "read the events of session "+sessionID, func(ctx context.Context, h *handle) error {
		scan := func(row scanner) (contracts.Event, error) { return scanEvent(row, sessionID) }
		var err error
		events, err = collect(ctx, h, scan, selectEvents, sessionID, after, limitOf(limit))
		return err
	})
	return events, err
}

func scanEvent(row scanner, sessionID string) (contracts.Event, error) {
	var seq int64
	var body string
	if err := row.Scan(&seq, &body); err != nil {
		return contracts.Event{}, err
	}
	e, err := stored.Decode[contracts.Event](body)
	e.SessionID, e.Seq = sessionID, seq // known only when it was inserted
	return e, err
}

// Ledger gives the entries of a run's chain after a place.
func (s *Runs) Ledger(ctx context.Context, runID string, after int64, limit int) ([]contracts.LedgerEntry, error) {
	var entries []contracts.LedgerEntry
	err := s.view(ctx, "read the ledger of run "+runID, func(ctx context.Context, h *handle) error {
		scan := func(row scanner) (contracts.LedgerEntry, error) {
			body, err := stored.Text(row)
			if err != nil {
				return contracts.LedgerEntry{}, err
			}
			return stored.Decode[contracts.LedgerEntry](body)
		}
		var err error
		entries, err = collect(ctx, h, scan, `SELECT body FROM ledger WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT +?`, runID, after, limitOf(limit))
		return err
	})
	return entries, err
}

// Blob gives a content by its hash.
func (s *Runs) Blob(ctx context.Context, sha256 string) ([]byte, error) {
	var body []byte
	err := s.view(ctx, "read content "+sha256, func(ctx context.Context, h *handle) error {
		err := h.row(ctx, `SELECT body FROM blob WHERE sha256 = ?`, stored.BareHash(sha256)).Scan(&body)
		return missing(err, contracts.Errorf(contracts.CodeNotFound, "there is no content %s", sha256))
	})
	return body, err
}

// NodeData gives the raw output of a node until it expires.
func (s *Runs) NodeData(ctx context.Context, runID, nodeID string) ([]byte, error) {
	var body []byte
	err := s.view(ctx, "read the raw output of node "+nodeID, func(ctx context.Context, h *handle) error {
		err := h.row(ctx, `SELECT body FROM node_data WHERE run_id = ? AND node_id = ? AND expires_at > ?`, runID, nodeID, stored.Nanos(s.now())).Scan(&body)
		return missing(err, contracts.Errorf(contracts.CodeNotFound, "no raw output of node %s of run %s is kept", nodeID, runID))
	})
	return body, err
}
