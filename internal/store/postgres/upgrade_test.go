package postgres_test

import (
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/internal/pgtest"
	"github.com/manifold-run/manifold/orchestrator/orchestratortest"
)

// expand applies schema changes that the next release may make while servers of this release run:
// added columns with defaults, and indexes.
const expand = `
DO $$
DECLARE t text;
BEGIN
  FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT LIKE 'river%' LOOP
    EXECUTE format('ALTER TABLE %I ADD COLUMN of_the_next_release text NOT NULL DEFAULT ''''', t);
    EXECUTE format('CREATE INDEX ON %I (of_the_next_release)', t);
  END LOOP;
END $$`

// expanded returns a store whose tables were changed while it was in use.
func expanded(t *testing.T, url string) *store {
	t.Helper()
	s := open(t, url)
	lease := create(t, s, "before")
	if _, err := s.Commit(t.Context(), execution.Transition{Lease: lease, Nodes: node("n1"), Gates: []contracts.Interrupt{{InterruptID: "before", Code: "BEFORE"}}}); err != nil {
		t.Fatal(err)
	}
	decide(t, s, "before")
	if _, err := s.Commit(t.Context(), execution.Transition{Lease: lease, Finished: true, State: contracts.RunCompleted, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sweep(t.Context(), time.Now().Add(time.Hour)); err != nil { // suites expect an empty store
		t.Fatal(err)
	}
	if _, err := connect(t, url).Exec(t.Context(), expand); err != nil {
		t.Fatal(err)
	}
	return s
}

// Servers are upgraded one at a time. Servers of this release must work with tables that the next
// release has changed.
func TestThisReleaseGoesOnWithExpandedTables(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	t.Run("execution", func(t *testing.T) {
		t.Parallel()
		executiontest.Run(t, func(t *testing.T) execution.Store {
			t.Helper()
			return expanded(t, server.URL(t))
		})
	})
	t.Run("orchestrator", func(t *testing.T) {
		t.Parallel()
		orchestratortest.Run(t, func(t *testing.T) orchestratortest.Opened {
			t.Helper()
			return expanded(t, server.URL(t))
		})
	})
}

// TestRunsOfAnOlderServerAreFound checks runs without search columns, created by an older server
// during an upgrade.
func TestRunsOfAnOlderServerAreFound(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).URL(t)
	executiontest.ListedRuns(t, open(t, url))
	if _, err := connect(t, url).Exec(t.Context(), `DELETE FROM run_search WHERE run_id <> 'r1'`); err != nil {
		t.Fatal(err)
	}
	executiontest.FoundRuns(t, open(t, url))
}
