package execution_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/runmetrics"
)

// switched configures the flags of a site.
func switched(t *testing.T, settings ...string) func(*execution.Config) {
	t.Helper()
	rollout, err := metrics.ParseRollout(settings)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *execution.Config) { c.Rollout = rollout }
}

// forked is a run with two branches: a read with a dependent write, and a slower read with another
// dependent write.
func (w *world) forked(peak *atomic.Int64) []contracts.Node {
	var now atomic.Int64
	slow := func(c context.Context, call execution.Call) execution.Reply {
		if n := now.Add(1); n > peak.Load() {
			peak.Store(n)
		}
		defer now.Add(-1)
		time.Sleep(map[string]time.Duration{"prices": time.Second}[call.Entry.Capability.Name] + time.Second)
		return facts(map[string]any{"said": call.Entry.Capability.Name})
	}
	for _, name := range []string{"stock", "prices", "trend"} {
		w.read(name, slow)
	}
	w.declare("order", keyedWrite(), w.applying)
	return []contracts.Node{
		w.node("stock", "stock", nil), w.node("prices", "prices", nil),
		w.node("order", "order", map[string]any{"item": "${steps.stock.facts.said}"}, "stock"),
		w.node("trend", "trend", map[string]any{"of": "${steps.prices.facts.said}"}, "prices"),
	}
}

func reach(w *world) []string {
	var names []string
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		names = append(names, c.Entry.Capability.Name)
	}
	return names
}

// What each setting starts while the gate is open. The result is the same: the same action at the
// same gate, the same facts.
func TestFlagsDecideWhenAndNotWhat(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		setting string
		before  []string // what was called when the run waits at its gate
		peak    int64
	}{
		"all on":                        {"dag_planning=on", []string{"prices", "stock", "trend"}, 2},
		"one exchange after the other":  {"parallel_reads=off", []string{"stock", "prices", "trend"}, 1},
		"one step after the other":      {"dag_planning=off", []string{"stock", "prices"}, 1},
		"of this domain":                {"shop/dag_planning=off", []string{"stock", "prices"}, 1},
		"of another domain":             {"twin/dag_planning=off", []string{"prices", "stock", "trend"}, 2},
		"a gate lets nothing new begin": {"branch_approvals=off", []string{"prices", "stock"}, 2},
		"none of a hundred sessions":    {"branch_approvals=0%", []string{"prices", "stock"}, 2},
		"all of a hundred sessions":     {"branch_approvals=100%", []string{"prices", "stock", "trend"}, 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				var peak atomic.Int64
				nodes := w.forked(&peak)
				r := w.runner(switched(t, c.setting))
				id := w.submit(r, nodes...)
				gate := w.gates(r, id, 1)["order"]
				time.Sleep(time.Minute) // everything that may start has ended
				before := reach(w)
				if c.peak > 1 {
					slices.Sort(before)
				}
				if diff := cmp.Diff(c.before, before); diff != "" || peak.Load() != c.peak {
					t.Errorf("%d at once; called before the gate is decided (-want +got):\n%s", peak.Load(), diff)
				}
				if v, err := r.View(t.Context(), id); err != nil || v.State != contracts.RunWaiting || r.Active() != 0 {
					t.Errorf("it is %s, and %d runs are held (%v)", v.State, r.Active(), err)
				}
				if diff := cmp.Diff(map[string]any{"item": "stock"}, gate.Action.Parameters); diff != "" {
					t.Error(diff)
				}
				w.decide(r, gate, contracts.Resume{Decision: contracts.DecisionApprove})
				v := w.ended(r, id)
				if v.State != contracts.RunCompleted || len(w.applied()) != 1 || nodeOf(t, v, "trend").Facts["said"] != "trend" {
					t.Errorf("%s, %v", v.State, states(v))
				}
				if replayed, err := r.Replay(t.Context(), id); err != nil || len(replayed.Differences) > 0 {
					t.Errorf("replay %+v, %v", replayed, err)
				}
			})
		})
	}
}

func TestAGateThatIsRejectedLetsTheOthersGoOn(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var peak atomic.Int64
		nodes := w.forked(&peak)
		r := w.runner(switched(t, "branch_approvals=off"))
		id := w.submit(r, nodes...)
		w.decide(r, w.gates(r, id, 1)["order"], contracts.Resume{Decision: contracts.DecisionReject})
		v := w.ended(r, id)
		if v.State != contracts.RunRejected || states(v)["trend"] != contracts.NodeCompleted || len(w.applied()) != 0 {
			t.Errorf("%s, %v", v.State, states(v))
		}
	})
}

