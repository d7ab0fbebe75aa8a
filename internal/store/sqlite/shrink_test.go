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
	"github.com/manifold-run/manifold/orchestrator"
)

// The file shrinks after retention has deleted rows.
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

// TestWhatStaysOfASessionIsBounded checks that after retention a run leaves only its ledger,
// which is never deleted, and its session leaves only a ledger entry.
func TestWhatStaysOfASessionIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "manifold.db")
	var s *sqlite.Store
	open := func() {
		t.Helper()
		var err error
		if s, err = sqlite.Open(t.Context(), sqlite.Config{Path: path, SealKeys: [][]byte{[]byte("the key of this test")}}); err != nil {
			t.Fatal(err)
		}
	}
	closedSize := func() int64 {
		t.Helper()
		if _, err := s.Audit.CheckRows(t.Context(), func(scope, message string) { t.Errorf("%s: %s", scope, message) }); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	const sessions, entries = 100, 4
	fill := func(round int) {
		t.Helper()
		for i := range sessions {
			id := fmt.Sprintf("%d_%d", round, i)
			if err := s.Sessions.CreateSession(t.Context(), orchestrator.Session{ID: "s" + id, CreatedAt: time.Now(), UpdatedAt: time.Now()}); err != nil {
				t.Fatal(err)
			}
			run := execution.Run{
				ID: "r" + id, SessionID: "s" + id, Owner: "one", Format: execution.Format, State: contracts.RunRunning, CreatedAt: time.Now(),
				Plan: contracts.Plan{RunID: "r" + id, Owner: contracts.Principal{ID: "ana"}},
			}
			if err := s.Runs.CreateRun(t.Context(), run, time.Hour, execution.Transition{}); err != nil {
				t.Fatal(err)
			}
			end := execution.Transition{
				Lease: execution.Lease{RunID: run.ID, Owner: "one", Epoch: 1}, Finished: true, State: contracts.RunCompleted, At: time.Now(),
			}
			previous := ""
			for n := range entries {
				text := strings.Repeat("x", 1_000)
				end.Nodes = append(end.Nodes, execution.NodeRecord{NodeID: fmt.Sprintf("n%d", n), QueuedFor: text})
				end.Events = append(end.Events, contracts.Event{RunID: run.ID, Type: contracts.EventType("node"), Summary: text})
				hash := fmt.Sprintf("%064d", n)
				end.Ledger = append(end.Ledger, contracts.LedgerEntry{RunID: run.ID, Seq: int64(n + 1), PrevHash: previous, Hash: hash})
				previous = hash
			}
			if _, err := s.Runs.Commit(t.Context(), end); err != nil {
				t.Fatal(err)
			}
		}
	}
	sweep := func() {
		t.Helper()
		later := time.Now().Add(time.Hour)
		if swept, err := s.Runs.Sweep(t.Context(), later); err != nil || swept.Runs != sessions {
			t.Fatalf("swept %+v, %v", swept, err)
		}
		if swept, err := s.Sessions.SweepSessions(t.Context(), later); err != nil || swept.Sessions != sessions {
			t.Fatalf("swept %+v, %v", swept, err)
		}
	}
	open()
	fill(0)
	sweep()
	first := closedSize()
	open()
	fill(1)
	sweep()
	second := closedSize()
	// The ledger: each entry, its index entry, and one more entry that records the deletion.
	const most = (entries + 2) * 400
	if each := (second - first) / sessions; each > most {
		t.Errorf("a session that retention deleted leaves %d bytes, want at most %d", each, most)
	} else {
		t.Logf("a session that retention deleted leaves %d bytes", each)
	}
}
