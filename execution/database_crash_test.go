package execution_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/internal/pgtest"
	"github.com/manifold-run/manifold/internal/store/postgres"
	"github.com/manifold-run/manifold/internal/store/sqlite"
)

// soon makes take-overs quick: a database has its own clock, so these tests run in real time.
func soon(c *execution.Config) {
	c.LeaseTTL, c.Heartbeat, c.SweepEvery = 400*time.Millisecond, 100*time.Millisecond, 100*time.Millisecond
}

func TestKilledAtEveryWriteToADatabase(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		killedAtEveryWrite(t, func(t *testing.T) execution.Store {
			t.Helper()
			s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "crash.db"), Readers: 2})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s.Runs
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		server := pgtest.Start(t)
		killedAtEveryWrite(t, func(t *testing.T) execution.Store {
			t.Helper()
			s, err := postgres.Open(t.Context(), postgres.Config{URL: server.URL(t), Conns: 3})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s.Runs
		})
	})
}

// killedAtEveryWrite kills a server before and after each write to a store, and lets a second one
// continue. Writes of the domain have keys: others wait half a minute for a look-up, which is free
// in a synctest bubble, but not with a database.
func killedAtEveryWrite(t *testing.T, open func(*testing.T) execution.Store) {
	t.Helper()
	w := newWorld(t)
	w.store = open(t)
	k := executiontest.KillAt(w.store, 0, executiontest.Before)
	nodes := w.crashPlan(contracts.IdempotencyKeyed)
	r := w.runnerOn(k, soon)
	if id := w.submit(r, nodes...); !w.drive(t.Context(), r, id, k.Dead()) {
		t.Fatal("the run did not end")
	}
	if k.Writes() < 10 {
		t.Fatalf("only %d writes to the store", k.Writes())
	}
	for n, at := range moments(t, k.Writes()) {
		t.Run(fmt.Sprintf("killed %s write %d", at, n), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.store = open(t)
			w.survive(contracts.IdempotencyKeyed, n, at, soon)
		})
	}
}