func TestACancelEndsWhatIsHeld(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var peak atomic.Int64
		nodes := w.forked(&peak)
		r := w.runner(switched(t, "dag_planning=off"))
		id := w.submit(r, nodes...)
		w.gates(r, id, 1)
		if err := r.Cancel(t.Context(), id, "ana"); err != nil {
			t.Fatal(err)
		}
		if v := w.ended(r, id); v.State != contracts.RunCancelled || states(v)["trend"] != contracts.NodeCancelled {
			t.Errorf("%s, %v", v.State, states(v))
		}
	})
}

// A run keeps the flags with which it was planned, even on another replica with other settings.
func TestARunKeepsTheFlagsThatItBeganWith(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string][2]string{
		"switched off": {"branch_approvals=on", "branch_approvals=off"},
		"switched on":  {"branch_approvals=off", "branch_approvals=on"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				var peak atomic.Int64
				w.read("slow", func(ctx context.Context, _ execution.Call) execution.Reply {
					select {
					case <-time.After(4 * time.Second):
						return facts(nil)
					case <-ctx.Done():
						return execution.Reply{Kind: execution.ReplyBroken, Message: ctx.Err().Error()}
					}
				})
				nodes := append(w.forked(&peak), w.node("after", "trend", nil, "slow"), w.node("slow", "slow", nil))
				first := w.runner(switched(t, settings[0]))
				id := w.submit(first, nodes...)
				gate := w.gates(first, id, 1)["order"]
				if err := first.Stop(t.Context()); err != nil { // slow is in flight
					t.Fatal(err)
				}
				second := w.runner(switched(t, settings[1]))
				w.until(second, id, "at rest at its gate", func(v contracts.RunView) bool {
					return states(v)["slow"] == contracts.NodeCompleted && v.State == contracts.RunWaiting
				})
				v, err := second.View(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				want := contracts.NodeCompleted
				if strings.HasSuffix(settings[0], "off") {
					want = contracts.NodePending
				}
				if states(v)["after"] != want || string(v.Plan.Flags.BranchApprovals) != strings.TrimPrefix(settings[0], "branch_approvals=") {
					t.Errorf("begun with %s it is now %v, its flags %s", settings[0], states(v), v.Plan.Flags)
				}
				w.decide(second, gate, contracts.Resume{Decision: contracts.DecisionApprove})
				if v := w.ended(second, id); v.State != contracts.RunCompleted || len(w.applied()) != 1 {
					t.Errorf("%s, %v", v.State, w.applied())
				}
			})
		})
	}
}

// checked is a workflow with a write that depends on a verify step: of three assertions some hold,
// as given. Its shape is that of the first workflows.
func (w *world) checked(prices float64, goesOn bool) contracts.Plan {
	w.read("prices", answering(map[string]any{"price": prices}))
	w.declare("order", keyedWrite(), w.applying)
	step := func(n contracts.Node, deps ...string) contracts.Node {
		n.Merge, n.DependsOn, n.Required = contracts.MergeNoneFailed, deps, true
		return n
	}
	check := step(contracts.Node{NodeID: "check", Title: "Look at the price", Kind: contracts.KindVerify, ContinueOnError: goesOn, Verify: &contracts.VerifyStep{
		Assertions: []contracts.Condition{{Expr: "${steps.prices.facts.price > 1.0}"}, {Expr: "${steps.prices.facts.price > 5.0}"}},
	}}, "prices")
	order := step(w.node("order", "order", map[string]any{"item": "a"}), "check")
	order.When = &contracts.Condition{Expr: `${steps.check.facts.verdict == "verified"}`}
	plan := w.plan(step(w.node("prices", "prices", nil)), check, order)
	plan.Frames = map[string]contracts.Frame{"": {Workflow: "shop.w"}}
	return plan
}

