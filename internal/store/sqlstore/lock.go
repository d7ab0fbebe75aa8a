package sqlstore

import (
	"context"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// Changes of resource locks run in a group that holds LockWaiters. They are therefore serialized
// over all processes and may first read and then write.

const selectLock = `
SELECT key, run_id, node_id, since, coalesce((SELECT {pg:json_agg(w.run_id ORDER BY w.place)::text}{lite:json_group_array(w.run_id ORDER BY w.place)}
  FROM lock_waiter w WHERE w.key = held_lock.key), '') FROM held_lock `

func scanLock(row stored.Row) (h execution.LockHolder, err error) {
	var since int64
	var waiting string
	err = row.Scan(&h.Key, &h.RunID, &h.NodeID, &since, &waiting)
	if h.Since = stored.Stamp(since); err == nil && waiting != "" && waiting != "[]" {
		h.Waiting, err = stored.Decode[[]string](waiting)
	}
	return h, err
}

// AcquireLocks takes all keys for a node, or none. If another node holds one of them, it queues
// the node for the first such key and returns its holder and false.
func (s *RunStore) AcquireLocks(ctx context.Context, l execution.Lease, nodeID string, keys []string) (execution.LockHolder, bool, error) {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	var inTheWay []execution.LockHolder
	apply := func(ctx context.Context, g *group) error {
		if _, err := g.held(l); err != nil {
			return err
		}
		var err error
		if inTheWay, err = queryAll(ctx, g.tx, scanLock, selectForeign, keys, l.RunID, nodeID); err != nil {
			return err
		}
		if len(inTheWay) > 0 {
			return g.queue(ctx, inTheWay[0].Key, l.RunID, nodeID)
		}
		return g.takeLocks(ctx, l.RunID, nodeID, keys)
	}
	err := s.write(ctx, "lock for node "+nodeID+" of run "+l.RunID, change{runs: []string{l.RunID}, locks: true, apply: apply})
	if err != nil {
		return execution.LockHolder{}, false, err
	}
	if len(inTheWay) > 0 {
		return inTheWay[0], false, nil
	}
	return execution.LockHolder{}, true, nil
}

// selectForeign selects the first of the keys that another node holds.
const selectForeign = selectLock + `WHERE key {any $1} AND NOT (run_id = $2 AND node_id = $3) ORDER BY key LIMIT 1`

func (g *group) takeLocks(ctx context.Context, runID, nodeID string, keys []string) error {
	held := Rows{Table: &tables.locks}
	for _, key := range keys {
		held.add(key, runID, nodeID, stored.Nanos(g.now))
	}
	if err := g.tx.Send(ctx, nil, held); err != nil {
		return err
	}
	_, err := g.leave(ctx, `run_id = $1 AND node_id = $2`, runID, nodeID)
	return err
}

const insertWaiter = `
INSERT INTO lock_waiter (key, run_id, node_id, woken) VALUES ($1, $2, $3, false)
ON CONFLICT (key, run_id, node_id) DO UPDATE SET woken = false`

// queue adds a node to the queue of one key and removes it from all others.
func (g *group) queue(ctx context.Context, key, runID, nodeID string) error {
	if _, err := g.leave(ctx, `run_id = $1 AND node_id = $2 AND key <> $3`, runID, nodeID, key); err != nil {
		return err
	}
	_, err := g.tx.Exec(ctx, insertWaiter, key, runID, nodeID)
	if r := g.runs[runID]; r != nil {
		r.waits = true // a later change of this group may park the run
	}
	return err
}

// forgetWaiter removes a parked run from the queues in which it was woken without taking the key,
// or a finished one (all) from all queues. It returns the runs that are woken instead.
func (g *group) forgetWaiter(ctx context.Context, r *head, all bool) ([]string, error) {
	switch {
	case !r.waits:
		return nil, nil
	case !g.locked:
		return nil, errNeedsLocks
	case all:
		return g.leave(ctx, `run_id = $1`, r.id)
	default:
		return g.leave(ctx, `run_id = $1 AND woken = true`, r.id)
	}
}

// release removes a node from all queues, frees its locks, and returns the woken runs.
func (g *group) release(ctx context.Context, runID, nodeID string) ([]string, error) {
	woken, err := g.leave(ctx, `run_id = $1 AND node_id = $2`, runID, nodeID)
	if err != nil {
		return nil, err
	}
	freed, err := free(ctx, g.tx, g.wake, `run_id = $1 AND node_id = $2`, runID, nodeID)
	return append(woken, freed...), err
}

func (g *group) leave(ctx context.Context, which string, args ...any) ([]string, error) {
	return leave(ctx, g.tx, g.wake, which, args...)
}

// leave removes waiters from queues. If a key is free, it wakes the next waiter, because the
// removed one may have been the one to take it.
func leave(ctx context.Context, x Querier, wake func(string), which string, args ...any) ([]string, error) {
	keys, err := queryAll(ctx, x, stored.Text, `DELETE FROM lock_waiter WHERE `+which+` RETURNING key`, args...)
	if err != nil {
		return nil, err
	}
	return wakeNext(ctx, x, wake, keys)
}

// free frees the locks that match a condition and returns the woken runs.
func free(ctx context.Context, x Querier, wake func(string), which string, args ...any) ([]string, error) {
	keys, err := queryAll(ctx, x, stored.Text, `DELETE FROM held_lock WHERE `+which+` RETURNING key`, args...)
	if err != nil {
		return nil, err
	}
	return wakeNext(ctx, x, wake, keys)
}

const selectFirstWaiter = `
SELECT run_id FROM lock_waiter WHERE key = $1 AND NOT EXISTS (SELECT 1 FROM held_lock h WHERE h.key = lock_waiter.key)
ORDER BY place LIMIT 1`

// wakeNext wakes the first waiter of each free key. There are no waiters of finished runs:
// finishing removes a run from all queues.
func wakeNext(ctx context.Context, x Querier, wake func(string), keys []string) ([]string, error) {
	slices.Sort(keys)
	var woken []string
	for _, key := range slices.Compact(keys) {
		next, err := queryAll(ctx, x, stored.Text, selectFirstWaiter, key)
		if err != nil {
			return nil, err
		}
		if len(next) == 0 {
			continue
		}
		if _, err := x.Exec(ctx, `UPDATE lock_waiter SET woken = true WHERE key = $1 AND run_id = $2`, key, next[0]); err != nil {
			return nil, err
		}
		wake(next[0])
		woken = append(woken, next...)
	}
	return woken, nil
}

// Locks returns a page of the held locks, sorted by key.
func (s *RunStore) Locks(ctx context.Context, p contracts.Page) (contracts.List[execution.LockHolder], error) {
	var q stored.Query
	if p.Cursor != "" {
		q.Where(`key > ?`, p.Cursor)
	}
	text, args := q.Text(selectLock, `ORDER BY key`, p.Limit)
	held, err := readAll(ctx, s.core, "list locks", scanLock, text, args...)
	return contracts.Cut(held, p.Limit, func(l execution.LockHolder) string { return l.Key }), err
}

// BreakLock frees a key by force, wakes all its waiters, and appends a ledger entry.
func (s *RunStore) BreakLock(ctx context.Context, key, by string) (execution.LockHolder, error) {
	var broken execution.LockHolder
	act, named := execution.AdminActionOf(ctx)
	apply := func(ctx context.Context, g *group) error {
		var err error
		absent := contracts.Errorf(contracts.CodeNotFound, "nobody holds the lock %q", key)
		if broken, err = queryRow(ctx, g.tx, absent, scanLock, selectLock+`WHERE key = $1`, key); err != nil {
			return err
		}
		if err := g.ledgerBroken(ctx, broken, by, act); err != nil {
			return err
		}
		for _, statement := range []string{`DELETE FROM held_lock WHERE key = $1`, `UPDATE lock_waiter SET woken = true WHERE key = $1`} {
			if _, err := g.tx.Exec(ctx, statement, key); err != nil {
				return err
			}
		}
		for _, runID := range broken.Waiting {
			g.wake(runID)
		}
		return nil
	}
	err := s.write(ctx, "break lock "+key, change{keys: []string{key}, locks: true, apply: apply})
	if named && err == nil {
		execution.MarkRecorded(ctx)
	}
	return broken, err
}

// ledgerBroken appends an entry to the chain of broken locks, which LockWaiters guards.
func (g *group) ledgerBroken(ctx context.Context, broken execution.LockHolder, by string, act execution.AdminAction) error {
	last, err := lastOf(ctx, g.tx, execution.LockChain)
	if err != nil {
		return err
	}
	entry, err := execution.LockBroken(last, broken, by, act, g.now)
	if err != nil {
		return err
	}
	return appendEntry(ctx, g.tx, entry)
}
