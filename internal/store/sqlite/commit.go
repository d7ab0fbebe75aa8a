package sqlite

import (
	"cmp"
	"context"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// Commit applies one transition under the lease.
func (s *Runs) Commit(ctx context.Context, t execution.Transition) (execution.Committed, error) {
	prepared, err := stored.Prepare(t, s.now())
	if err != nil {
		return execution.Committed{}, err
	}
	var done execution.Committed
	err = s.write(ctx, "commit run "+t.Lease.RunID, func(ctx context.Context, x *tx) error {
		r, err := x.held(ctx, t.Lease)
		if err != nil {
			return err
		}
		done, err = x.apply(ctx, r, prepared)
		return err
	})
	if err != nil {
		return execution.Committed{}, err
	}
	return done, nil
}

// apply stores a transition; r is its run's row as it stands.
func (x *tx) apply(ctx context.Context, r head, t *stored.Transition) (execution.Committed, error) {
	for _, part := range []func(context.Context, *head, *stored.Transition) error{
		x.applyNodes, x.applyGates, x.applyIntents, x.applyEvents, x.applyLedger, x.applyContents,
	} {
		if err := part(ctx, &r, t); err != nil {
			return execution.Committed{}, err
		}
	}
	woken, err := x.applyWakes(ctx, &r, t)
	if err != nil {
		return execution.Committed{}, err
	}
	instead, parked, err := x.rest(ctx, &r, t)
	if err != nil {
		return execution.Committed{}, err
	}
	woken = append(woken, instead...)
	slices.Sort(woken)
	return execution.Committed{Parked: parked, WakeSeq: r.wakeSeq, Woken: slices.Compact(woken)}, nil
}

const upsertNode = `
INSERT INTO node (run_id, node_id, body) VALUES (?, ?, ?)
ON CONFLICT (run_id, node_id) DO UPDATE SET body = excluded.body`

func (x *tx) applyNodes(ctx context.Context, r *head, t *stored.Transition) error {
	for i, n := range t.Nodes {
		if _, err := x.exec(ctx, upsertNode, r.id, n.NodeID, t.NodeRows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (x *tx) applyGates(ctx context.Context, r *head, t *stored.Transition) error {
	for i, g := range t.Gates {
		g.SessionID = cmp.Or(g.SessionID, r.session)
		if err := x.insertInterrupt(ctx, g, t.GateRows[i]); err != nil {
			return err
		}
	}
	return nil
}

const insertIntent = `
INSERT INTO intent (run_id, node_id, n, key, nonce, operation, outcome, consumed, body) VALUES (?, ?, ?, ?, ?, ?, '', 0, ?)
ON CONFLICT DO NOTHING`

func (x *tx) applyIntents(ctx context.Context, r *head, t *stored.Transition) error {
	if len(t.Intents) > 0 && r.cancelled {
		return contracts.Errorf(contracts.CodeConflict, "run %s is being cancelled: no write begins any more", r.id)
	}
	for i, in := range t.Intents {
		n, err := x.exec(ctx, insertIntent, r.id, in.NodeID, in.N, in.Key, in.Nonce, in.Operation, t.IntentRows[i])
		if err != nil {
			return err
		}
		if n == 0 {
			return contracts.Errorf(contracts.CodeConflict, "there is an intent %s of node %s already", in.Key, in.NodeID)
		}
	}
	for _, nonce := range t.Consume {
		n, err := x.exec(ctx, `UPDATE intent SET consumed = 1 WHERE nonce = ? AND run_id = ? AND consumed = 0`, nonce, r.id)
		if err != nil {
			return err
		}
		if n == 0 {
			return contracts.Errorf(contracts.CodeConflict, "run %s has no outcome %s to consume", r.id, nonce)
		}
	}
	return nil
}

func (x *tx) applyEvents(ctx context.Context, r *head, t *stored.Transition) error {
	for from := 0; from < len(t.Events); {
		session, to := cmp.Or(t.Events[from].SessionID, r.session), from+1
		for to < len(t.Events) && cmp.Or(t.Events[to].SessionID, r.session) == session {
			to++
		}
		seq, err := x.numberEvents(ctx, session, to-from)
		if err != nil {
			return err
		}
		for ; from < to; from++ {
			if _, err := x.exec(ctx, insertEvent, session, seq, t.Events[from].RunID, t.EventRows[from]); err != nil {
				return err
			}
			seq++
		}
	}
	return nil
}

const nextEvents = `
INSERT INTO event_seq (session_id, seq) VALUES (?1, ?2)
ON CONFLICT (session_id) DO UPDATE SET seq = seq + ?2
RETURNING seq`

// numberEvents takes the numbers of the next n events of a session and gives
// the first. They are taken in the transaction, and there is one writer: commit
// order is number order.
func (x *tx) numberEvents(ctx context.Context, session string, n int) (int64, error) {
	var last int64
	err := x.row(ctx, nextEvents, session, n).Scan(&last)
	return last - int64(n) + 1, err
}

const insertEvent = `INSERT INTO event (session_id, seq, run_id, body) VALUES (?, ?, ?, ?)`

// appendEvent appends one event to a session.
func (x *tx) appendEvent(ctx context.Context, session, runID, body string) error {
	seq, err := x.numberEvents(ctx, session, 1)
	if err != nil {
		return err
	}
	_, err = x.exec(ctx, insertEvent, session, seq, runID, body)
	return err
}

func (x *tx) applyLedger(ctx context.Context, r *head, t *stored.Transition) error {
	for i, e := range t.Ledger {
		if e.Seq != r.ledgerSeq+1 || e.PrevHash != r.ledgerHead {
			return contracts.Errorf(contracts.CodeConflict, "ledger entry %d of run %s does not follow entry %d", e.Seq, r.id, r.ledgerSeq)
		}
		if _, err := x.exec(ctx, `INSERT INTO ledger (run_id, seq, body) VALUES (?, ?, ?)`, r.id, e.Seq, t.LedgerRows[i]); err != nil {
			return err
		}
		r.ledgerSeq, r.ledgerHead = e.Seq, e.Hash
	}
	return nil
}

const upsertData = `
INSERT INTO node_data (run_id, node_id, expires_at, body) VALUES (?, ?, ?, ?)
ON CONFLICT (run_id, node_id) DO UPDATE SET expires_at = excluded.expires_at, body = excluded.body`

func (x *tx) applyContents(ctx context.Context, r *head, t *stored.Transition) error {
	for _, b := range t.Blobs {
		hash := stored.BareHash(b.SHA256)
		_, err := x.exec(ctx, `INSERT INTO blob (sha256, kind, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, hash, b.Kind, stored.BytesOf(b.Body))
		if err == nil {
			err = x.name(ctx, r.id, hash)
		}
		if err != nil {
			return err
		}
	}
	if err := x.name(ctx, r.id, t.Names...); err != nil {
		return err
	}
	for _, d := range t.Data {
		if _, err := x.exec(ctx, upsertData, r.id, d.NodeID, stored.Nanos(d.ExpiresAt), stored.BytesOf(d.Body)); err != nil {
			return err
		}
	}
	return nil
}

// name notes that a run names blobs, so that they are kept as long as it.
func (x *tx) name(ctx context.Context, runID string, hashes ...string) error {
	for _, hash := range hashes {
		if _, err := x.exec(ctx, `INSERT INTO blob_name (sha256, run_id) VALUES (?, ?) ON CONFLICT DO NOTHING`, hash, runID); err != nil {
			return err
		}
	}
	return nil
}

// applyWakes frees locks and wakes the runs that wait for them; the run itself may
// be among them.
func (x *tx) applyWakes(ctx context.Context, r *head, t *stored.Transition) ([]string, error) {
	var woken []string
	for _, node := range t.Release {
		left, err := x.leave(ctx, `run_id = ? AND node_id = ?`, r.id, node)
		if err != nil {
			return nil, err
		}
		freed, err := x.free(ctx, `SELECT key FROM held_lock WHERE run_id = ? AND node_id = ?`, r.id, node)
		if err != nil {
			return nil, err
		}
		woken = append(append(woken, left...), freed...)
	}
	if len(woken) == 0 {
		return nil, nil
	}
	return woken, x.row(ctx, `SELECT wake_seq FROM run WHERE id = ?`, r.id).Scan(&r.wakeSeq)
}

const updateRun = `
UPDATE run SET state = ?, verdict = ?, updated_at = ?, ledger_seq = ?, ledger_head = ?,
  owner = ?, lease_until = ?, parked = ?, handled_seq = ?, wake_at = ?, finished_at = ?
WHERE id = ?`

// rest writes the run's row; it ends or parks the run if the transition asks
// for it. It gives the runs that can go on because this one rests.
func (x *tx) rest(ctx context.Context, r *head, t *stored.Transition) (woken []string, parked bool, err error) {
	var finished int64
	switch {
	case t.Finished:
		finished = stored.Nanos(t.At)
		r.owner, r.leaseUntil, r.wakeAt, r.parked = "", 0, 0, false
		woken, err = x.forgetWaiter(ctx, r.id, true)
	case t.Park && r.wakeSeq == t.SeenWakeSeq:
		r.owner, r.leaseUntil = "", 0
		r.parked, r.handledSeq, r.wakeAt = true, t.SeenWakeSeq, stored.Nanos(t.WakeAt)
		woken, err = x.forgetWaiter(ctx, r.id, false)
	}
	if err != nil {
		return nil, false, err
	}
	_, err = x.exec(ctx, updateRun, cmp.Or(string(t.State), r.state), cmp.Or(t.VerdictRow, r.verdict), stored.Nanos(t.At), r.ledgerSeq, r.ledgerHead,
		r.owner, r.leaseUntil, r.parked, r.handledSeq, r.wakeAt, finished, r.id)
	return woken, r.parked, err
}
