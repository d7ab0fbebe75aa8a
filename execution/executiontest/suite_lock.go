package executiontest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

func lockSentences() sentences {
	return sentences{
		"a node takes all of its keys or none":                            allKeysOrNone,
		"taking again what the node holds succeeds":                       takenAgain,
		"another node of the same run is kept out as well":                nodesOfOneRun,
		"locks are refused without the lease":                             locksNeedLease,
		"freeing a key wakes the first who waits, in the same commit":     releaseWakesFirst,
		"a run that does not want the key any more passes the wake-up on": wakeIsPassedOn,
		"a node that lets go does not wait any more either":               releaseEndsWaiting,
		"a run that was woken and came too late keeps its place":          lateComerKeepsPlace,
		"a run that ends leaves the queue and wakes the next":             endLeavesQueue,
		"locks outlive the lease of their run":                            locksOutliveLease,
		"a broken lock is free and wakes all who wait":                    brokenLock,
		"a broken lock is told in a chain of its own":                     brokenLocksAreLedgered,
		"locks are listed by key with those who wait":                     locksAreListed,
		"of many runs exactly one holds a key at a time, and all get it":  oneHolderAtATime,
		"a run that waits for its own other node is not parked past it":   ownWaiterIsNotParked,
	}
}

// take tries to acquire locks and reports whether it did.
func take(t *testing.T, s execution.Store, lease execution.Lease, node string, keys ...string) bool {
	t.Helper()
	holder, ok, err := s.AcquireLocks(t.Context(), lease, node, keys)
	if err != nil {
		t.Fatalf("lock %v for %s: %v", keys, lease.RunID, err)
	}
	if !ok && holder.RunID == "" {
		t.Errorf("lock %v for %s: refused, but nobody is named", keys, lease.RunID)
	}
	return ok
}

func mustTake(t *testing.T, s execution.Store, lease execution.Lease, node string, keys ...string) {
	t.Helper()
	if !take(t, s, lease, node, keys...) {
		t.Fatalf("%s of %s did not get %v", node, lease.RunID, keys)
	}
}

func mustWait(t *testing.T, s execution.Store, lease execution.Lease, node string, keys ...string) {
	t.Helper()
	if take(t, s, lease, node, keys...) {
		t.Fatalf("%s of %s got %v, which somebody else holds", node, lease.RunID, keys)
	}
}

// three returns the leases of three runs.
func three(t *testing.T, s execution.Store) (a, b, c execution.Lease) {
	t.Helper()
	return create(t, s, exampleRun("a")), create(t, s, exampleRun("b")), create(t, s, exampleRun("c"))
}

func allKeysOrNone(t *testing.T, s execution.Store) {
	a, b, _ := three(t, s)
	mustTake(t, s, a, "n1", "k2", "k1")
	holder, ok, err := s.AcquireLocks(t.Context(), b, "n1", []string{"k3", "k2"})
	if err != nil || ok || holder.Key != "k2" || holder.RunID != "a" || holder.NodeID != "n1" || time.Since(holder.Since) > time.Hour {
		t.Errorf("got %+v, %v, %v; want to hear that n1 of a holds k2", holder, ok, err)
	}
	mustTake(t, s, a, "n2", "k3")
	mustTake(t, s, b, "n2")
}

func takenAgain(t *testing.T, s execution.Store) {
	a, _, _ := three(t, s)
	mustTake(t, s, a, "n1", "k1")
	mustTake(t, s, a, "n1", "k1", "k2", "k1")
	held, err := s.Locks(t.Context(), contracts.Page{})
	if err != nil || len(held.Items) != 2 {
		t.Errorf("got %+v, %v; want k1 and k2", held, err)
	}
}

func nodesOfOneRun(t *testing.T, s execution.Store) {
	a, _, _ := three(t, s)
	mustTake(t, s, a, "n1", "k1")
	mustWait(t, s, a, "n2", "k1")
	done := commit(t, s, a, execution.Transition{Release: []string{"n1"}})
	same(t, "woken runs", []string{"a"}, done.Woken)
	mustTake(t, s, a, "n2", "k1")
}

