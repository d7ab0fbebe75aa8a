package postgres_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/internal/pgtest"
	"github.com/manifold-run/manifold/internal/store/postgres"
	"github.com/manifold-run/manifold/internal/store/postgres/proof"
	"github.com/manifold-run/manifold/internal/store/seal"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/access/accesstest"
	"github.com/manifold-run/manifold/orchestrator/orchestratortest"
	"github.com/manifold-run/manifold/orchestrator/registry"
	"github.com/manifold-run/manifold/orchestrator/registry/registrytest"
)

// store is a database with all of its stores.
type store struct {
	*postgres.Store
	*postgres.Runs
	*postgres.Talk
	*postgres.Mail
	*postgres.Directory
	*proof.Proofs
}

// open returns a store that is closed at the end of the test.
func open(t *testing.T, url string) *store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url, Conns: 6, SealKeys: [][]byte{[]byte("the key of these tests")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := s.Audit.CheckRows(context.WithoutCancel(t.Context()), func(scope, message string) {
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
	return &store{Store: s, Runs: s.Runs, Talk: s.Sessions, Mail: s.Queue, Directory: s.Admin, Proofs: s.Audit}
}

// TestEveryColumnIsSealedOrNamedHarmless forces a decision about every new column. Tables of the
// job queue are excluded, because a job is only a wake-up.
func TestEveryColumnIsSealedOrNamedHarmless(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).URL(t)
	open(t, url)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	rows, err := conn.Query(t.Context(), `SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name NOT LIKE 'river%'`)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	var sealed []string
	for _, t := range proof.Tables() {
		for _, c := range t.Columns {
			sealed = append(sealed, t.Name+"."+c)
		}
	}
	named := proof.Harmless()
	maps.Copy(named, seal.Checked())
	for _, c := range columns {
		if _, harmless := named[c]; slices.Contains(sealed, c) == harmless {
			t.Errorf("column %s is to be sealed or named harmless, one of the two", c)
		}
	}
	for _, c := range append(slices.Clone(sealed), slices.Collect(maps.Keys(named))...) {
		if !slices.Contains(columns, c) {
			t.Errorf("there is no column %s", c)
		}
	}
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
	t.Run("sign-ins", func(t *testing.T) {
		t.Parallel()
		accesstest.RunSignIns(t, func(t *testing.T) access.SignInStore {
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
