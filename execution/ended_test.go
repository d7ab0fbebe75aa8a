package execution_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// countedLoads counts how often a whole run is read.
type countedLoads struct {
	execution.Store

	loads atomic.Int64
}

func (s *countedLoads) LoadRun(ctx context.Context, runID string) (execution.Snapshot, error) {
	s.loads.Add(1)
	return s.Store.LoadRun(ctx, runID)
}

// The view of a run that has just ended is as stored, without reading it.
func TestEndedRunIsSeenAsItIsStored(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("stock", answering(map[string]any{"n": 3.0, "of": []any{"a"}}))
		w.read("broken", func(context.Context, execution.Call) execution.Reply {
			return execution.Reply{Kind: execution.ReplyResult, Result: contracts.ToolResult{
				Summary: "no", Error: &contracts.ToolError{Type: contracts.ErrNotFound, Message: "no"},
			}}
		})
		w.declare("order", keyedWrite(), w.applying)
		store := &countedLoads{Store: w.store}
		r := w.runnerOn(store)
		newest := func(id string) execution.Run {
			t.Helper()
			runs, err := store.ListRuns(t.Context(), execution.RunFilter{SessionID: "s1", Limit: 1, Brief: true})
			if err != nil || runs.Items[0].ID != id {
				t.Fatalf("run %s is not the newest: %v, %v", id, runs, err)
			}
			return runs.Items[0]
		}
		ended := func(nodes ...contracts.Node) execution.Run {
			t.Helper()
			id := w.submit(r, nodes...)
			w.ended(r, id)
			return newest(id)
		}
		seen := func(row execution.Run, wantLoads int64) {
			t.Helper()
			before := store.loads.Load()
			got, err := r.ViewOf(t.Context(), row)
			loads := store.loads.Load() - before
			want, errStored := r.View(t.Context(), row.ID)
			if err != nil || errStored != nil {
				t.Fatal(err, errStored)
			}
			if g, w := asJSON(t, got), asJSON(t, want); g != w {
				t.Errorf("seen as\n%s\nstored is\n%s", g, w)
			}
			if loads != wantLoads {
				t.Errorf("the run was read %d times, want %d", loads, wantLoads)
			}
		}
		reads := func() []contracts.Node {
			return []contracts.Node{
				w.node("n1", "stock", map[string]any{"item": "a"}), w.node("n2", "broken", nil), w.node("n3", "stock", nil, "n2"),
				join("n4", "n1", "n3"), w.node("n5", "stock", map[string]any{"x": "${steps.n1.facts.n}"}, "n4"),
			}
		}
		row := ended(reads()...)
		seen(row, 0)
		seen(row, 1) // it is cached until the first view

		row = ended(reads()...)
		row.LedgerHead = "another"
		seen(row, 1)

		id := w.submit(r, w.node("n1", "order", map[string]any{"item": "a"}))
		w.decide(r, w.gates(r, id, 1)["n1"], contracts.Resume{Decision: contracts.DecisionReject})
		w.ended(r, id)
		seen(newest(id), 1) // it had an interrupt
	})
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
