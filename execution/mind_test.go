package execution_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
)

// mind is a scripted model: its response depends on how often it was called for the same purpose.
type mind struct {
	mu sync.Mutex // guards the fields below
	// says are its responses in order; the last one is repeated.
	says  []execution.ModelResponse
	heard []execution.ModelRequest
	takes time.Duration
	needs int
}

func (m *mind) EstimateTokens(execution.ModelRequest) int { return m.needs }

func (m *mind) Complete(ctx context.Context, t execution.ModelRequest) execution.ModelResponse {
	m.mu.Lock()
	at := min(len(m.heard), len(m.says)-1)
	m.heard = append(m.heard, t)
	said, takes := m.says[at], m.takes
	m.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return execution.ModelResponse{Fault: "cut off", Calls: []contracts.ModelCall{{Purpose: t.Purpose, Model: "m", Error: "cut off"}}}
	}
	said.Calls = []contracts.ModelCall{{Purpose: t.Purpose, Model: "m", Tokens: contracts.Tokens{In: 20, Out: 10}, Repair: t.Rejected != nil, Error: said.Fault}}
	return said
}

func (m *mind) calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.heard)
}

func thinks(f map[string]any) execution.ModelResponse { return execution.ModelResponse{Facts: f} }

func mistaken() execution.ModelResponse {
	return execution.ModelResponse{Rejected: &execution.RejectedAnswer{Answer: "{}", Faults: []string{"/text is missing"}}}
}

func opines(s contracts.VerdictStatus, reasons ...string) execution.ModelResponse {
	return execution.ModelResponse{Opinion: &contracts.Opinion{Status: s, Reasons: reasons}}
}

const skillText = "Write one line."

func textSchema() map[string]any {
	return map[string]any{
		"type": "object", "required": []any{"text"}, "additionalProperties": false,
		"properties": map[string]any{"text": map[string]any{"type": "string"}, "summary": map[string]any{"type": "string"}},
	}
}

// reasoned is a plan of one workflow: a read, a reason step with a fallback, one without, and a
// verify step with a judge.
func (w *world) reasoned() contracts.Plan {
	w.read("look", answering(map[string]any{"price": 3.0}))
	w.read("plain", answering(map[string]any{"text": "by the fallback"}))
	step := func(n contracts.Node, deps ...string) contracts.Node {
		n.Merge, n.DependsOn, n.Required = contracts.MergeNoneFailed, deps, true
		return n
	}
	sha := contracts.HashBytes([]byte(skillText))
	ask := &contracts.ReasonStep{
		Skill: "line", SkillSHA256: sha, OutputSchema: textSchema(), Inputs: map[string]any{"price": "${steps.look.facts.price}"},
		Fallback: &contracts.Fallback{Capability: "plain"},
	}
	write := step(w.node("write", "plain", map[string]any{}), "look")
	write.Kind, write.Reason = contracts.KindReason, ask
	alone := *ask
	alone.Fallback = nil
	plan := w.plan(
		step(w.node("look", "look", map[string]any{})), write,
		step(contracts.Node{NodeID: "again", Kind: contracts.KindReason, Reason: &alone}, "look", "write"),
		step(contracts.Node{NodeID: "check", Kind: contracts.KindVerify, Verify: &contracts.VerifyStep{
			Assertions: []contracts.Condition{{Expr: "${steps.write.facts.text != ''}"}},
			Judge:      &contracts.Judge{Skill: "line", SkillSHA256: sha, Inputs: map[string]any{"text": "${steps.again.facts.text}"}},
		}}, "look", "write", "again"),
	)
	plan.Frames = map[string]contracts.Frame{"": {Workflow: "shop.w", Skills: map[string]string{"line": skillText}}}
	return plan
}

func (w *world) think(m *mind, plan contracts.Plan, options ...func(*execution.Config)) contracts.RunView {
	w.t.Helper()
	w.mind = m
	r := w.runner(options...)
	id, err := r.Submit(w.t.Context(), "s1", plan)
	if err != nil {
		w.t.Fatal(err)
	}
	v := w.ended(r, id)
	if replayed, err := r.Replay(w.t.Context(), id); err != nil || len(replayed.Differences) > 0 {
		w.t.Errorf("replay %+v, %v", replayed, err)
	}
	return v
}

