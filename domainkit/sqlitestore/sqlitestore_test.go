package sqlitestore_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/sqlitestore"
	"github.com/manifold-run/manifold/domainkit/storetest"
)

func open(t *testing.T, path string) *sqlitestore.Store {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) domainkit.Store {
		t.Helper()
		return open(t, filepath.Join(t.TempDir(), "keys of a domain?.db"))
	})
}

func TestKeysOutliveTheProcess(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "keys.db"), time.Now()
	r := domainkit.Record{
		ID: domainkit.KeyID{Scope: "a.b", Key: "k"}, State: domainkit.KeyRunning, Token: "t",
		LeaseUntil: now.Add(time.Minute), ExpiresAt: now.Add(time.Hour),
	}
	first, err := sqlitestore.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, claimed, err := first.Claim(t.Context(), r, now); err != nil || !claimed {
		t.Fatalf("claimed %v (%v)", claimed, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := open(t, path)
	r.Token = "u"
	if standing, claimed, err := second.Claim(t.Context(), r, now); err != nil || claimed || standing.Token != "t" {
		t.Errorf("after a restart: claimed %v, token %q (%v); want the earlier record", claimed, standing.Token, err)
	}
}

func TestTwoProcessesShareAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.db")
	a, b, now := open(t, path), open(t, path), time.Now()
	r := domainkit.Record{ID: domainkit.KeyID{Scope: "a.b", Key: "k"}, State: domainkit.KeyRunning, Token: "t", ExpiresAt: now.Add(time.Hour)}
	if _, claimed, err := a.Claim(t.Context(), r, now); err != nil || !claimed {
		t.Fatalf("claimed %v (%v)", claimed, err)
	}
	if _, claimed, err := b.Claim(t.Context(), r, now); err != nil || claimed {
		t.Errorf("the other process claimed the key too: %v (%v)", claimed, err)
	}
	if err := b.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOpenSaysWhichFileItCannotOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "no", "such", "folder", "keys.db")
	if s, err := sqlitestore.Open(t.Context(), path); err == nil {
		t.Errorf("opened %s (%v)", path, s.Close())
	}
}

// TestAnExecutionThatDiedIsNotWaitedFor: the only process that has the file open knows that its
// executions are dead; with another process, leases count.
func TestAnExecutionThatDiedIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "keys.db"), time.Now()
	r := domainkit.Record{
		ID: domainkit.KeyID{Scope: "a.b", Key: "k"}, State: domainkit.KeyRunning, Token: "t",
		LeaseUntil: now.Add(time.Minute), ExpiresAt: now.Add(time.Hour),
	}
	first, err := sqlitestore.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, claimed, err := first.Claim(t.Context(), r, now); err != nil || !claimed {
		t.Fatalf("claimed %v (%v)", claimed, err)
	}
	next := r
	next.Token = "u"
	beside, err := sqlitestore.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if stolen, err := beside.Steal(t.Context(), next, "t", now); err != nil || stolen {
		t.Errorf("beside the process that runs it: stolen %v (%v)", stolen, err)
	}
	if err := errors.Join(beside.Close(), first.Close()); err != nil {
		t.Fatal(err)
	}
	alone := open(t, path)
	if stolen, err := alone.Steal(t.Context(), next, "t", now); err != nil || !stolen {
		t.Errorf("after it died: stolen %v (%v)", stolen, err)
	}
}

// No process gets SQLITE_BUSY if several open a new file at once.
func TestANewFileIsOpenedByManyAtOnce(t *testing.T) {
	t.Parallel()
	for round := range 40 {
		path := filepath.Join(t.TempDir(), "keys.db")
		var all errgroup.Group
		for range 8 {
			all.Go(func() error {
				db, err := sqlitestore.OpenFile(t.Context(), path)
				if err != nil {
					return err
				}
				return db.Close()
			})
		}
		if err := all.Wait(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}
