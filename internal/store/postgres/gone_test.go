package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/pgtest"
	"github.com/manifold-run/manifold/internal/store/postgres"
)

// TestRunsOfAServerThatIsGoneAreDueAtOnce checks that the leases of an ended process do not delay
// its runs. A live server, and one that holds no lock, keeps its runs.
func TestRunsOfAServerThatIsGoneAreDueAtOnce(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).URL(t)
	one, two := open(t, url), open(t, url)
	ctx, die := context.WithCancel(t.Context())
	ended, heard := make(chan struct{}), make(chan postgres.Change, 100)
	go func() {
		defer close(ended)
		one.Listen(ctx, func(c postgres.Change) { heard <- c })
	}()
	hears(t, heard, postgres.Change{}) // the listener is connected
	listening(t, two)
	hold := func(id, owner string, ttl time.Duration) {
		t.Helper()
		run := execution.Run{ID: id, SessionID: "s", Owner: owner, Format: execution.Format, State: contracts.RunRunning, Plan: contracts.Plan{RunID: id}}
		if err := two.CreateRun(t.Context(), run, ttl, execution.Transition{}); err != nil {
			t.Fatal(err)
		}
	}
	hold("held", one.Name(), time.Hour)
	hold("renewed", one.Name(), 2*time.Hour)
	hold("live", two.Name(), time.Hour)
	hold("older", "replica-of-before", time.Hour)
	due := func() []string {
		t.Helper()
		if err := two.FreeRuns(t.Context(), 90*time.Minute); err != nil {
			t.Fatal(err)
		}
		ids, err := two.DueRuns(t.Context(), []int{execution.Format}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	if ids := due(); len(ids) > 0 {
		t.Fatalf("%v are due while their servers live", ids)
	}
	die()
	<-ended
	deadline := time.Now().Add(time.Minute) // the time for the database to detect the end of the connection
	for ids := due(); len(ids) != 1 || ids[0] != "held"; ids = due() {
		if len(ids) > 1 || time.Now().After(deadline) {
			t.Fatalf("%v are due, want the run of the server that is gone", ids)
		}
	}
	lease, err := two.AcquireRun(t.Context(), "held", two.Name(), time.Hour)
	if err != nil || lease.Epoch != 2 {
		t.Fatalf("%+v, %v", lease, err)
	}
	// If the server were still alive, its commit would be rejected.
	_, err = one.Commit(t.Context(), execution.Transition{Lease: execution.Lease{RunID: "held", Owner: one.Name(), Epoch: 1}})
	if contracts.CodeOf(err) != contracts.CodeLeaseLost {
		t.Errorf("a server that was taken for gone commits: %v", err)
	}
}

// TestABusyServerShowsThatItLives checks that the lock is taken as soon as it is free, even if
// notifications never stop.
func TestABusyServerShowsThatItLives(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).URL(t)
	one, two := open(t, url), open(t, url)
	const key = `hashtextextended('manifold ' || $1::text, 0)`
	broken, watch := connect(t, url), connect(t, url)
	if _, err := broken.Exec(t.Context(), `SELECT pg_advisory_lock(`+key+`)`, one.Name()); err != nil {
		t.Fatal(err)
	}
	listening(t, one)
	if _, err := broken.Exec(t.Context(), `SELECT pg_advisory_unlock(`+key+`)`, one.Name()); err != nil {
		t.Fatal(err)
	}
	lease := create(t, two, "r1")
	until(t, "the server shows that it lives", func() bool {
		if _, err := two.Commit(t.Context(), execution.Transition{Lease: lease, Nodes: node("n1")}); err != nil {
			t.Fatal(err)
		}
		var free bool
		if err := watch.QueryRow(t.Context(), `SELECT pg_try_advisory_lock(`+key+`)`, one.Name()).Scan(&free); err != nil {
			t.Fatal(err)
		}
		if free {
			if _, err := watch.Exec(t.Context(), `SELECT pg_advisory_unlock(`+key+`)`, one.Name()); err != nil {
				t.Fatal(err)
			}
		}
		return !free
	})
}
