package postgres_test

import (
	"context"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/internal/pgtest"
	"github.com/manifold-run/manifold/internal/store/postgres"
	"github.com/manifold-run/manifold/internal/store/postgres/proof"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/access/accesstest"
	"github.com/manifold-run/manifold/orchestrator/orchestratortest"
	"github.com/manifold-run/manifold/orchestrator/registry"
	"github.com/manifold-run/manifold/orchestrator/registry/registrytest"
)

// store is a database with all of its parts.
type store struct {
	*postgres.Store
	*postgres.Runs
	*postgres.Talk
	*postgres.Mail
	*postgres.Directory
	*proof.Proofs
}

// open gives a store that is closed with the test.
func open(t *testing.T, url string) *store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url, Conns: 6, SealKeys: [][]byte{[]byte("the key of these tests")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := s.Proofs.CheckRows(context.WithoutCancel(t.Context()), func(scope, message string) {
			if !strings.HasPrefix(scope, "content:") { // suites store what they like under hashes
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
	return &store{Store: s, Runs: s.Runs, Talk: s.Talk, Mail: s.Mail, Directory: s.Directory, Proofs: s.Proofs}
}

func TestSuites(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	t.Run("execution", func(t *testing.T) {
		t.Parallel()
		executiontest.Run(t, func(t *testing.T) execution.Store {
			t.Helper()
			return open(t, server.URL(t))
		})
	})
	t.Run("registry", func(t *testing.T) {
		t.Parallel()
		registrytest.RunStore(t, func(t *testing.T) registry.Store {
			t.Helper()
			return open(t, server.URL(t))
		})
	})
	t.Run("keys", func(t *testing.T) {
		t.Parallel()
		accesstest.RunStore(t, func(t *testing.T) access.KeyStore {
			t.Helper()
			return open(t, server.URL(t))
		})
	})
	t.Run("orchestrator", func(t *testing.T) {
		t.Parallel()
		orchestratortest.Run(t, func(t *testing.T) orchestratortest.Opened {
			t.Helper()
			return open(t, server.URL(t))
		})
	})
}