func TestTheVerifierOnlyLooksOnInShadow(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		price  float64
		goesOn bool
		found  contracts.VerdictStatus // the verdict of the step
		run    contracts.VerdictStatus // the verdict of the whole run
		on     contracts.NodeState     // the state of the write if the verdict is acted on
	}{
		"all holds":                   {7, false, contracts.VerdictVerified, contracts.VerdictDegraded, contracts.NodeAwaitingApproval},
		"some holds":                  {3, false, contracts.VerdictDegraded, contracts.VerdictDegraded, contracts.NodeSkipped},
		"none holds":                  {0, false, contracts.VerdictBlocked, contracts.VerdictBlocked, contracts.NodeSkipped},
		"none holds, and it may fail": {0, true, contracts.VerdictBlocked, contracts.VerdictDegraded, contracts.NodeSkipped},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				run := func(mode string) (contracts.RunView, *contracts.Interrupt) {
					r := w.runner(switched(t, "verifier="+mode))
					id, err := r.Submit(t.Context(), "s1", w.checked(c.price, c.goesOn))
					if err != nil {
						t.Fatal(err)
					}
					v := w.until(r, id, "at its gate or ended", func(v contracts.RunView) bool { return v.State.Terminal() || v.State == contracts.RunWaiting })
					var gate *contracts.Interrupt
					if len(v.Interrupts) > 0 {
						gate = &v.Interrupts[0]
						w.decide(r, *gate, contracts.Resume{Decision: contracts.DecisionApprove})
						v = w.ended(r, id)
					}
					if replayed, err := r.Replay(t.Context(), id); err != nil || len(replayed.Differences) > 0 {
						t.Errorf("replay %+v, %v", replayed, err)
					}
					return v, gate
				}
				on, gate := run("on")
				if (gate != nil) != (c.on == contracts.NodeAwaitingApproval) || on.Verdict == nil || on.Verdict.Shadow {
					t.Fatalf("with a verifier: %v, %+v", states(on), on.Verdict)
				}
				shadow, seen := run("shadow")
				off, unseen := run("off")
				if seen == nil || unseen == nil || shadow.State != contracts.RunCompleted || off.State != contracts.RunCompleted {
					t.Fatalf("in shadow %v, without a verifier %v", states(shadow), states(off))
				}
				if v := shadow.Verdict; v == nil || !v.Shadow || v.Status != c.run || v.Status != on.Verdict.Status {
					t.Errorf("recorded is %+v, want %s; acted on %+v", shadow.Verdict, c.run, on.Verdict)
				}
				found, _ := nodeOf(t, shadow, "check").Facts["found"].(map[string]any)
				if found["verdict"] != string(c.found) || nodeOf(t, shadow, "check").Facts["judged"] != false {
					t.Errorf("recorded of the step is %v", nodeOf(t, shadow, "check").Facts)
				}
				if off.Verdict != nil || len(nodeOf(t, off, "check").Checks) > 0 {
					t.Errorf("without a verifier there is the verdict %+v", off.Verdict)
				}
				if gate != nil && (gate.ActionSHA256 == seen.ActionSHA256 || len(gate.Evidence) >= len(seen.Evidence)) {
					t.Error("whoever approves is not told that nothing was judged")
				}
				if seen.ActionSHA256 == unseen.ActionSHA256 {
					t.Error("the approval does not cover what was found")
				}
				said := evidenceOf(seen, "show.verifier") + " " + evidenceOf(unseen, "show.verifier")
				for _, want := range []string{"Look at the price", "only looks on", string(c.found), "is off"} {
					if !strings.Contains(said, want) {
						t.Errorf("the gates say %q, want %q", said, want)
					}
				}
				w.compared(on, shadow, off)
			})
		})
	}
}

// compared checks the metrics of runs with a verifier that is on, in shadow and off: rejections are
// counted in shadow mode, and a run without a verdict does not lower the score.
func (w *world) compared(runs ...contracts.RunView) {
	w.t.Helper()
	var many runmetrics.Many
	var each []metrics.RunMetrics
	for _, v := range runs {
		snap, err := w.store.LoadRun(w.t.Context(), v.RunID)
		if err == nil {
			err = many.Add(snap, nil, time.Now())
		}
		if err != nil {
			w.t.Fatal(err)
		}
		f, err := runmetrics.Of(snap, time.Now())
		if err != nil {
			w.t.Fatal(err)
		}
		each = append(each, f)
	}
	if each[0].VerifierRejections != each[1].VerifierRejections || each[2].VerifierRejections != 0 {
		w.t.Errorf("rejected with it %d, in shadow %d, without %d", each[0].VerifierRejections, each[1].VerifierRejections, each[2].VerifierRejections)
	}
	stats := many.Stats()
	names := map[string]metrics.GroupStats{}
	for _, g := range stats.ByFlags {
		names[g.Name] = g
	}
	if len(names) != 3 || names["verifier=off"].Runs != 1 || names["verifier=shadow"].Runs != 1 || names["all on"].Runs != 1 {
		w.t.Errorf("by flags %+v", stats.ByFlags)
	}
	if mean := (names["all on"].Score + names["verifier=shadow"].Score) / 2; math.Abs(stats.All.Score-mean) > 0.002 {
		w.t.Errorf("the score of all is %v, that of the judged ones %v", stats.All.Score, mean)
	}
}

