package executiontest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// runsInEveryState lists and counts runs of each state. Every second run has another owner, and is
// parked if it is open.
func runsInEveryState(t *testing.T, s execution.Store) {
	states := everyState(t, s)
	filters := []execution.RunFilter{{}, {Limit: 7}, {Owner: "ben"}, {Owner: "ben", Limit: 3}, {Goal: "things"}, {Goal: "things", Owner: "ben"}, {Goal: "nothing"}, {States: states}}
	for _, state := range states {
		one := []contracts.RunState{state}
		filters = append(filters,
			execution.RunFilter{States: one}, execution.RunFilter{States: one, Owner: "ben"}, execution.RunFilter{States: one, Goal: "things"},
			execution.RunFilter{States: []contracts.RunState{state, contracts.RunFailed}, Before: day().Add(4 * time.Minute)})
	}
	for _, f := range filters {
		want, counted := []string(nil), map[contracts.RunState]int{}
		for i, state := range slices.Backward(states) {
			fits := (len(f.States) == 0 || slices.Contains(f.States, state)) && (f.Owner == "" || i%2 == 1) && f.Goal != "nothing" && (f.Before.IsZero() || i/2 < 4)
			if fits && (f.Limit == 0 || len(want) < f.Limit) {
				want, counted[state] = append(want, numbered(i)), counted[state]+1
			}
		}
		counts, err := s.CountRuns(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("counts by %+v", f), counted, counts)
		if f.Limit == 0 {
			same(t, fmt.Sprintf("runs by %+v", f), want, pageByPage(t, s, f))
		}
	}
}

func numbered(i int) string { return fmt.Sprintf("r%02d", i) }

// everyState creates runs, two a minute, and returns their states ordered by time.
func everyState(t *testing.T, s execution.Store) []contracts.RunState {
	t.Helper()
	var states []contracts.RunState
	for _, state := range contracts.OpenRunStates() {
		states = append(states, state, state)
	}
	states = append(states, contracts.EndRunStates()...)
	for i, state := range states {
		run := exampleRun(numbered(i))
		run.CreatedAt = day().Add(time.Duration(i/2) * time.Minute)
		if i%2 == 1 {
			run.Plan.Owner.ID = "ben"
		}
		lease := create(t, s, run)
		commit(t, s, lease, execution.Transition{
			State: state, Finished: state.Terminal(), Park: i%2 == 1 && !state.Terminal(), SeenWakeSeq: wakeSeq(t, s, run.ID),
		})
	}
	return states
}

// pageByPage returns the ids of all runs of a filter.
func pageByPage(t *testing.T, s execution.Store, f execution.RunFilter) (ids []string) {
	t.Helper()
	f.Limit = 2
	for first := true; first || f.Cursor != ""; first = false {
		runs, err := s.ListRuns(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs.Items {
			ids = append(ids, r.ID)
		}
		f.Cursor = runs.Next
	}
	return ids
}
