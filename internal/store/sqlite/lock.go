package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

const selectLock = `SELECT key, run_id, node_id, since FROM held_lock `

// AcquireLocks takes all keys for a node, or none.
func (s *Runs) AcquireLocks(ctx context.Context, l execution.Lease, nodeID string, keys []string) (execution.LockHolder, bool, error) {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	var inTheWay []execution.LockHolder
	err := s.write(ctx, "lock for node "+nodeID+" of run "+l.RunID, func(ctx context.Context, x *tx) error {
		if _, err := x.held(ctx, l); err != nil {
			return err
		}
		var err error
		if inTheWay, err = x.foreignLock(ctx, l.RunID, nodeID, keys); err != nil {
			return err
		}
		if len(inTheWay) > 0 {
			return x.queue(ctx, inTheWay[0].Key, l.RunID, nodeID)
		}
		return x.takeLocks(ctx, l.RunID, nodeID, keys)
	})
	if err != nil {
		return execution.LockHolder{}, false, err
	}
	if len(inTheWay) > 0 {
		return inTheWay[0], false, nil
	}
	return execution.LockHolder{}, true, nil
}

const selectForeign = selectLock + `
WHERE key IN (SELECT value FROM json_each(?)) AND NOT (run_id = ? AND node_id = ?) ORDER BY key LIMIT 1`

// foreignLock gives the first of the keys that another node holds.
func (x *tx) foreignLock(ctx context.Context, runID, nodeID string, keys []string) ([]execution.LockHolder, error) {
	wanted, err := list(keys)
	if err != nil {
		return nil, err
	}
	found, err := collect(ctx, x.handle, stored.ScanLock, selectForeign, wanted, runID, nodeID)
	for i := range found {
		if found[i].Waiting, err = x.waiting(ctx, found[i].Key); err != nil {
			return nil, err
		}
	}
	return found, err
}

func (h *handle) waiting(ctx context.Context, key string) ([]string, error) {
	return collect(ctx, h, stored.Text, `SELECT run_id FROM lock_waiter WHERE key = ? ORDER BY place`, key)
}