func TestAModelThinksForReasonSteps(t *testing.T) {
	good := thinks(map[string]any{"text": "3 a piece", "summary": "a line"})
	bubble(t, func(t *testing.T, w *world) {
		m := &mind{says: []execution.ModelResponse{mistaken(), good, good, opines(contracts.VerdictVerified)}}
		v := w.think(m, w.reasoned())
		if v.State != contracts.RunCompleted || v.Verdict.Status != contracts.VerdictVerified || *v.Verdict.Score != 1 {
			t.Fatalf("%s, %+v", v.State, v.Verdict)
		}
		write := nodeOf(t, v, "write")
		if write.Facts["text"] != "3 a piece" || write.Summary != "a line" || write.Fallback != "" || len(w.callsOf("plain")) > 0 {
			t.Errorf("%+v", write)
		}
		if len(write.Calls) != 2 || write.Calls[0].Repair || !write.Calls[1].Repair {
			t.Errorf("the calls are %+v", write.Calls)
		}
		if want := (contracts.Tokens{In: 80, Out: 40}); v.Tokens != want || *v.Verdict.Tokens != want {
			t.Errorf("tokens %+v, %+v", v.Tokens, v.Verdict.Tokens)
		}
		first, second := m.heard[0], m.heard[1]
		if first.Skill.String() != skillText || first.Inputs["price"].String() != "3" || first.Rejected != nil || second.Rejected == nil {
			t.Errorf("it was asked %+v, then %+v", first, second)
		}
	})
}

func TestWhatAModelDoesNotGiveTheFallbackDoes(t *testing.T) {
	t.Parallel()
	good := thinks(map[string]any{"text": "fine"})
	cases := map[string]struct {
		first []execution.ModelResponse
		why   string
		calls int
	}{
		"it does not answer":            {[]execution.ModelResponse{{Fault: "the model is overloaded"}}, "the model is overloaded", 1},
		"it is wrong twice":             {[]execution.ModelResponse{mistaken(), mistaken()}, "twice", 2},
		"an adapter that does not look": {[]execution.ModelResponse{thinks(map[string]any{"other": 1.0})}, "does not fit", 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				m := &mind{says: append(c.first, good, opines(contracts.VerdictVerified))}
				v := w.think(m, w.reasoned())
				write := nodeOf(t, v, "write")
				if write.State != contracts.NodeCompleted || write.Facts["text"] != "by the fallback" || !strings.Contains(write.Fallback, c.why) || len(write.Calls) != c.calls {
					t.Errorf("%+v", write)
				}
				if v.State != contracts.RunCompleted {
					t.Errorf("the run is %s: %+v", v.State, v.Verdict)
				}
			})
		})
	}
}

func TestAStepThatOnlyAModelCanDoFailsWithoutOne(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		v := w.think(nil, w.reasoned())
		if again := nodeOf(t, v, "again"); again.Error == nil || again.Error.Type != contracts.ErrNeedsModel {
			t.Errorf("%+v", again)
		}
		if write := nodeOf(t, v, "write"); write.State != contracts.NodeCompleted || write.Fallback != "no model is configured" {
			t.Errorf("%+v", write)
		}
		if v.State != contracts.RunFailed || *v.Verdict.Score != 0 {
			t.Errorf("%s, %v", v.State, *v.Verdict.Score)
		}
	})
}

func TestAJudgeCanOnlyLower(t *testing.T) {
	t.Parallel()
	good := thinks(map[string]any{"text": "fine"})
	cases := map[string]struct {
		assert  string // a second assertion
		says    execution.ModelResponse
		state   contracts.NodeState
		verdict contracts.VerdictStatus
		run     contracts.VerdictStatus
	}{
		"no objection":            {"true", opines(contracts.VerdictVerified), contracts.NodeCompleted, contracts.VerdictVerified, contracts.VerdictVerified},
		"it lowers":               {"true", opines(contracts.VerdictDegraded, "the price is missing"), contracts.NodeCompleted, contracts.VerdictDegraded, contracts.VerdictDegraded},
		"it cannot raise":         {"false", opines(contracts.VerdictVerified), contracts.NodeCompleted, contracts.VerdictDegraded, contracts.VerdictDegraded},
		"it blocks":               {"true", opines(contracts.VerdictBlocked), contracts.NodeFailed, contracts.VerdictBlocked, contracts.VerdictBlocked},
		"it is away":              {"true", execution.ModelResponse{Fault: "away"}, contracts.NodeCompleted, contracts.VerdictVerified, contracts.VerdictVerified},
		"an opinion that is none": {"true", opines("splendid"), contracts.NodeCompleted, contracts.VerdictVerified, contracts.VerdictVerified},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				plan := w.reasoned()
				check := plan.Nodes[3].Verify
				check.Assertions = append(check.Assertions, contracts.Condition{Expr: "${" + c.assert + "}"})
				v := w.think(&mind{says: []execution.ModelResponse{good, good, c.says}}, plan)
				n := nodeOf(t, v, "check")
				if n.State != c.state || n.Facts["verdict"] != string(c.verdict) || v.Verdict.Status != c.run {
					t.Errorf("%s, %v; the run is %s (%v)", n.State, n.Facts, v.Verdict.Status, v.Verdict.Reasons)
				}
			})
		})
	}
}