func evidenceOf(i *contracts.Interrupt, path string) string {
	for _, e := range i.Evidence {
		if said, ok := e.Value.(string); ok && e.Path == path {
			return said
		}
	}
	return ""
}

// Without a verifier a write is still read back, and failures are reported.
func TestWithoutAVerifierWritesAreReadBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		days float64
		want contracts.VerdictStatus
	}{"it holds": {2, ""}, "it does not": {3, contracts.VerdictBlocked}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				m := keyedWrite()
				days := any("${params.days}")
				m.Verify = &contracts.VerifyRule{
					Capability: "look", ParamMap: map[string]any{},
					Assertions: []contracts.Condition{{Path: "facts.days", Equals: &days}},
				}
				w.declare("order", m, w.applying)
				w.read("look", answering(map[string]any{"days": c.days}))
				r := w.runner(switched(t, "verifier=off"))
				id := w.submit(r, w.node("order", "order", map[string]any{"days": 2.0}))
				w.decide(r, w.gates(r, id, 1)["order"], contracts.Resume{Decision: contracts.DecisionApprove})
				v := w.ended(r, id)
				var got contracts.VerdictStatus
				if v.Verdict != nil {
					got = v.Verdict.Status
				}
				if got != c.want || len(w.callsOf("look")) == 0 || len(nodeOf(t, v, "order").Checks) != 1 {
					t.Errorf("verdict %+v, checks %+v", v.Verdict, nodeOf(t, v, "order").Checks)
				}
			})
		})
	}
}

// A read that its domain did not answer is repeated by the verifier only, and only if it is on.
func TestOnlyAVerifierThatActsHasReadsMadeOnceMore(t *testing.T) {
	t.Parallel()
	calls := func(mode string) (n int, score *float64) {
		bubbleNow(t, func(t *testing.T, w *world) {
			w.read("prices", func(context.Context, execution.Call) execution.Reply {
				return execution.Reply{Kind: execution.ReplyBroken, Message: "the line is dead"}
			})
			r := w.runner(switched(t, "verifier="+mode))
			v := w.ended(r, w.submit(r, w.node("prices", "prices", nil)))
			n = len(w.callsOf("prices"))
			if v.Verdict != nil {
				score = v.Verdict.Score
			}
		})
		return n, score
	}
	acting, score := calls("on")
	watching, recorded := calls("shadow")
	none, nothing := calls("off")
	if acting != watching+1 || none != watching || score == nil || recorded == nil || nothing != nil {
		t.Errorf("%d calls with it (%v), %d in shadow (%v), %d without (%v)", acting, score, watching, recorded, none, nothing)
	}
}

func TestTheJudgeOfARunIsAskedAsTheFlagSays(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]int{"on": 1, "shadow": 1, "off": 0} {
		t.Run(mode, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.read("prices", answering(map[string]any{"price": 1.0}))
				w.mind = &mind{says: []execution.ModelResponse{opines(contracts.VerdictBlocked, "it answers another question")}}
				r := w.runner(switched(t, "verifier="+mode), func(c *execution.Config) { c.JudgeMode = execution.JudgeRuns })
				v := w.ended(r, w.submit(r, w.node("prices", "prices", nil)))
				if len(w.mind.heard) != want {
					t.Errorf("it was asked %d times", len(w.mind.heard))
				}
				if want == 1 && (v.Verdict.Status != contracts.VerdictBlocked || v.Verdict.Shadow != (mode == "shadow")) {
					t.Errorf("%+v", v.Verdict)
				}
			})
		})
	}
}