func locksNeedLease(t *testing.T, s execution.Store) {
	a, _, _ := three(t, s)
	for name, lease := range map[string]execution.Lease{
		"another owner": {RunID: "a", Owner: "two", Epoch: 1}, "another epoch": {RunID: "a", Owner: a.Owner, Epoch: 2},
	} {
		_, _, err := s.AcquireLocks(t.Context(), lease, "n1", []string{"k1"})
		if contracts.CodeOf(err) != contracts.CodeLeaseLost {
			t.Errorf("%s: got %v, want lease_lost", name, err)
		}
	}
	held, err := s.Locks(t.Context(), contracts.Page{})
	if err != nil || len(held.Items) != 0 {
		t.Errorf("got %+v, %v; want no locks", held, err)
	}
}

func releaseWakesFirst(t *testing.T, s execution.Store) {
	a, b, c := three(t, s)
	mustTake(t, s, a, "n1", "k1")
	mustWait(t, s, b, "n1", "k1")
	mustWait(t, s, c, "n1", "k1")
	mustWait(t, s, b, "n1", "k1") // trying again does not lose the place in the queue
	park(t, s, b, time.Time{})
	park(t, s, c, time.Time{})
	commit(t, s, a, execution.Transition{Release: []string{"n9"}})
	same(t, "due runs while the key is held", []string{}, due(t, s))
	done := commit(t, s, a, execution.Transition{Release: []string{"n1"}})
	same(t, "woken runs", []string{"b"}, done.Woken)
	same(t, "due runs", []string{"b"}, due(t, s))
	b = acquire(t, s, "b", "one", time.Hour)
	mustTake(t, s, b, "n1", "k1")
	same(t, "woken runs", []string{"c"}, commit(t, s, b, execution.Transition{Release: []string{"n1"}}).Woken)
}

func wakeIsPassedOn(t *testing.T, s execution.Store) {
	a, b, c := three(t, s)
	mustTake(t, s, a, "n1", "k1")
	mustWait(t, s, b, "n1", "k1")
	mustWait(t, s, c, "n1", "k1")
	park(t, s, c, time.Time{})
	commit(t, s, a, execution.Transition{Release: []string{"n1"}})
	same(t, "due runs", []string{}, due(t, s))
	// b was woken, but its node was cancelled meanwhile: it parks without trying.
	done := commit(t, s, b, execution.Transition{Park: true, SeenWakeSeq: wakeSeq(t, s, "b")})
	if !done.Parked {
		t.Fatal("b was not parked")
	}
	same(t, "woken instead", []string{"c"}, done.Woken)
	same(t, "due runs", []string{"c"}, due(t, s))
	mustTake(t, s, acquire(t, s, "c", "one", time.Hour), "n1", "k1")
}

func releaseEndsWaiting(t *testing.T, s execution.Store) {
	a, b, c := three(t, s)
	mustTake(t, s, a, "n1", "k1")
	mustWait(t, s, b, "n1", "k1")
	mustWait(t, s, b, "n2", "k1")
	mustWait(t, s, c, "n1", "k1")
	commit(t, s, b, execution.Transition{Release: []string{"n1"}}) // it was cancelled; b itself continues
	same(t, "woken runs", []string{"b"}, commit(t, s, a, execution.Transition{Release: []string{"n1"}}).Woken)
	same(t, "woken instead", []string{"c"}, commit(t, s, b, execution.Transition{Release: []string{"n2"}}).Woken)
}

func lateComerKeepsPlace(t *testing.T, s execution.Store) {
	a, b, c := three(t, s)
	mustTake(t, s, a, "n1", "k1")
	mustWait(t, s, b, "n1", "k1")
	mustWait(t, s, c, "n1", "k1")
	commit(t, s, a, execution.Transition{Release: []string{"n1"}})
	mustTake(t, s, a, "n2", "k1") // before b, which was woken, tries
	mustWait(t, s, b, "n1", "k1")
	park(t, s, b, time.Time{})
	same(t, "woken runs", []string{"b"}, commit(t, s, a, execution.Transition{Release: []string{"n2"}}).Woken)
}