func TestARunIsJudgedAtItsEnd(t *testing.T) {
	t.Parallel()
	runs := func(c *execution.Config) { c.JudgeMode = execution.JudgeRuns }
	plan := func(w *world) contracts.Plan {
		w.read("look", answering(map[string]any{"price": 3.0}))
		return w.plan(w.node("n1", "look", map[string]any{}))
	}
	t.Run("lowered", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			m := &mind{says: []execution.ModelResponse{opines(contracts.VerdictDegraded, "the bread is missing")}}
			v := w.think(m, plan(w), runs)
			if v.State != contracts.RunCompleted || v.Verdict.Status != contracts.VerdictDegraded || *v.Verdict.Score != 0.6 || v.Verdict.Judge.Status != contracts.VerdictDegraded {
				t.Errorf("%+v", v.Verdict)
			}
			if v.Tokens.In != 20 || m.heard[0].Inputs["goal"].String() != "test" {
				t.Errorf("%+v %+v", v.Tokens, m.heard[0])
			}
		})
	})
	t.Run("not raised", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			p := plan(w)
			w.read("gone", func(context.Context, execution.Call) execution.Reply { return refusal(false, contracts.EffectNone) })
			aside := w.node("n2", "gone", map[string]any{})
			aside.Required = false
			p.Nodes = append(p.Nodes, aside)
			v := w.think(&mind{says: []execution.ModelResponse{opines(contracts.VerdictVerified)}}, p, runs)
			if v.Verdict.Status != contracts.VerdictDegraded || *v.Verdict.Score != 0.6 {
				t.Errorf("%+v", v.Verdict)
			}
		})
	})
	t.Run("a model that is away changes nothing", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			v := w.think(&mind{says: []execution.ModelResponse{{Fault: "away"}}}, plan(w), runs)
			if v.Verdict.Status != contracts.VerdictVerified || v.Verdict.Judge.Fault != "away" {
				t.Errorf("%+v", v.Verdict)
			}
		})
	})
	t.Run("not unless the site wants it", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			m := &mind{says: []execution.ModelResponse{opines(contracts.VerdictBlocked)}}
			if v := w.think(m, plan(w)); v.Verdict.Status != contracts.VerdictVerified || m.calls() > 0 {
				t.Errorf("%+v after %d calls", v.Verdict, m.calls())
			}
		})
	})
	t.Run("a cancel does not wait for it", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			w.mind = &mind{says: []execution.ModelResponse{opines(contracts.VerdictBlocked)}, takes: time.Hour}
			r := w.runner(runs)
			id, err := r.Submit(t.Context(), "s1", plan(w))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			began := time.Now()
			if err := r.Cancel(t.Context(), id, "ana"); err != nil {
				t.Fatal(err)
			}
			if v := w.ended(r, id); v.State != contracts.RunCompleted || time.Since(began) > time.Minute {
				t.Errorf("%s after %s", v.State, time.Since(began))
			}
		})
	})
}

func TestTokensHoldWhatConsumesThem(t *testing.T) {
	t.Parallel()
	good := thinks(map[string]any{"text": "fine"})
	t.Run("the fallback serves, and without one a person is asked", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			m := &mind{says: []execution.ModelResponse{good, opines(contracts.VerdictVerified)}, needs: 50}
			w.mind = m
			plan := w.reasoned()
			plan.Budgets.MaxTokens = 40
			r := w.runner()
			id, err := r.Submit(t.Context(), "s1", plan)
			if err != nil {
				t.Fatal(err)
			}
			gate := w.gates(r, id, 1)["again"]
			if gate.Type != contracts.InterruptBudgetExceeded || m.calls() > 0 {
				t.Fatalf("%+v after %d calls", gate, m.calls())
			}
			w.decide(r, gate, contracts.Resume{Response: map[string]any{"raise": 100.0}})
			v := w.ended(r, id)
			if write := nodeOf(t, v, "write"); !strings.Contains(write.Fallback, "used up") {
				t.Errorf("%+v", write)
			}
			if again := nodeOf(t, v, "again"); again.Facts["text"] != "fine" || v.State != contracts.RunCompleted {
				t.Errorf("%+v, %s", again, v.State)
			}
		})
	})
	t.Run("steps beside each other do not overdraw", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			m := &mind{says: []execution.ModelResponse{good}, needs: 50, takes: time.Minute}
			plan := w.reasoned()
			plan.Budgets.MaxTokens = 100
			write := plan.Nodes[1]
			plan.Nodes = plan.Nodes[:1]
			for i := range 5 {
				write.NodeID = fmt.Sprintf("write%d", i)
				plan.Nodes = append(plan.Nodes, write)
			}
			v := w.think(m, plan)
			if used := v.Tokens.In + v.Tokens.Out; used > 100 || m.calls() != 2 || v.State != contracts.RunCompleted {
				t.Errorf("%d tokens in %d calls, %s", used, m.calls(), v.State)
			}
		})
	})
}

