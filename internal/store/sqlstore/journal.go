package sqlstore

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// Events returns up to limit events of a session after a sequence number.
func (s *RunStore) Events(ctx context.Context, sessionID string, after int64, limit int) ([]contracts.Event, error) {
	limit = stored.LimitOf(limit)
	var found []contracts.Event
	err := s.db.Read(ctx, func(q Querier) error {
		return q.Query(ctx, func(row stored.Row) error {
			if len(found) >= limit {
				return nil
			}
			pack, last := stored.EventPack{SessionID: sessionID}, int64(0)
			if err := row.Scan(&last, &pack.RunID, &pack.Body); err != nil {
				return err
			}
			events, err := pack.Events(last)
			for _, e := range events {
				if e.Seq > after && len(found) < limit {
					found = append(found, e)
				}
			}
			return err
		}, `SELECT seq, run_id, body FROM event WHERE session_id = $1 AND seq > $2 ORDER BY seq LIMIT 0 + $3`, sessionID, after, limit)
	})
	return found, s.db.Fault("read the events of session "+sessionID, err)
}

// Ledger returns up to limit entries of a run's chain after a sequence number.
func (s *RunStore) Ledger(ctx context.Context, runID string, after int64, limit int) ([]contracts.LedgerEntry, error) {
	return readAll(ctx, s.core, "read the ledger of run "+runID, func(row stored.Row) (contracts.LedgerEntry, error) {
		body, err := stored.Text(row)
		if err != nil {
			return contracts.LedgerEntry{}, err
		}
		return stored.Decode[contracts.LedgerEntry](body)
	}, `SELECT body FROM ledger WHERE run_id = $1 AND seq > $2 ORDER BY seq LIMIT 0 + $3`, runID, after, stored.LimitOf(limit))
}

// Blob returns a content by its hash, or an error of code not_found.
func (s *RunStore) Blob(ctx context.Context, sha256 string) ([]byte, error) {
	return readRow(ctx, s.core, "read content "+sha256, contracts.Errorf(contracts.CodeNotFound, "there is no content %s", sha256),
		bytes, `SELECT body FROM blob WHERE sha256 = $1`, stored.BareHash(sha256))
}

// Payload returns the payload of a ledger entry. Older payloads are stored as contents by hash.
func (s *RunStore) Payload(ctx context.Context, e contracts.LedgerEntry) ([]byte, error) {
	payload, err := readRow(ctx, s.core, "read a payload of "+e.RunID, nil, func(row stored.Row) ([]byte, error) {
		var first int64
		var pack []byte
		if err := row.Scan(&first, &pack); err != nil {
			return nil, err
		}
		return stored.PayloadOf(pack, e.Seq-first)
	}, `SELECT seq, body FROM payload WHERE run_id = $1 AND seq <= $2 ORDER BY seq DESC LIMIT 1`, e.RunID, e.Seq)
	if err != nil || payload != nil {
		return payload, err
	}
	return s.Blob(ctx, e.PayloadSHA256)
}

// NodeData returns the raw output of a node, or an error of code not_found if it has expired.
func (s *RunStore) NodeData(ctx context.Context, runID, nodeID string) ([]byte, error) {
	return readRow(ctx, s.core, "read the raw output of node "+nodeID,
		contracts.Errorf(contracts.CodeNotFound, "no raw output of node %s of run %s is kept", nodeID, runID),
		bytes, `SELECT body FROM node_data WHERE run_id = $1 AND node_id = $2 AND expires_at > {now}`, runID, nodeID)
}

const selectIntent = `SELECT operation, outcome, consumed, body FROM intent `
