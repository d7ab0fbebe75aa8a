package sqlite_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/internal/store/sqlite"
)

func TestRunsOfAProcessThatDiedAreDueAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "manifold.db")
	first, err := openAll(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	create(t, first, "r1", execution.Transition{})
	if err := first.Close(); err != nil { // the lease has not expired
		t.Fatal(err)
	}
	second, err := openAll(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	due, err := second.DueRuns(t.Context(), []int{execution.Format}, 10)
	if err != nil || !slices.Contains(due, "r1") {
		t.Errorf("due %v, %v; the run of the dead process must not wait for its lease", due, err)
	}
}

// TestRunsOfABaseOfAnEarlierReleaseAreFound tests the migration that adds the search columns to
// existing runs.
func TestRunsOfABaseOfAnEarlierReleaseAreFound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "manifold.db")
	first, err := openAll(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	executiontest.ListedRuns(t, first)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	step, err := os.ReadFile("migrations/0013_run_search.sql")
	if err != nil {
		t.Fatal(err)
	}
	statements(t, path, "DROP TABLE run_search", string(step))
	second, err := openAll(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	executiontest.FoundRuns(t, second)
}