func endLeavesQueue(t *testing.T, s execution.Store) {
	a, b, c := three(t, s)
	mustTake(t, s, a, "n1", "k1")
	mustWait(t, s, b, "n1", "k1")
	mustWait(t, s, c, "n1", "k1")
	finish(t, s, b)
	if got := wakeSeq(t, s, "c"); got != 0 {
		t.Errorf("c was woken %d times while the key was held", got)
	}
	same(t, "woken runs", []string{"c"}, commit(t, s, a, execution.Transition{Release: []string{"n1"}}).Woken)
	// c is woken, but ends; another node can take the free key.
	finish(t, s, c)
	mustTake(t, s, a, "n2", "k1")
}

func locksOutliveLease(t *testing.T, s execution.Store) {
	_, b, _ := three(t, s)
	createExpired(t, s, exampleRun("r1"))
	old := acquire(t, s, "r1", "two", over)
	mustTake(t, s, old, "n1", "k1")
	next := acquire(t, s, "r1", "three", time.Hour)
	mustWait(t, s, b, "n1", "k1")
	mustTake(t, s, next, "n1", "k1")
	park(t, s, next, time.Time{})
	mustWait(t, s, b, "n1", "k1")
}

func brokenLock(t *testing.T, s execution.Store) {
	a, b, c := three(t, s)
	mustTake(t, s, a, "n1", "k1")
	mustWait(t, s, b, "n1", "k1")
	mustWait(t, s, c, "n1", "k1")
	park(t, s, b, time.Time{})
	park(t, s, c, time.Time{})
	broken, err := s.BreakLock(t.Context(), "k1", "ana")
	if err != nil || broken.RunID != "a" || broken.NodeID != "n1" {
		t.Errorf("got %+v, %v; want what n1 of a held", broken, err)
	}
	same(t, "who waited", []string{"b", "c"}, broken.Waiting)
	same(t, "due runs", []string{"b", "c"}, due(t, s))
	_, err = s.BreakLock(t.Context(), "k1", "ana")
	wantCode(t, err, contracts.CodeNotFound)
	mustTake(t, s, acquire(t, s, "c", "one", time.Hour), "n1", "k1")
}

