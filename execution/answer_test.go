package execution_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
)

func answers(c *execution.Config) { c.Answers = true }

// worded is the response of a model with an answer of these sentences.
func worded(sentences ...any) execution.ModelResponse {
	return thinks(map[string]any{"sentences": sentences})
}

// balances is a plan of two reads and their join.
func (w *world) balances() contracts.Plan {
	w.read("balance", func(_ context.Context, c execution.Call) execution.Reply {
		days := map[string]float64{"Ana": 16, "Bruno": 20.5}[c.Parameters["name"].(string)]
		r := facts(map[string]any{"name": c.Parameters["name"], "days_left": days})
		r.Result.Data = contracts.NewOpaque([]byte(`{"secret":"raw-4711"}`))
		return r
	})
	ana, bruno := w.node("n1", "balance", map[string]any{"name": "Ana"}), w.node("n2", "balance", map[string]any{"name": "Bruno"})
	said := &contracts.Utterance{Text: "Who has more days left, Ana or Bruno?"}
	ana.Utterance, bruno.Utterance = said, said
	return w.plan(ana, bruno, join("n3", "n1", "n2"))
}

func TestAModelWordsWhatWasFound(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		plan := w.balances()
		plain := w.think(nil, plan)
		m := &mind{says: []execution.ModelResponse{worded("Bruno, with 20.5 days.", "Ana has 17 days.", "See http://evil.example", "Bruno has 4.5 days more than Ana.")}}
		v := w.think(m, w.balances(), answers)
		n := nodeOf(t, v, "answer")
		got := metrics.WordedIn(n.Facts)
		want := []metrics.Sentence{{Text: "Bruno, with 20.5 days.", Nodes: []string{"n2"}}, {Text: "Bruno has 4.5 days more than Ana.", Nodes: []string{"n1", "n2"}}}
		if n.State != contracts.NodeCompleted || !slices.EqualFunc(got.Sentences, want, func(a, b metrics.Sentence) bool { return a.Text == b.Text && slices.Equal(a.Nodes, b.Nodes) }) {
			t.Errorf("%s: %+v", n.State, got)
		}
		if len(got.LeftOut) != 2 || strings.Contains(fmt.Sprint(n.Facts), "evil") || !strings.Contains(n.Summary, "2 left out") {
			t.Errorf("%q, left out %v", n.Summary, got.LeftOut)
		}
		if v.State != plain.State || v.Verdict.Status != plain.Verdict.Status || *v.Verdict.Score != *plain.Verdict.Score || len(v.Verdict.Checks) != len(plain.Verdict.Checks) {
			t.Errorf("the answer has changed the verdict: %+v", v.Verdict)
		}
		if n.Calls[0].Purpose != contracts.PurposeAnswer || v.Tokens == (contracts.Tokens{}) {
			t.Errorf("the call is accounted for as %+v", n.Calls)
		}
		told := fmt.Sprint(m.heard[0].Inputs)
		if !strings.Contains(told, "Who has more days left") || !strings.Contains(told, `"days_left":20.5`) || strings.Contains(told, "raw-4711") {
			t.Errorf("it was told %s", told)
		}
	})
}

func TestWithoutWordsTheRunIsAsItWas(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		says  []execution.ModelResponse
		state contracts.NodeState
		calls int
	}{
		"the model is away":              {[]execution.ModelResponse{{Fault: "the model is overloaded"}}, contracts.NodeFailed, 1},
		"it is wrong twice":              {[]execution.ModelResponse{mistaken(), mistaken()}, contracts.NodeFailed, 2},
		"it is wrong once":               {[]execution.ModelResponse{mistaken(), worded("Bruno has 20.5 days.")}, contracts.NodeCompleted, 2},
		"an adapter that does not look":  {[]execution.ModelResponse{thinks(map[string]any{"sentences": "Bruno has 3 days"})}, contracts.NodeCompleted, 1},
		"nothing that it says is so":     {[]execution.ModelResponse{worded("Carla has 3 days.", 7)}, contracts.NodeCompleted, 1},
		"it has nothing to say":          {[]execution.ModelResponse{worded()}, contracts.NodeCompleted, 1},
		"the tokens of the run are gone": {nil, contracts.NodeFailed, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				plan := w.balances()
				m := &mind{says: c.says}
				if c.calls == 0 {
					plan.Budgets.MaxTokens, m.needs = 10, 11
				}
				v := w.think(m, plan, answers)
				if n := nodeOf(t, v, "answer"); n.State != c.state || m.calls() != c.calls {
					t.Errorf("%s after %d calls: %+v", n.State, m.calls(), n.Error)
				}
				if v.State != contracts.RunCompleted || v.Verdict.Status != contracts.VerdictVerified || *v.Verdict.Score != 1 {
					t.Errorf("%s, %+v", v.State, v.Verdict)
				}
			})
		})
	}
}

