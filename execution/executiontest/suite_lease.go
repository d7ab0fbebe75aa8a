package executiontest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// over is the duration of a lease that has expired from the start.
const over = -time.Second

func leaseSentences() sentences {
	return sentences{
		"a live lease keeps everybody else out, its owner included":   liveLeaseExcludes,
		"a lease that has ended is taken with a new epoch":            endedLeaseIsTaken,
		"of many replicas exactly one takes a run":                    oneTakesTheRun,
		"a lease is renewed even after it expired, unless it is lost": renewedAfterExpiry,
		"renewing tells what others wrote meanwhile":                  renewTellsWakeSeq,
		"a released run is due at once":                               releasedIsDue,
		"a run of an unknown format is left alone":                    unknownFormat,
		"runs that can go on are due, oldest first, and no others":    dueRuns,
		"the next wake-up is the earliest of the parked runs":         nextWake,
	}
}

func acquire(t *testing.T, s execution.Store, runID, owner string, ttl time.Duration) execution.Lease {
	t.Helper()
	lease, err := s.AcquireRun(t.Context(), runID, owner, ttl)
	if err != nil {
		t.Fatalf("acquire run %s for %s: %v", runID, owner, err)
	}
	return lease
}

// createExpired inserts a run whose owner has vanished.
func createExpired(t *testing.T, s execution.Store, run execution.Run) execution.Lease {
	t.Helper()
	if err := s.CreateRun(t.Context(), run, over, execution.Transition{}); err != nil {
		t.Fatalf("create run %s: %v", run.ID, err)
	}
	return execution.Lease{RunID: run.ID, Owner: run.Owner, Epoch: 1}
}

func liveLeaseExcludes(t *testing.T, s execution.Store) {
	lease := create(t, s, exampleRun("r1"))
	for _, who := range []string{"two", "one"} {
		_, err := s.AcquireRun(t.Context(), "r1", who, time.Hour)
		wantCode(t, err, contracts.CodeConflict)
	}
	commit(t, s, lease, execution.Transition{State: contracts.RunWaiting})
}

func endedLeaseIsTaken(t *testing.T, s execution.Store) {
	old := createExpired(t, s, exampleRun("r1"))
	same(t, "due runs", []string{"r1"}, due(t, s))
	lease := acquire(t, s, "r1", "two", time.Hour)
	same(t, "lease", execution.Lease{RunID: "r1", Owner: "two", Epoch: 2}, lease)
	refused(t, s, old, execution.Transition{State: contracts.RunFailed}, contracts.CodeLeaseLost)
	commit(t, s, lease, execution.Transition{State: contracts.RunWaiting})
}

func oneTakesTheRun(t *testing.T, s execution.Store) {
	createExpired(t, s, exampleRun("r1"))
	var taken atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			_, err := s.AcquireRun(detached(t), "r1", "two", time.Hour)
			if err == nil {
				taken.Add(1)
			} else if contracts.CodeOf(err) != contracts.CodeConflict {
				t.Errorf("acquire: %v", err)
			}
		})
	}
	wg.Wait()
	if taken.Load() != 1 {
		t.Errorf("%d replicas took the run", taken.Load())
	}
}

func renewedAfterExpiry(t *testing.T, s execution.Store) {
	first := createExpired(t, s, exampleRun("r1"))
	second := createExpired(t, s, exampleRun("r2"))
	ended := create(t, s, exampleRun("r3"))
	finish(t, s, ended)
	acquire(t, s, "r2", "two", time.Hour)
	missing := execution.Lease{RunID: "r0", Owner: "one", Epoch: 1}
	kept, err := s.RenewLeases(t.Context(), "one", []execution.Lease{first, second, ended, missing}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "kept leases", map[string]int64{"r1": 0}, kept)
	same(t, "due runs", []string{}, due(t, s))
	_, err = s.AcquireRun(t.Context(), "r1", "two", time.Hour)
	wantCode(t, err, contracts.CodeConflict)
}

func renewTellsWakeSeq(t *testing.T, s execution.Store) {
	lease := create(t, s, exampleRun("r1"))
	if err := s.RequestCancel(t.Context(), "r1", "ana"); err != nil {
		t.Fatal(err)
	}
	kept, err := s.RenewLeases(t.Context(), "one", []execution.Lease{lease}, time.Hour)
	if err != nil || kept["r1"] != 1 {
		t.Errorf("got %v, %v; want one wake-up", kept, err)
	}
}

func releasedIsDue(t *testing.T, s execution.Store) {
	lease := create(t, s, exampleRun("r1"))
	same(t, "due runs", []string{}, due(t, s))
	if err := s.ReleaseRun(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	same(t, "due runs", []string{"r1"}, due(t, s))
	wantCode(t, s.ReleaseRun(t.Context(), lease), contracts.CodeLeaseLost)
	next := acquire(t, s, "r1", "two", time.Hour)
	wantCode(t, s.ReleaseRun(t.Context(), lease), contracts.CodeLeaseLost)
	commit(t, s, next, execution.Transition{})
}

func unknownFormat(t *testing.T, s execution.Store) {
	run := exampleRun("r1")
	run.Format = execution.Format + 1
	createExpired(t, s, run)
	same(t, "due runs", []string{}, due(t, s))
	_, err := s.AcquireRun(t.Context(), "r1", "two", time.Hour)
	wantCode(t, err, contracts.CodeUnsupported)
}

func dueRuns(t *testing.T, s execution.Store) {
	past, future := time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	at := func(id string, minute int) execution.Run {
		run := exampleRun(id)
		run.CreatedAt = day().Add(time.Duration(minute) * time.Minute)
		return run
	}
	create(t, s, at("held", 0))
	createExpired(t, s, at("abandoned", 9))
	park(t, s, create(t, s, at("asleep", 2)), time.Time{})
	park(t, s, create(t, s, at("later", 3)), future)
	park(t, s, create(t, s, at("now", 4)), past)
	park(t, s, create(t, s, at("woken", 5)), future)
	finish(t, s, create(t, s, at("ended", 6)))
	if err := s.RequestCancel(t.Context(), "woken", "ana"); err != nil {
		t.Fatal(err)
	}
	same(t, "due runs", []string{"now", "woken", "abandoned"}, due(t, s))
	ids, err := s.DueRuns(t.Context(), []int{execution.Format}, 1)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the oldest due run", []string{"now"}, ids)
	for _, id := range ids {
		acquire(t, s, id, "two", time.Hour)
	}
	same(t, "due runs after one was taken", []string{"woken", "abandoned"}, due(t, s))
}

func nextWake(t *testing.T, s execution.Store) {
	next, err := s.NextWake(t.Context())
	if err != nil || !next.IsZero() {
		t.Errorf("an empty store wakes somebody at %v, %v", next, err)
	}
	soon, late := time.Now().Add(time.Hour).UTC(), time.Now().Add(2*time.Hour).UTC()
	park(t, s, create(t, s, exampleRun("late")), late)
	park(t, s, create(t, s, exampleRun("soon")), soon)
	park(t, s, create(t, s, exampleRun("never")), time.Time{})
	if next, err = s.NextWake(t.Context()); err != nil || !next.Equal(soon) {
		t.Errorf("got %v, %v; want %v", next, err, soon)
	}
	acquire(t, s, "soon", "two", time.Hour)
	if next, err = s.NextWake(t.Context()); err != nil || !next.Equal(late) {
		t.Errorf("once the first is held: got %v, %v; want %v", next, err, late)
	}
}