func (x *tx) takeLocks(ctx context.Context, runID, nodeID string, keys []string) error {
	for _, key := range keys {
		_, err := x.exec(ctx, `INSERT INTO held_lock (key, run_id, node_id, since) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			key, runID, nodeID, stored.Nanos(x.now))
		if err != nil {
			return err
		}
	}
	_, err := x.leave(ctx, `run_id = ? AND node_id = ?`, runID, nodeID)
	return err
}

const insertWaiter = `
INSERT INTO lock_waiter (key, run_id, node_id, woken) VALUES (?, ?, ?, 0)
ON CONFLICT (key, run_id, node_id) DO UPDATE SET woken = 0`

// queue lets a node wait for one key only; its places in other queues go.
func (x *tx) queue(ctx context.Context, key, runID, nodeID string) error {
	if _, err := x.leave(ctx, `run_id = ? AND node_id = ? AND key <> ?`, runID, nodeID, key); err != nil {
		return err
	}
	_, err := x.exec(ctx, insertWaiter, key, runID, nodeID)
	return err
}

// forgetWaiter takes a run that rests out of the queues where it was woken and
// did not take the key, or out of all, and gives the runs woken instead.
func (x *tx) forgetWaiter(ctx context.Context, runID string, all bool) ([]string, error) {
	if all {
		return x.leave(ctx, `run_id = ?`, runID)
	}
	return x.leave(ctx, `run_id = ? AND woken = 1`, runID)
}

// leave takes waiters out of queues. Where the key is free, the next one is
// woken, because the one that left may have been the one to take it.
func (x *tx) leave(ctx context.Context, which string, args ...any) ([]string, error) {
	keys, err := collect(ctx, x.handle, stored.Text, `DELETE FROM lock_waiter WHERE `+which+` RETURNING key`, args...)
	if err != nil {
		return nil, err
	}
	slices.Sort(keys)
	var woken []string
	for _, key := range slices.Compact(keys) {
		next, err := x.wakeNext(ctx, key)
		if err != nil {
			return nil, err
		}
		woken = append(woken, next...)
	}
	return woken, nil
}

const selectFirstWaiter = `
SELECT run_id FROM lock_waiter WHERE key = ? AND NOT EXISTS (SELECT 1 FROM held_lock h WHERE h.key = lock_waiter.key)
ORDER BY place LIMIT 1`

// wakeNext wakes the first waiter of a key that is free. Waiters of runs that
// have ended are gone: the end of a run takes it out of all queues.
func (x *tx) wakeNext(ctx context.Context, key string) ([]string, error) {
	next, err := collect(ctx, x.handle, stored.Text, selectFirstWaiter, key)
	if err != nil || len(next) == 0 {
		return nil, err
	}
	if _, err := x.exec(ctx, `UPDATE lock_waiter SET woken = 1 WHERE key = ? AND run_id = ?`, key, next[0]); err != nil {
		return nil, err
	}
	if err := x.wake(ctx, next[0]); err != nil {
		return nil, err
	}
	return next, nil
}

// free frees the locks that a query names and gives the runs woken.
func (x *tx) free(ctx context.Context, query string, args ...any) ([]string, error) {
	keys, err := collect(ctx, x.handle, stored.Text, query, args...)
	if err != nil {
		return nil, err
	}
	slices.Sort(keys)
	var woken []string
	for _, key := range keys {
		if _, err := x.exec(ctx, `DELETE FROM held_lock WHERE key = ?`, key); err != nil {
			return nil, err
		}
		next, err := x.wakeNext(ctx, key)
		if err != nil {
			return nil, err
		}
		woken = append(woken, next...)
	}
	return woken, nil
}

// Locks gives all held locks by key.
func (s *Runs) Locks(ctx context.Context, p contracts.Page) (contracts.List[execution.LockHolder], error) {
	var q query
	if p.Cursor != "" {
		q.Where(`key > ?`, p.Cursor)
	}
	text, args := q.text(selectLock, `ORDER BY key`, p.Limit)
	var held []execution.LockHolder
	err := s.snapshot(ctx, "list locks", func(ctx context.Context, h *handle) error {
		var err error
		if held, err = collect(ctx, h, stored.ScanLock, text, args...); err != nil {
			return err
		}
		for i := range held {
			if held[i].Waiting, err = h.waiting(ctx, held[i].Key); err != nil {
				return err
			}
		}
		return nil
	})
	return contracts.Cut(held, p.Limit, func(l execution.LockHolder) string { return l.Key }), err
}

// BreakLock frees a key by force, wakes all who wait for it, and tells it in
// the ledger.
func (s *Runs) BreakLock(ctx context.Context, key, by string) (execution.LockHolder, error) {
	var broken execution.LockHolder
	err := s.write(ctx, "break lock "+key, func(ctx context.Context, x *tx) error {
		var err error
		if broken, err = stored.ScanLock(x.row(ctx, selectLock+`WHERE key = ?`, key)); err != nil {
			return missing(err, contracts.Errorf(contracts.CodeNotFound, "nobody holds the lock %q", key))
		}
		if broken.Waiting, err = x.waiting(ctx, key); err != nil {
			return err
		}
		if err := x.ledgerBroken(ctx, broken, by, s.now()); err != nil {
			return err
		}
		if _, err := x.exec(ctx, `DELETE FROM held_lock WHERE key = ?`, key); err != nil {
			return err
		}
		if _, err := x.exec(ctx, `UPDATE lock_waiter SET woken = 1 WHERE key = ?`, key); err != nil {
			return err
		}
		for _, runID := range broken.Waiting {
			if err := x.wake(ctx, runID); err != nil {
				return err
			}
		}
		return nil
	})
	return broken, err
}

// ledgerBroken appends to the chain of broken locks.
func (x *tx) ledgerBroken(ctx context.Context, broken execution.LockHolder, by string, at time.Time) error {
	last, err := lastOf(ctx, x.handle, execution.LockChain)
	if err != nil {
		return err
	}
	entry, err := execution.LockBroken(last, broken, by, x.act, at)
	if err != nil {
		return err
	}
	return appendEntry(ctx, x, entry)
}
