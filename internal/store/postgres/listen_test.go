package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/pgtest"
	"github.com/manifold-run/manifold/internal/store/postgres"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// listening returns the changes that a store receives, after it has connected.
func listening(t *testing.T, s *store) <-chan postgres.Change {
	t.Helper()
	heard := make(chan postgres.Change, 1000)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Listen(ctx, func(c postgres.Change) { heard <- c })
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	hears(t, heard, postgres.Change{}) // changes before the connection are unknown
	return heard
}

// hears waits for one change and ignores others.
func hears(t *testing.T, heard <-chan postgres.Change, want postgres.Change) {
	t.Helper()
	for deadline := time.After(time.Minute); ; {
		select {
		case c := <-heard:
			if c == want {
				return
			}
		case <-deadline:
			t.Fatalf("nobody told of %+v", want)
		}
	}
}

func TestCommitsAreTold(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	address := server.URL(t)
	one, two := open(t, address), open(t, address)
	heard, own := listening(t, two), listening(t, one)
	stranger := listening(t, open(t, server.URL(t)))

	lease := create(t, one, "r1")
	hears(t, heard, postgres.Change{SessionID: "session of r1", RunID: "r1"})
	if _, err := one.Commit(t.Context(), execution.Transition{Lease: lease, Gates: []contracts.Interrupt{{InterruptID: "g1", Code: "AAA"}}}); err != nil {
		t.Fatal(err)
	}
	hears(t, heard, postgres.Change{SessionID: "session of r1", RunID: "r1"})
	if _, err := execution.UpdateInterrupt(t.Context(), one, "g1", func(i *contracts.Interrupt, _ time.Time) error {
		i.Status = contracts.InterruptApproved
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	hears(t, heard, postgres.Change{SessionID: "session of r1", RunID: "r1"})
	if err := one.RequestCancel(t.Context(), "r1", "ana"); err != nil {
		t.Fatal(err)
	}
	hears(t, heard, postgres.Change{SessionID: "session of r1", RunID: "r1"})
	question := contracts.Interrupt{InterruptID: "q1", SessionID: "s1", Type: contracts.InterruptClarification}
	if err := one.OpenInterrupt(t.Context(), question, contracts.Event{SessionID: "s1", Type: contracts.EventInterrupt}); err != nil {
		t.Fatal(err)
	}
	hears(t, heard, postgres.Change{SessionID: "s1"})
	if _, err := one.SaveDomain(t.Context(), registry.DomainRow{Name: "shop", Registration: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	hears(t, heard, postgres.Change{Domains: true})

	// A rejected commit sends no notification, the committer receives none, and other schemas are
	// ignored.
	lease.Epoch = 9
	_, err := one.Commit(t.Context(), execution.Transition{Lease: lease, Nodes: node("n1")})
	wantCode(t, err, contracts.CodeLeaseLost)
	if len(own) > 0 || len(stranger) > 0 || len(heard) > 0 {
		t.Errorf("told in vain: %d to who commits, %d to strangers, %d of nothing", len(own), len(stranger), len(heard))
	}
}

func TestWhoWasCutOffLooksAtEverything(t *testing.T) {
	t.Parallel()
	address := pgtest.Start(t).URL(t)
	s := open(t, address+"&application_name=listener")
	heard := listening(t, s)
	cut := connect(t, address)
	if _, err := cut.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'listener' AND query LIKE 'LISTEN%'`); err != nil {
		t.Fatal(err)
	}
	hears(t, heard, postgres.Change{})
	create(t, open(t, address), "r1")
	hears(t, heard, postgres.Change{SessionID: "session of r1", RunID: "r1"})
}

func TestOneLeads(t *testing.T) {
	t.Parallel()
	address := pgtest.Start(t).URL(t)
	one, two := open(t, address), open(t, address)
	leads := func(s *store, ttl time.Duration) bool {
		t.Helper()
		got, err := s.Acquire(t.Context(), "work", ttl)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if !leads(one, time.Hour) || leads(two, time.Hour) || !leads(one, time.Hour) {
		t.Error("the first to ask leads, and goes on")
	}
	if err := two.Release(t.Context(), "work"); err != nil || leads(two, time.Hour) {
		t.Error("nobody yields what is another's")
	}
	if err := one.Release(t.Context(), "work"); err != nil || !leads(two, time.Nanosecond) {
		t.Error("what was yielded is free")
	}
	if !leads(one, time.Hour) {
		t.Error("what has ended is free")
	}
}
