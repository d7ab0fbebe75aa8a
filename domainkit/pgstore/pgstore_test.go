package pgstore_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/pgstore"
	"github.com/manifold-run/manifold/domainkit/storetest"
	"github.com/manifold-run/manifold/internal/pgtest"
)

func open(t *testing.T, address string) *pgstore.Store {
	t.Helper()
	s, err := pgstore.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	t.Run("suite", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(t *testing.T) domainkit.Store {
			t.Helper()
			return open(t, server.URL(t))
		})
	})
	t.Run("of several processes that begin at once, one claims a key", func(t *testing.T) {
		t.Parallel()
		claimedOnce(t, server.URL(t))
	})
	t.Run("tables of a newer release are refused, faulty steps undone", func(t *testing.T) {
		t.Parallel()
		migrations(t, server.URL(t))
	})
}

func claimedOnce(t *testing.T, address string) {
	const processes, keys = 6, 20
	now := time.Now()
	claims, errs := make([][]string, processes), make([]error, processes)
	var all sync.WaitGroup
	for p := range processes {
		all.Go(func() {
			s, err := pgstore.Open(t.Context(), address)
			if err != nil {
				errs[p] = err
				return
			}
			defer s.Close()
			for k := range keys {
				r := domainkit.Record{
					ID: domainkit.KeyID{Scope: "a.b", Key: fmt.Sprint(k)}, State: domainkit.KeyRunning, Token: fmt.Sprint(p),
					LeaseUntil: now.Add(time.Minute), ExpiresAt: now.Add(time.Hour),
				}
				_, claimed, err := s.Claim(t.Context(), r, now)
				if claimed {
					claims[p] = append(claims[p], r.ID.Key)
				}
				errs[p] = errors.Join(errs[p], err, s.Ping(t.Context()))
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	by := map[string]int{}
	for _, list := range claims {
		for _, key := range list {
			by[key]++
		}
	}
	for k := range keys {
		if n := by[fmt.Sprint(k)]; n != 1 {
			t.Errorf("key %d was claimed %d times", k, n)
		}
	}
}

func migrations(t *testing.T, address string) {
	pool, err := pgxpool.New(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	steps := func(files map[string]string) fstest.MapFS {
		out := fstest.MapFS{}
		for name, text := range files {
			out[name] = &fstest.MapFile{Data: []byte(text)}
		}
		return out
	}
	two := steps(map[string]string{"0001_a.sql": "CREATE TABLE a (x int); INSERT INTO a VALUES (1);", "0002_b.sql": "ALTER TABLE a ADD COLUMN y int;"})
	for range 2 { // the second call has nothing to do
		if err := pgstore.Migrate(t.Context(), pool, "thing", two); err != nil {
			t.Fatal(err)
		}
	}
	delete(two, "0002_b.sql")
	if err := pgstore.Migrate(t.Context(), pool, "thing", two); contracts.CodeOf(err) != contracts.CodeUnsupported {
		t.Errorf("tables of a newer release: %v", err)
	}
	faulty := steps(map[string]string{"0001_a.sql": "CREATE TABLE half (x int); NONSENSE;"})
	if err := pgstore.Migrate(t.Context(), pool, "other", faulty); err == nil {
		t.Error("nonsense was done")
	}
	if _, err := pool.Exec(t.Context(), "SELECT * FROM half"); err == nil {
		t.Error("half of a step stands")
	}
	if err := pgstore.Migrate(t.Context(), pool, "other", steps(map[string]string{"0002_a.sql": ""})); err == nil {
		t.Error("a step with the wrong number was done")
	}
}

func TestAnUnreachableDatabaseIsNamedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"postgres://someone:hunter2@127.0.0.1:1/keys?connect_timeout=5",
		"postgres://someone:hunter2@127.0.0.1:1/keys?sslmode=nonsense",
	} {
		_, err := pgstore.Open(t.Context(), address)
		if err == nil || !strings.Contains(err.Error(), "idempotency keys") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	}
}