func TestAModelIsAskedOnlyWhereThereIsSomethingToWord(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		plan    func(w *world) contracts.Plan
		options []func(*execution.Config)
	}{
		"answers are switched off": {(*world).balances, nil},
		"a dry run": {func(w *world) contracts.Plan {
			p := w.balances()
			p.DryRun = true
			return p
		}, []func(*execution.Config){answers}},
		"a write alone": {func(w *world) contracts.Plan {
			w.declare("note", contracts.Metadata{
				SideEffectClass: contracts.ClassWriteReversible, RiskLevel: contracts.RiskLow, Idempotency: contracts.IdempotencyKeyed, ApprovalRequired: new(false),
			}, func(_ context.Context, c execution.Call) execution.Reply { return w.apply(c) })
			return w.plan(w.node("n1", "note", map[string]any{"text": "hi"}))
		}, []func(*execution.Config){answers}},
		"a read that found nothing": {func(w *world) contracts.Plan {
			w.read("look", answering(nil))
			return w.plan(w.node("n1", "look", nil))
		}, []func(*execution.Config){answers}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				m := &mind{says: []execution.ModelResponse{worded("Bruno has 20.5 days.")}}
				v := w.think(m, c.plan(w), c.options...)
				if _, found := states(v)["answer"]; found || m.calls() > 0 {
					t.Errorf("it was asked %d times: %v", m.calls(), states(v))
				}
			})
		})
	}
}

// TestAnAnswerKilledAtEveryWriteToTheStore checks that a new owner asks the model at most once
// more, and that there is one answer.
func TestAnAnswerKilledAtEveryWriteToTheStore(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 8; n++ {
		for _, at := range []executiontest.Moment{executiontest.Before, executiontest.After} {
			t.Run(fmt.Sprintf("killed %s write %d", at, n), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					plan := w.balances()
					plan.RunID = "run_crash"
					m := &mind{says: []execution.ModelResponse{mistaken(), worded("Bruno has 20.5 days.")}, takes: time.Second}
					w.mind = m
					k := executiontest.KillAt(w.store, n, at)
					first := w.runnerOn(k, answers)
					go func() { _, _ = first.Submit(t.Context(), "s1", plan) }()
					time.Sleep(time.Minute) // bubble time
					k.Bury()
					second := w.runner(answers)
					if _, err := second.View(t.Context(), plan.RunID); err != nil {
						if _, err := second.Submit(t.Context(), "s1", plan); err != nil {
							t.Fatal(err)
						}
					}
					v := w.ended(second, plan.RunID)
					var found []contracts.NodeView
					for _, n := range v.Nodes {
						if n.Kind == contracts.KindAnswer {
							found = append(found, n)
						}
					}
					if len(found) != 1 || found[0].State != contracts.NodeCompleted || v.State != contracts.RunCompleted {
						t.Fatalf("%s: %+v", v.State, found)
					}
					// It was asked twice, because the first answer was invalid, and once more at
					// most.
					if got := m.calls(); got < 2 || got > 3 {
						t.Errorf("the model was asked %d times", got)
					}
					if replayed, err := second.Replay(t.Context(), plan.RunID); err != nil || len(replayed.Differences) > 0 {
						t.Errorf("replay %+v, %v", replayed, err)
					}
				})
			})
		}
	}
}
