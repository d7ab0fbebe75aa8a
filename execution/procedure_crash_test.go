package execution_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/execution/executiontest"
)

// story is the example with a repair, an iteration and its feedback. Its answers depend on the
// instance that asks, so that it can be asked twice.
func (s *studio) story() map[string]any {
	s.Script.FirstMismatch = true
	return map[string]any{
		"hitl_plan": "approve", "hitl_plan#2": map[string]any{"decision": "edit", "changes": map[string]any{"name": "Better"}},
		"hitl_review": "iterate: shorter", "hitl_review#2": "accept",
	}
}

// tell answers interrupts until the run has ended. It reports false if the server died.
func (s *studio) tell(ctx context.Context, r *execution.Runner, id string, says map[string]any, dead <-chan struct{}) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // a dead store does not answer
		select {
		case <-dead:
			cancel()
		case <-ctx.Done():
		}
	}()
	for pause := 5 * time.Millisecond; pause < time.Hour; pause = pause * 11 / 10 {
		select {
		case <-dead:
			return false
		case <-time.After(pause):
		}
		v, err := r.View(ctx, id)
		if err != nil {
			continue
		}
		if v.State.Terminal() {
			return true
		}
		for _, i := range v.Interrupts {
			body := contracts.Resume{Decision: contracts.DecisionApprove, ActionSHA256: i.ActionSHA256}
			if answer, ok := says[i.NodeID]; ok {
				body = contracts.Resume{Response: answer}
			}
			_, _ = r.Decide(ctx, i.InterruptID, body, decision.Decider{ID: "bob", May: anybody})
		}
	}
	return false
}

func TestTheExampleKilledAtEveryWriteToTheStore(t *testing.T) { //nolint:tparallel // they share what the first has counted
	t.Parallel()
	writes, unharmed := 0, map[string]contracts.NodeState{}
	t.Run("unharmed", func(t *testing.T) {
		bubbleNow(t, func(t *testing.T, w *world) {
			s := newStudio(t, w)
			k := executiontest.KillAt(w.store, 0, executiontest.Before)
			r := w.runnerOn(k)
			says := s.story()
			id := s.start(r, develop, map[string]any{"goal": "answer questions"})
			if !s.tell(t.Context(), r, id, says, k.Dead()) {
				t.Fatal("the run did not end")
			}
			v := w.ended(r, id)
			s.sound(t, r, v)
			writes, unharmed = k.Writes(), states(v)
		})
	})
	if writes < 20 {
		t.Fatalf("only %d writes to the store", writes)
	}
	for n, at := range moments(t, writes) {
		t.Run(fmt.Sprintf("killed %s write %d", at, n), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				s := newStudio(t, w)
				s.survives(t, n, at, unharmed)
			})
		})
	}
}

func (s *studio) survives(t *testing.T, n int, at executiontest.Moment, unharmed map[string]contracts.NodeState) {
	t.Helper()
	ctx := t.Context()
	says := s.story()
	plan := s.planned(develop, map[string]any{"goal": "answer questions"})
	plan.RunID = "run_crash"
	k := executiontest.KillAt(s.store, n, at)
	first := s.runnerOn(k)
	go func() { _, _ = first.Submit(ctx, "s1", plan) }()
	time.Sleep(time.Second) // bubble time
	done := s.tell(ctx, first, plan.RunID, says, k.Dead())
	k.Bury()
	second := s.runner()
	if !done && !s.tell(ctx, second, plan.RunID, says, nil) {
		if _, err := second.Submit(ctx, "s1", plan); err != nil {
			t.Fatal(err)
		}
		s.tell(ctx, second, plan.RunID, says, nil)
	}
	v := s.ended(second, plan.RunID)
	s.sound(t, second, v)
	if diff := cmp.Diff(unharmed, states(v)); diff != "" {
		t.Errorf("it went another way (-unharmed +killed):\n%s", diff)
	}
}

// sound checks the invariants after any number of kills: one write per iteration, no feedback lost,
// and a ledger that explains the run.
func (s *studio) sound(t *testing.T, r *execution.Runner, v contracts.RunView) {
	t.Helper()
	want(t, s, v, contracts.RunCompleted, 2, "The chatflow is done: one change")
	if got := nodeOf(t, v, "plan#2").Params["feedback"]; got != "shorter" {
		t.Errorf("the feedback of the review is %v", got)
	}
	if got := nodeOf(t, v, "hitl_plan#2").Facts["value"].(map[string]any)["name"]; got != "Better" {
		t.Errorf("the edit is lost: %v", got)
	}
	if got := nodeOf(t, v, "repair_schema#2").Params["max"]; got != 2.0 {
		t.Errorf("before its first repair an iteration has %v left", got)
	}
	replayed, err := r.Replay(t.Context(), v.RunID)
	if err != nil || len(replayed.Differences) > 0 {
		t.Errorf("replay: %v %v", err, replayed.Differences)
	}
}
