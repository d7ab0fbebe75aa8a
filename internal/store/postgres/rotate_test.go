package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/pgtest"
	"github.com/manifold-run/manifold/internal/store/postgres"
	"github.com/manifold-run/manifold/orchestrator"
)

// keyFile simulates the key file of all servers.
type keyFile struct {
	mu   sync.Mutex
	keys [][]byte
}

func (f *keyFile) write(keys ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys = nil
	for _, key := range keys {
		f.keys = append(f.keys, []byte(key))
	}
}

func (f *keyFile) read() ([][]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.keys, nil
}

// server opens the database with the current keys in the file.
func (f *keyFile) server(t *testing.T, url string) *postgres.Store {
	t.Helper()
	known, _ := f.read()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url, Conns: 4, SealKeys: known, SealKeysAgain: f.read})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func cleanRows(t *testing.T, s *postgres.Store) {
	t.Helper()
	if _, err := s.Audit.CheckRows(context.WithoutCancel(t.Context()), func(scope, message string) { t.Errorf("%s: %s", scope, message) }); err != nil {
		t.Error(err)
	}
}

func session(id string) orchestrator.Session { return orchestrator.Session{ID: id} }

// TestTheKeyIsChangedWhileServersWork starts one server with a new key while two servers with the
// old key write. Their writes eventually succeed, and all rows match their seals.
func TestTheKeyIsChangedWhileServersWork(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).URL(t)
	var file keyFile
	file.write("the first key")
	one, two := file.server(t, url), file.server(t, url)
	var begun, work sync.WaitGroup
	done := make(chan struct{})
	for n, s := range []*postgres.Store{one, two} {
		begun.Add(1)
		work.Go(func() {
			for i := 0; ; i++ {
				err := s.Sessions.CreateSession(t.Context(), session(fmt.Sprintf("s%d-%d", n, i)))
				for contracts.CodeOf(err) == contracts.CodeUnavailable { // during the change
					err = s.Sessions.CreateSession(t.Context(), session(fmt.Sprintf("s%d-%d", n, i)))
				}
				if err != nil {
					t.Error(err)
				}
				if i == 5 {
					begun.Done()
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	begun.Wait()
	file.write("the second key", "the first key")
	three := file.server(t, url)
	for i := range 5 {
		if err := three.Sessions.CreateSession(t.Context(), session(fmt.Sprintf("new-%d", i))); err != nil {
			t.Error(err)
		}
	}
	close(done)
	work.Wait()
	for _, s := range []*postgres.Store{one, two, three} {
		if err := s.Sessions.CreateSession(t.Context(), session(fmt.Sprintf("after-%p", s))); err != nil {
			t.Errorf("after the change: %v", err)
		}
		cleanRows(t, s)
	}
}

// TestAServerWithoutTheNewKeyWritesNothing checks that its writes fail until its file has the
// key.
func TestAServerWithoutTheNewKeyWritesNothing(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).URL(t)
	var late, early keyFile
	late.write("the first key")
	early.write("the first key")
	one := late.server(t, url)
	early.write("the second key", "the first key")
	two := early.server(t, url)
	if err := one.Sessions.CreateSession(t.Context(), session("a")); contracts.CodeOf(err) != contracts.CodeUnavailable {
		t.Errorf("a server without the key that the database is sealed with: %v", err)
	}
	late.write("the second key", "the first key")
	if err := one.Sessions.CreateSession(t.Context(), session("a")); err != nil {
		t.Errorf("with it: %v", err)
	}
	cleanRows(t, two)
}