func TestAModelIsAskedSoOftenAtOnceAndNotMore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		good := thinks(map[string]any{"text": "fine"})
		m := &mind{says: []execution.ModelResponse{good}, takes: time.Minute}
		plan := w.reasoned()
		write := plan.Nodes[1]
		plan.Nodes = plan.Nodes[:1]
		for i := range 20 {
			write.NodeID = fmt.Sprintf("write%d", i)
			plan.Nodes = append(plan.Nodes, write)
		}
		began := time.Now()
		v := w.think(m, plan)
		if took := time.Since(began).Round(time.Minute); v.State != contracts.RunCompleted || took != 5*time.Minute {
			t.Errorf("%s after %s", v.State, took)
		}
		if len(w.callsOf("plain")) > 0 {
			t.Error("a step that had to wait took its fallback")
		}
	})
}

// A process that is killed at any of its writes pays for no model call twice, except the one in
// flight.
func TestKilledBetweenCallsOfAModelNoneIsPaidTwice(t *testing.T) {
	t.Parallel()
	good := thinks(map[string]any{"text": "fine"})
	script := func() *mind {
		return &mind{says: []execution.ModelResponse{mistaken(), good, good, opines(contracts.VerdictVerified)}, takes: time.Second}
	}
	writes := 0
	t.Run("unharmed", func(t *testing.T) {
		bubbleNow(t, func(t *testing.T, w *world) {
			k := executiontest.KillAt(w.store, 0, executiontest.Before)
			w.mind = script()
			plan := w.reasoned()
			r := w.runnerOn(k)
			id, err := r.Submit(t.Context(), "s1", plan)
			if err != nil {
				t.Fatal(err)
			}
			if w.ended(r, id); w.mind.calls() != 4 {
				t.Fatalf("%d calls", w.mind.calls())
			}
			writes = k.Writes()
		})
	})
	if writes < 6 {
		t.Fatalf("only %d writes", writes)
	}
	for n := 2; n <= writes; n++ { // the first one creates the run
		for _, at := range []executiontest.Moment{executiontest.Before, executiontest.After} {
			t.Run(fmt.Sprintf("killed %s write %d", at, n), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					m := script()
					w.mind = m
					plan := w.reasoned()
					k := executiontest.KillAt(w.store, n, at)
					first := w.runnerOn(k)
					id, err := first.Submit(t.Context(), "s1", plan)
					if err != nil {
						t.Fatal(err)
					}
					select {
					case <-k.Dead():
					case <-time.After(time.Minute): // it ended before that write
					}
					k.Bury()
					v := w.ended(w.runner(), id)
					if calls := m.calls(); calls > 5 {
						t.Errorf("%d calls, 4 are needed and one may have been under way", calls)
					}
					recorded := 0
					for _, node := range v.Nodes {
						recorded += len(node.Calls)
					}
					if recorded < m.calls()-1 {
						t.Errorf("%d of %d calls are on record", recorded, m.calls())
					}
				})
			})
		}
	}
}

func TestTheVerifierHasReadsMadeOnceMore(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fails int  // how many calls fail
		after bool // a write depends on the read
		want  contracts.RunState
		calls int
	}{
		"it works by then":              {4, false, contracts.RunCompleted, 5},
		"it does not":                   {9, false, contracts.RunFailed, 5},
		"not where a write rests on it": {9, true, contracts.RunFailed, 4},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				calls := 0
				w.read("get", func(context.Context, execution.Call) execution.Reply {
					if calls++; calls <= c.fails {
						return broken
					}
					return facts(map[string]any{"n": 1.0})
				})
				w.read("other", answering(nil))
				w.declare("put", contracts.Metadata{SideEffectClass: contracts.ClassWriteReversible}, w.applying)
				nodes := []contracts.Node{w.node("n1", "get", nil), w.node("n2", "other", nil), w.node("n3", "other", nil, "n1"), join("n4", "n2", "n3")}
				if c.after {
					nodes = append(nodes, w.node("n5", "put", nil, "n3"))
				}
				v := w.think(nil, w.plan(nodes...))
				if v.State != c.want || calls != c.calls {
					t.Errorf("%s after %d calls: %v", v.State, calls, states(v))
				}
				if c.want == contracts.RunCompleted && (v.Verdict.Status != contracts.VerdictVerified || *v.Verdict.Score != 1) {
					t.Errorf("%+v", v.Verdict)
				}
			})
		})
	}
}
