package execution_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/runstate"
	"github.com/manifold-run/manifold/internal/store/sqlite"
)

// TestARunOfTheFirstFormatGoesOn opens a database that the program wrote at 5ac7812, before there
// was a second format: a run that waits for an approval after a list, with its rows in any order,
// and an ended one.
func TestARunOfTheFirstFormatGoesOn(t *testing.T) {
	t.Parallel()
	// A little after the file was written: its gate expires a week later.
	behind := time.Since(time.Date(2026, 11, 22, 12, 30, 0, 0, time.UTC))
	clock := func() time.Time { return time.Now().Add(-behind) }
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: unpacked(t, filepath.Join("testdata", "format1.db.gz")), Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	w := newWorld(t)
	w.store = store.Runs
	w.read("list", answering(nil))
	w.read("get", func(_ context.Context, c execution.Call) execution.Reply {
		return facts(map[string]any{"id": c.Parameters["id"]})
	})
	w.declare("order", keyedWrite(), w.applying)
	r := w.runner(func(c *execution.Config) { c.Now = clock })

	before, err := store.Runs.LoadRun(t.Context(), "run_waiting")
	if err != nil || before.Run.Format != runstate.Format1 {
		t.Fatalf("the run has format %d (%v)", before.Run.Format, err)
	}
	gate := w.gates(r, "run_waiting", 1)["n3"]
	w.decide(r, gate, contracts.Resume{Decision: contracts.DecisionApprove})
	v := w.until(r, "run_waiting", "ended or asked again", func(v contracts.RunView) bool {
		return v.State.Terminal() || len(v.Interrupts) > 0 && v.Interrupts[0].InterruptID != gate.InterruptID
	})
	if v.State != contracts.RunCompleted || v.Nodes[2].Params["first"] != "id00" || v.Nodes[3].State != contracts.NodeCompleted {
		t.Errorf("the run is %s: %+v", v.State, v.Nodes[2])
	}
	if diff := cmp.Diff(map[string]int{"run_waiting/n3/1": 1}, w.applied()); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	for _, id := range []string{"run_waiting", "run_ended"} {
		if replayed, err := r.Replay(t.Context(), id); err != nil || len(replayed.Differences) > 0 || replayed.State != contracts.RunCompleted {
			t.Errorf("replay of %s: %+v, %v", id, replayed, err)
		}
		snap, err := w.store.LoadRun(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		entries, err := w.store.Ledger(t.Context(), id, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		read := func(e contracts.LedgerEntry) ([]byte, error) { return w.store.Payload(t.Context(), e) }
		if faults := execution.VerifyRows(snap, entries, read); len(faults) > 0 {
			t.Errorf("rows of %s: %q", id, faults)
		}
	}
	after, err := store.Runs.LoadRun(t.Context(), "run_waiting")
	if err != nil || after.Run.Format != runstate.Format1 {
		t.Errorf("the run has format %d now (%v)", after.Run.Format, err)
	}
}

// TestAWorkflowOfAnEarlierFormatGoesOn opens databases that the program wrote: at 6a39dd5, before
// there was a third format, and with it. In each, the example with a repair and an iteration has
// ended once, and waits once for the approval of its second write. The waiting run continues
// without repeating a write; the ledgers explain both runs and match their rows.
func TestAWorkflowOfAnEarlierFormatGoesOn(t *testing.T) {
	t.Parallel()
	for format := runstate.Format2; format <= runstate.Format3; format++ {
		t.Run(fmt.Sprint("format ", format), func(t *testing.T) {
			t.Parallel()
			behind := time.Since(time.Date(2026, 11, 22, 18, 30, 0, 0, time.UTC))
			clock := func() time.Time { return time.Now().Add(-behind) }
			packed := filepath.Join("testdata", fmt.Sprintf("format%d.db.gz", format))
			store, err := sqlite.Open(t.Context(), sqlite.Config{Path: unpacked(t, packed), Now: clock})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			w := newWorld(t)
			w.store = store.Runs
			s := newStudio(t, w)
			r := w.runner(func(c *execution.Config) { c.Now = clock })
			s.goesOn(t, r, format)
			for _, id := range []string{"run_waiting", "run_ended"} {
				explained(t, w, r, id, format)
			}
		})
	}
}

// goesOn answers the open interrupts, with a studio that has the flows written before.
func (s *studio) goesOn(t *testing.T, r *execution.Runner, format int) {
	t.Helper()
	before, err := s.store.LoadRun(t.Context(), "run_waiting")
	if err != nil || before.Run.Format != format {
		t.Fatalf("the run has format %d (%v)", before.Run.Format, err)
	}
	for _, row := range before.Nodes {
		if row.NodeID != "apply_create" {
			continue
		}
		made, _ := row.Result.Facts["sha256"].(string)
		for _, run := range []string{"run_ended", "run_waiting"} { // the flows that they created
			s.Execute(contracts.ExecuteRequest{
				Capability: "create_chatflow", Context: contracts.ExecuteContext{IdempotencyKey: run},
				Parameters: map[string]any{"flow_data": map[string]any{"flow": strings.TrimPrefix(made, "sha-")}},
			})
		}
	}
	for {
		v := s.until(r, "run_waiting", "asking or ended", func(v contracts.RunView) bool { return v.State.Terminal() || len(v.Interrupts) > 0 })
		if v.State.Terminal() {
			if v.State != contracts.RunCompleted || nodeOf(t, v, "result").Summary != "The chatflow is done: one change" {
				t.Errorf("the run is %s: %v", v.State, states(v))
			}
			break
		}
		if i := v.Interrupts[0]; i.Type == contracts.InterruptWriteApproval {
			s.decide(r, i, contracts.Resume{Decision: contracts.DecisionApprove})
		} else {
			s.decide(r, i, contracts.Resume{Response: "accept"})
		}
	}
	calls := s.callsOf("apply_patch")
	if len(calls) != 1 || calls[0].Context.IdempotencyKey != "run_waiting/apply_patch#2/1" || len(s.callsOf("create_chatflow")) != 0 {
		t.Errorf("written was %v", calls)
	}
}

// explained checks a run against its ledger and its rows.
func explained(t *testing.T, w *world, r *execution.Runner, id string, format int) {
	t.Helper()
	if replayed, err := r.Replay(t.Context(), id); err != nil || len(replayed.Differences) > 0 || replayed.State != contracts.RunCompleted {
		t.Errorf("replay of %s: %+v, %v", id, replayed, err)
	}
	snap, err := w.store.LoadRun(t.Context(), id)
	if err != nil || snap.Run.Format != format {
		t.Fatalf("%s has format %d now (%v)", id, snap.Run.Format, err)
	}
	entries, err := w.store.Ledger(t.Context(), id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	read := func(e contracts.LedgerEntry) ([]byte, error) { return w.store.Payload(t.Context(), e) }
	if faults := execution.VerifyRows(snap, entries, read); len(faults) > 0 {
		t.Errorf("rows of %s: %q", id, faults)
	}
}

func unpacked(t *testing.T, packed string) string {
	t.Helper()
	in, err := os.Open(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	content, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "format1.db")
	out, err := os.Create(path)
	if err == nil {
		_, err = io.Copy(out, content)
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