func brokenLocksAreLedgered(t *testing.T, s execution.Store) {
	a, b, c := three(t, s)
	mustTake(t, s, a, "n1", "k1")
	mustTake(t, s, b, "n7", "k2")
	mustTake(t, s, c, "n1", "k3")
	for key, by := range map[string]string{"k1": "ana", "k2": "bob", "k3": "ana"} {
		if _, err := s.BreakLock(t.Context(), key, by); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.BreakLock(t.Context(), "k1", "eve")
	wantCode(t, err, contracts.CodeNotFound)
	entries, err := s.Ledger(t.Context(), execution.LockChain, 0, 0)
	if err != nil || execution.VerifyChain(entries) != nil {
		t.Fatalf("%v, %v", err, execution.VerifyChain(entries))
	}
	told := map[string]string{}
	for _, e := range entries {
		if e.Kind != contracts.LedgerLockBroken || e.RunID != execution.LockChain || e.At.IsZero() {
			t.Errorf("entry %+v", e)
		}
		told[e.Key] = e.NodeID + " by " + e.Actor
	}
	same(t, "what is told", map[string]string{"k1": "a/n1 by ana", "k2": "b/n7 by bob", "k3": "c/n1 by ana"}, told)
}

func locksAreListed(t *testing.T, s execution.Store) {
	a, b, c := three(t, s)
	mustTake(t, s, a, "n1", "k2")
	mustTake(t, s, b, "n7", "k1")
	mustWait(t, s, c, "n1", "k2")
	mustWait(t, s, b, "n2", "k2")
	held, err := s.Locks(t.Context(), contracts.Page{})
	if err != nil || len(held.Items) != 2 {
		t.Fatalf("got %+v, %v; want two locks", held, err)
	}
	for i := range held.Items {
		held.Items[i].Since = time.Time{}
	}
	same(t, "locks", []execution.LockHolder{
		{Key: "k1", RunID: "b", NodeID: "n7"}, {Key: "k2", RunID: "a", NodeID: "n1", Waiting: []string{"c", "b"}},
	}, held.Items)
	first, err := s.Locks(t.Context(), contracts.Page{Limit: 1})
	if err != nil || len(first.Items) != 1 || first.Items[0].Key != "k1" || first.Next == "" {
		t.Fatalf("the first page: got %+v, %v; want k1 and a next", first, err)
	}
	second, err := s.Locks(t.Context(), contracts.Page{Limit: 1, Cursor: first.Next})
	if err != nil || len(second.Items) != 1 || second.Items[0].Key != "k2" || second.Next != "" {
		t.Errorf("the second page: got %+v, %v; want k2 and no next", second, err)
	}
}

// oneHolderAtATime makes runs follow the protocol of waiters: park if the key is held, continue
// when woken.
func oneHolderAtATime(t *testing.T, s execution.Store) {
	const runs = 12
	var mu sync.Mutex
	holding, got := "", map[string]bool{}
	enter := func(id string) {
		mu.Lock()
		defer mu.Unlock()
		if holding != "" {
			t.Errorf("%s got the key while %s held it", id, holding)
		}
		holding, got[id] = id, true
	}
	leave := func() {
		mu.Lock()
		defer mu.Unlock()
		holding = ""
	}
	var wg sync.WaitGroup
	for i := range runs {
		lease := create(t, s, exampleRun(fmt.Sprintf("r%d", i)))
		wg.Go(func() { lockAndLeave(t, s, lease, enter, leave) })
	}
	wg.Wait()
	if len(got) != runs {
		t.Errorf("%d of %d runs got the key", len(got), runs)
	}
}

func lockAndLeave(t *testing.T, s execution.Store, lease execution.Lease, enter func(string), leave func()) {
	ctx := detached(t)
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		signals, err := s.ReadSignals(ctx, lease.RunID)
		if err != nil {
			t.Errorf("signals: %v", err)
			return
		}
		_, ok, err := s.AcquireLocks(ctx, lease, "n1", []string{"k1"})
		switch {
		case err != nil:
			t.Errorf("lock: %v", err)
			return
		case ok:
			enter(lease.RunID)
			leave()
			if _, err := s.Commit(ctx, execution.Transition{Lease: lease, Release: []string{"n1"}, Finished: true}); err != nil {
				t.Errorf("release: %v", err)
			}
			return
		}
		done, err := s.Commit(ctx, execution.Transition{Lease: lease, Park: true, SeenWakeSeq: signals.WakeSeq})
		if err != nil {
			t.Errorf("park: %v", err)
			return
		}
		if done.Parked && !rise(t, s, &lease, deadline) {
			return
		}
	}
	t.Errorf("%s waits for ever", lease.RunID)
}

// rise waits until a parked run is due and acquires it again.
func rise(t *testing.T, s execution.Store, lease *execution.Lease, deadline time.Time) bool {
	for time.Now().Before(deadline) {
		ids, err := s.DueRuns(detached(t), []int{execution.Format}, 0)
		if err != nil {
			t.Errorf("due runs: %v", err)
			return false
		}
		for _, id := range ids {
			if id == lease.RunID {
				if *lease, err = s.AcquireRun(detached(t), id, lease.Owner, time.Hour); err != nil {
					t.Errorf("acquire: %v", err)
				}
				return err == nil
			}
		}
	}
	t.Errorf("%s was never woken", lease.RunID)
	return false
}

func ownWaiterIsNotParked(t *testing.T, s execution.Store) {
	a, _, _ := three(t, s)
	mustTake(t, s, a, "n1", "k1")
	seen := wakeSeq(t, s, "a")
	mustWait(t, s, a, "n2", "k1")
	done := commit(t, s, a, execution.Transition{Release: []string{"n1"}, Park: true, SeenWakeSeq: seen})
	if done.Parked {
		t.Error("the run was parked although the commit itself woke its other node")
	}
}
