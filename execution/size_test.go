package execution_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

func TestWorkGrowsWithTheRunAndNotFaster(t *testing.T) {
	t.Parallel()
	shapes := map[string]func(w *world, i int) contracts.Node{
		"a chain": func(w *world, i int) contracts.Node {
			if i == 0 {
				return w.node("n0", "get", nil)
			}
			return w.node(fmt.Sprint("n", i), "get", nil, fmt.Sprint("n", i-1))
		},
		"side by side":            func(w *world, i int) contracts.Node { return w.node(fmt.Sprint("n", i), "get", nil) },
		"side by side in batches": func(w *world, i int) contracts.Node { return w.node(fmt.Sprint("n", i), "chunked", nil) },
		"one after the other":     func(w *world, i int) contracts.Node { return w.node(fmt.Sprint("n", i), "single", nil) },
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				const count = 1000
				answering := func(f map[string]any) func(context.Context, execution.Call) execution.Reply {
					return func(context.Context, execution.Call) execution.Reply {
						time.Sleep(5 * time.Millisecond) // bubble time
						return facts(f)
					}
				}
				w.read("get", answering(map[string]any{"n": 1}))
				w.declare("chunked", contracts.Metadata{SideEffectClass: contracts.ClassRead, ExecutionMode: contracts.ModeParallelChunked}, answering(nil))
				w.declare("single", contracts.Metadata{SideEffectClass: contracts.ClassRead, ExecutionMode: contracts.ModeSequential}, answering(nil))
				var rows, commits atomic.Int64
				r := w.runnerOn(&hooked{Store: w.store, commit: func(ctx context.Context, tr execution.Transition) (execution.Committed, error) {
					rows.Add(int64(len(tr.Nodes)))
					commits.Add(1)
					return w.store.Commit(ctx, tr)
				}})
				var nodes []contracts.Node
				for i := range count {
					nodes = append(nodes, shape(w, i))
				}
				if v := w.ended(r, w.submit(r, nodes...)); v.State != contracts.RunCompleted {
					t.Errorf("state %s", v.State)
				}
				if rows.Load() > 5*count || commits.Load() > 3*count {
					t.Errorf("%d rows in %d commits", rows.Load(), commits.Load())
				}
			})
		})
	}
}
