package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/sqlite"
)

// The file of a server does not stay as big as it once was.
func TestTheFileShrinksWhenRetentionDeletes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "manifold.db")
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 100_000)
	for i := range 400 {
		id := fmt.Sprintf("run_%d", i)
		run := execution.Run{
			ID: id, SessionID: "s", Owner: "one", Format: execution.Format, State: contracts.RunRunning, CreatedAt: time.Now(),
			Plan: contracts.Plan{RunID: id, Owner: contracts.Principal{ID: "ana"}},
		}
		if err := s.Runs.CreateRun(t.Context(), run, time.Hour, execution.Transition{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Runs.Commit(t.Context(), execution.Transition{
			Lease: execution.Lease{RunID: id, Owner: "one", Epoch: 1}, Finished: true, State: contracts.RunCompleted, At: time.Now(),
			Nodes: []execution.NodeRecord{{NodeID: "n1", QueuedFor: long}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	if swept, err := s.Runs.Sweep(t.Context(), time.Now().Add(time.Hour)); err != nil || swept.Runs != 400 {
		t.Fatalf("swept %+v, %v", swept, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	const wrote, keeps = 40_000_000, 12_000_000
	if info.Size() > keeps {
		t.Errorf("the file has %d bytes after %d were deleted, want at most %d", info.Size(), wrote, keeps)
	}
}
