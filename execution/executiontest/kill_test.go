package executiontest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
)

// threeWrites is a process with three writes; it returns how many succeeded.
func threeWrites(ctx context.Context, s execution.Store) (done int) {
	lease := execution.Lease{RunID: "r1", Owner: "one", Epoch: 1}
	node := []execution.NodeRecord{{NodeID: "n1"}}
	writes := []func() error{
		func() error {
			return s.CreateRun(ctx, execution.Run{ID: "r1", Owner: "one"}, time.Hour, execution.Transition{})
		},
		func() error { _, err := s.Commit(ctx, execution.Transition{Lease: lease, Nodes: node}); return err },
		func() error { return s.RequestCancel(ctx, "r1", "ana") },
	}
	for _, write := range writes {
		if _, err := s.RenewLeases(ctx, "one", []execution.Lease{lease}, time.Hour); err != nil { // depends on the clock
			return done
		}
		if write() != nil {
			return done
		}
		done++
	}
	return done
}

// kept counts which of the three writes are stored.
func kept(t *testing.T, s execution.Store) int {
	t.Helper()
	got, err := s.LoadRun(t.Context(), "r1")
	switch {
	case contracts.CodeOf(err) == contracts.CodeNotFound:
		return 0
	case err != nil:
		t.Fatal(err)
	case got.Run.CancelRequestedAt != nil:
		return 3
	case len(got.Nodes) > 0:
		return 2
	}
	return 1
}

func TestKillAt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		n          int
		at         executiontest.Moment
		done, kept int
	}{
		"killed before the first write":        {1, executiontest.Before, 0, 0},
		"killed after the first write":         {1, executiontest.After, 0, 1},
		"killed before the last write":         {3, executiontest.Before, 2, 2},
		"killed after the last write":          {3, executiontest.After, 2, 3},
		"a later write than there are":         {4, executiontest.Before, 3, 3},
		"never killed, the writes are counted": {0, executiontest.After, 3, 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { killOne(t, test.n, test.at, test.done, test.kept) })
		})
	}
}

func killOne(t *testing.T, n int, at executiontest.Moment, wantDone, wantKept int) {
	t.Helper()
	store := executiontest.NewStore()
	process := executiontest.KillAt(store, n, at)
	done := make(chan int)
	go func() { done <- threeWrites(t.Context(), process) }()
	dies := n >= 1 && n <= 3
	if dies {
		<-process.Dead()
		synctest.Wait()
		select {
		case <-done:
			t.Error("the process went on after its death")
		default:
		}
		process.Bury()
	}
	if got := <-done; got != wantDone {
		t.Errorf("the process knows of %d writes, want %d", got, wantDone)
	}
	if got := kept(t, store); got != wantKept {
		t.Errorf("the store kept %d writes, want %d", got, wantKept)
	}
	if !dies && process.Writes() != 3 {
		t.Errorf("counted %d writes, want 3", process.Writes())
	}
}

func TestKilledProcess(t *testing.T) {
	t.Parallel()
	t.Run("it changes nothing any more, and the next process finds what it left", func(t *testing.T) {
		t.Parallel()
		store := executiontest.NewStore()
		process := executiontest.KillAt(store, 2, executiontest.After)
		go threeWrites(t.Context(), process)
		<-process.Dead()
		process.Bury()
		if err := process.RequestCancel(t.Context(), "r1", "a ghost"); contracts.CodeOf(err) != contracts.CodeUnavailable {
			t.Errorf("a dead process got %v", err)
		}
		if _, err := process.LoadRun(t.Context(), "r1"); contracts.CodeOf(err) != contracts.CodeUnavailable {
			t.Errorf("a dead process could read: %v", err)
		}
		if got := kept(t, store); got != 2 {
			t.Errorf("the next process finds %d writes, want 2", got)
		}
	})
	t.Run("a call that hangs ends with its context", func(t *testing.T) {
		t.Parallel()
		process := executiontest.KillAt(executiontest.NewStore(), 1, executiontest.Before)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- process.RequestCancel(ctx, "r1", "ana") }()
		<-process.Dead()
		cancel()
		if err := <-done; contracts.CodeOf(err) != contracts.CodeUnavailable {
			t.Errorf("got %v", err)
		}
	})
}

// TestKilledStore runs the whole suite through a process that stays alive: the decorator itself
// changes nothing.
func TestKilledStore(t *testing.T) {
	t.Parallel()
	executiontest.Run(t, func(*testing.T) execution.Store {
		return executiontest.KillAt(executiontest.NewStore(), 0, executiontest.Before)
	})
}
