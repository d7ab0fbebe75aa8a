package sqlite_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/internal/store/sqlite"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/access/accesstest"
	"github.com/manifold-run/manifold/orchestrator/orchestratortest"
	"github.com/manifold-run/manifold/orchestrator/registry"
	"github.com/manifold-run/manifold/orchestrator/registry/registrytest"
)

// store is a database with all of its stores.
type store struct {
	*sqlite.Store
	*sqlite.Runs
	*sqlite.Talk
	*sqlite.Mail
	*sqlite.Directory
	*sqlite.Proofs
}

func openAll(ctx context.Context, cfg sqlite.Config) (*store, error) {
	s, err := sqlite.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &store{Store: s, Runs: s.Runs, Talk: s.Sessions, Mail: s.Queue, Directory: s.Admin, Proofs: s.Audit}, nil
}

// open returns a fresh store that is closed at the end of the test.
func open(t *testing.T, path string) *store {
	t.Helper()
	s, err := openAll(t.Context(), sqlite.Config{Path: path, SealKeys: [][]byte{[]byte("the key of these tests")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := s.CheckRows(context.WithoutCancel(t.Context()), func(scope, message string) {
			if !strings.HasPrefix(scope, "content:") { // suites store arbitrary content under hashes
				t.Errorf("after the test: %s: %s", scope, message)
			}
		})
		if err != nil && contracts.CodeOf(err) != contracts.CodeUnavailable {
			t.Errorf("check the rows: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func fresh(t *testing.T) *store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "data", "manifold.db"))
}

func TestExecutionStore(t *testing.T) {
	t.Parallel()
	executiontest.Run(t, func(t *testing.T) execution.Store {
		t.Helper()
		return fresh(t)
	})
}

func TestRegistryStore(t *testing.T) {
	t.Parallel()
	registrytest.RunStore(t, func(t *testing.T) registry.Store {
		t.Helper()
		return fresh(t)
	})
}

func TestKeyStore(t *testing.T) {
	t.Parallel()
	accesstest.RunStore(t, func(t *testing.T) access.KeyStore {
		t.Helper()
		return fresh(t)
	})
}

func TestSignIns(t *testing.T) {
	t.Parallel()
	accesstest.RunSignIns(t, func(t *testing.T) access.SignInStore {
		t.Helper()
		return fresh(t)
	})
}

func TestOrchestratorStore(t *testing.T) {
	t.Parallel()
	orchestratortest.Run(t, func(t *testing.T) orchestratortest.Opened {
		t.Helper()
		return fresh(t)
	})
}
