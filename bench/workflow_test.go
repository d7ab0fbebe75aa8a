package main

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
	"github.com/manifold-run/manifold/internal/expr"
	"github.com/manifold-run/manifold/planner/workflow"
)

// chainOf returns a workflow of n steps, each of which reads the one before it, by a path or by
// CEL.
func chainOf(n int) *contracts.Manifest {
	w := contracts.Workflow{Name: "w", Schema: json.RawMessage(`{"type":"object"}`)}
	for i := range n {
		step := contracts.Step{ID: fmt.Sprintf("s%d", i), Kind: contracts.StepSet, Set: map[string]any{"x": float64(i)}}
		if i > 0 {
			before := fmt.Sprintf("s%d", i-1)
			step.DependsOn = []string{before}
			step.When = &contracts.Condition{Expr: "${steps." + before + ".ok}"}
			step.Set["y"] = "${int(steps." + before + ".facts.x) + 1}"
		}
		w.Steps = append(w.Steps, step)
	}
	return &contracts.Manifest{Domain: "d", Workflows: []contracts.Workflow{w}}
}

func catalogOf(m *contracts.Manifest) *contracts.Catalog {
	return contracts.NewCatalog("s", []*contracts.DomainEntry{{Name: m.Domain, Manifest: m}}, nil)
}

func BenchmarkAdmissionOf200Steps(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		m := chainOf(200)
		for k := range m.Workflows[0].Steps { // new expressions each time, so that none is cached
			m.Workflows[0].Steps[k].Set["z"] = fmt.Sprintf("${%d + %d}", i, k)
		}
		if f := workflow.Check(m, catalogOf(m)).Findings; len(f) > 0 {
			b.Fatal(f)
		}
	}
}

func BenchmarkWhen(b *testing.B) {
	scope := expr.Scope{"steps": map[string]any{"a": map[string]any{"ok": true, "facts": map[string]any{"n": 3.0}}}}
	for name, text := range map[string]string{"path": "${steps.a.ok}", "cel": "${steps.a.facts.n > 2 && steps.a.ok}"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if holds, _, err := expr.Holds(contracts.Condition{Expr: text}, scope); err != nil || !holds {
					b.Fatal(holds, err)
				}
			}
		})
	}
}

// BenchmarkSteps runs workflows through the state of a run, with their conditions and values; the
// time per step must not grow with their number.
func BenchmarkSteps(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := chainOf(n)
			catalog := catalogOf(m)
			entry, _, err := workflow.Entry(m, &m.Workflows[0], catalog)
			if err != nil {
				b.Fatal(err)
			}
			out, err := workflow.Compile(workflow.Request{Catalog: catalog, Entry: entry})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				runThrough(b, out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/step")
		})
	}
}

func runThrough(b *testing.B, out workflow.Compiled) {
	b.Helper()
	s, err := runstate.Begin(runstate.Run{ID: "r", Format: runstate.Format, Plan: contracts.Plan{Nodes: out.Nodes, Frames: out.Frames}})
	if err != nil {
		b.Fatal(err)
	}
	var changes runstate.Changes
	apply := func(e runstate.Event) {
		if err := s.Apply(time.Time{}, e, &changes); err != nil {
			b.Fatal(err)
		}
	}
	apply(runstate.RunResumed{})
	for n := s.Next(); n != nil; n = s.Next() {
		row := n.Next()
		row.State = contracts.NodeCompleted
		if n.Spec.Set != nil {
			refs, err := expr.Refs(n.Spec.Set)
			if err != nil {
				b.Fatal(err)
			}
			scope, err := s.Scope(n, refs)
			if err != nil {
				b.Fatal(err)
			}
			facts, _, err := expr.Resolve(n.Spec.Set, scope)
			if err != nil {
				b.Fatal(err)
			}
			row.Result = &runstate.Result{Facts: facts.(map[string]any)}
		}
		apply(runstate.NodeEnded{Row: row})
	}
	if !s.Ended() {
		b.Fatal("it has not ended")
	}
}
