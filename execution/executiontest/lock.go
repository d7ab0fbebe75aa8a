package executiontest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// lockRow is a key with its holder, if any, and its queue.
type lockRow struct {
	holder  *execution.LockHolder
	waiters []waiter
}

// waiter is a node in the queue of a key. It is woken when the key is released. It keeps its place
// until it takes the key, or its run parks without taking it; then the next one is woken.
type waiter struct {
	runID, nodeID string
	woken         bool
}

// AcquireLocks takes all keys for a node, or none.
func (s *Store) AcquireLocks(_ context.Context, l execution.Lease, nodeID string, keys []string) (execution.LockHolder, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.held(l); err != nil {
		return execution.LockHolder{}, false, err
	}
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	for _, key := range keys {
		row := s.lock(key)
		if row.holder != nil && (row.holder.RunID != l.RunID || row.holder.NodeID != nodeID) {
			s.queue(key, l.RunID, nodeID)
			return row.view(), false, nil
		}
	}
	now := time.Now()
	for _, key := range keys {
		if row := s.lock(key); row.holder == nil {
			row.holder = &execution.LockHolder{Key: key, RunID: l.RunID, NodeID: nodeID, Since: now}
		}
	}
	s.leave(l.RunID, nodeID, "")
	return execution.LockHolder{}, true, nil
}

// Locks lists all held locks by key.
func (s *Store) Locks(_ context.Context, p contracts.Page) (contracts.List[execution.LockHolder], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := []execution.LockHolder{}
	for _, key := range slices.Sorted(maps.Keys(s.locks)) {
		if row := s.locks[key]; row.holder != nil {
			held = append(held, row.view())
		}
	}
	return page(held, p, func(l execution.LockHolder) string { return l.Key })
}

// BreakLock releases a key by force, wakes its waiters, and records it in the ledger.
func (s *Store) BreakLock(ctx context.Context, key, by string) (execution.LockHolder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, ok := s.locks[key]
	if !ok || row.holder == nil {
		return execution.LockHolder{}, contracts.Errorf(contracts.CodeNotFound, "nobody holds the lock %q", key)
	}
	broken := row.view()
	var last contracts.LedgerEntry
	if chain := s.ledger[execution.LockChain]; len(chain) > 0 {
		last = chain[len(chain)-1]
	}
	act, _ := execution.AdminActionOf(ctx)
	entry, err := execution.LockBroken(last, broken, by, act, time.Now())
	if err != nil {
		return execution.LockHolder{}, err
	}
	s.ledger[execution.LockChain] = append(s.ledger[execution.LockChain], entry)
	row.holder = nil
	for i := range row.waiters {
		row.waiters[i].woken = true
		s.wake(row.waiters[i].runID)
	}
	return broken, nil
}

func (s *Store) lock(key string) *lockRow {
	if s.locks[key] == nil {
		s.locks[key] = &lockRow{}
	}
	return s.locks[key]
}

func (r *lockRow) view() execution.LockHolder {
	h := *r.holder
	for _, w := range r.waiters {
		h.Waiting = append(h.Waiting, w.runID)
	}
	return h
}

// queue makes a node wait for one key only; it leaves the other queues.
func (s *Store) queue(key, runID, nodeID string) {
	s.leave(runID, nodeID, key)
	row := s.lock(key)
	for i, w := range row.waiters {
		if w.runID == runID && w.nodeID == nodeID {
			row.waiters[i].woken = false
			return
		}
	}
	row.waiters = append(row.waiters, waiter{runID: runID, nodeID: nodeID})
}

// leave removes a node from all queues except one. It returns the runs that were woken because a
// key is free now.
func (s *Store) leave(runID, nodeID, except string) (woken []string) {
	for key, row := range s.locks {
		if key != except {
			woken = append(woken, s.remove(row, func(w waiter) bool { return w.runID == runID && w.nodeID == nodeID })...)
		}
	}
	return woken
}

// forgetWaiter removes a parked run from the queues where it was woken and did not take the key, or
// from all queues. It returns the runs that were woken instead.
func (s *Store) forgetWaiter(runID string, all bool) (woken []string) {
	for _, row := range s.locks {
		woken = append(woken, s.remove(row, func(w waiter) bool { return w.runID == runID && (all || w.woken) })...)
	}
	return woken
}

// remove removes waiters from a queue. If the key is free, the next one is woken.
func (s *Store) remove(row *lockRow, gone func(waiter) bool) (woken []string) {
	before := len(row.waiters)
	row.waiters = slices.DeleteFunc(row.waiters, gone)
	if len(row.waiters) == before || row.holder != nil {
		return nil
	}
	return s.wakeNext(row)
}

// wakeNext wakes the first waiter of a free key.
func (s *Store) wakeNext(row *lockRow) []string {
	for len(row.waiters) > 0 {
		if next := &row.waiters[0]; s.wake(next.runID) {
			next.woken = true
			return []string{next.runID}
		}
		row.waiters = row.waiters[1:]
	}
	return nil
}

// releaseNodes releases the locks and queue places of nodes of a run, and returns the runs that
// were woken.
func (s *Store) releaseNodes(runID string, nodeIDs []string) (woken []string) {
	for _, node := range nodeIDs {
		woken = append(woken, s.leave(runID, node, "")...)
	}
	return append(woken, s.freeWhere(func(h *execution.LockHolder) bool {
		return h.RunID == runID && slices.Contains(nodeIDs, h.NodeID)
	})...)
}

func (s *Store) freeWhere(freed func(*execution.LockHolder) bool) (woken []string) {
	for _, key := range slices.Sorted(maps.Keys(s.locks)) {
		if row := s.locks[key]; row.holder != nil && freed(row.holder) {
			row.holder = nil
			woken = append(woken, s.wakeNext(row)...)
		}
	}
	return woken
}
