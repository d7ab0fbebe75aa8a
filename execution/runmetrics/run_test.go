package runmetrics_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution/runmetrics"
	"github.com/manifold-run/manifold/execution/runstate"
	"github.com/manifold-run/manifold/execution/verdict"
)

// began is the start of the example run.
func began() time.Time { return time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC) }

// at is a time of the example run, in milliseconds from its start.
func at(ms int64) time.Time { return began().Add(time.Duration(ms) * time.Millisecond) }

func ptr(ms int64) *time.Time { t := at(ms); return &t }

// done is the row of a node that started and ended.
func done(id string, state contracts.NodeState, from, to int64, attempts int) runstate.Row {
	r := runstate.Row{NodeID: id, State: state, StartedAt: ptr(from), FinishedAt: ptr(to)}
	r.Attempts = attempts
	if state == contracts.NodeCompleted {
		r.Result = &runstate.Result{Summary: id + " is known"}
	}
	return r
}

// paper is a run made by hand:
//
//	ms     0   100   200  900  1000      1700   2200    2700 ……… 12700  13200 13300
//	find   ├─────────────────────┤
//	stock      ├────────────┤ failed
//	price            ├─────────────────────┤
//	ask                          ╞══ a person ═══╡
//	think                                  ├──────────────┤
//	buy                                                   ╞══ a person ═══╡├────┤
//	check                                                                       ├────┤
//
// never is skipped by its condition.
func paper() runstate.Snapshot {
	tool := func(id, phase string, required bool, deps ...string) contracts.Node {
		return contracts.Node{NodeID: id, Kind: contracts.KindTool, Tool: "shop." + id, Phase: phase, Required: required, DependsOn: deps, Policy: &contracts.Policy{SideEffectClass: contracts.ClassRead}}
	}
	buy := tool("buy", "act", true, "think")
	buy.Policy = &contracts.Policy{SideEffectClass: contracts.ClassWriteIrreversible, ApprovalRequired: true}
	buy.Locks = []string{"shop:default:item:{id}"}
	think := contracts.Node{NodeID: "think", Kind: contracts.KindReason, Phase: "decide", Required: true, DependsOn: []string{"find", "price"}, Reason: &contracts.ReasonStep{Skill: "think"}}
	ask := contracts.Node{NodeID: "ask", Kind: contracts.KindHuman, Phase: "look", Required: true, DependsOn: []string{"find"}, Human: &contracts.HumanStep{}}
	check := contracts.Node{NodeID: "check", Kind: contracts.KindVerify, Phase: "act", Required: true, DependsOn: []string{"buy"}, Verify: &contracts.VerifyStep{}}
	score := 0.6
	thought := done("think", contracts.NodeCompleted, 1700, 2700, 0)
	thought.Thoughts = []contracts.ModelCall{
		{Tokens: contracts.Tokens{In: 100, Out: 20}, DurationMS: 600}, {Tokens: contracts.Tokens{In: 50, Out: 10}, DurationMS: 300, Repair: true},
	}
	bought := done("buy", contracts.NodeCompleted, 12700, 13200, 1)
	bought.Writes, bought.GateID = 1, "gate_buy"
	bought.Checks = []contracts.Check{{Name: verdict.CheckReadBack, OK: true}}
	checked := done("check", contracts.NodeCompleted, 13200, 13300, 0)
	checked.Result = &runstate.Result{Facts: map[string]any{"verdict": string(contracts.VerdictDegraded)}}
	return runstate.Snapshot{
		Run: runstate.Run{
			ID: "run_paper", SessionID: "s", Format: runstate.Format, State: contracts.RunDegraded, CreatedAt: began(), UpdatedAt: at(13300), FinishedAt: ptr(13300),
			Verdict: &contracts.Verdict{Status: contracts.VerdictDegraded, Score: &score},
			Plan: contracts.Plan{Strategy: "workflow:shop.restock", CapabilityDigests: map[string]string{"shop.find": "d1"}, Nodes: []contracts.Node{
				tool("find", "look", true), tool("price", "look", true), tool("stock", "look", false), ask, think, buy, check, tool("never", "act", true),
			}},
		},
		Nodes: []runstate.Row{
			done("find", contracts.NodeCompleted, 0, 1000, 2), done("price", contracts.NodeCompleted, 200, 1700, 1), done("stock", contracts.NodeFailed, 100, 900, 3),
			done("ask", contracts.NodeCompleted, 1000, 2200, 0), thought, bought, checked,
			{NodeID: "never", State: contracts.NodeSkipped, Skip: runstate.SkipWhen, FinishedAt: ptr(13300)},
		},
		Gates: []contracts.Interrupt{
			{InterruptID: "gate_ask", NodeID: "ask", RunID: "run_paper", Type: contracts.InterruptClarification, Status: contracts.InterruptAnswered, CreatedAt: at(1000), Decisions: []contracts.InterruptDecided{{Decision: contracts.DecisionAnswer, DecidedAt: at(2200)}}},
			{
				InterruptID: "gate_buy", NodeID: "buy", RunID: "run_paper", Type: contracts.InterruptWriteApproval, Status: contracts.InterruptApproved, CreatedAt: at(2700), ActionSHA256: "h1", Roles: []string{"approver"},
				Decisions: []contracts.InterruptDecided{{Decision: contracts.DecisionApprove, DecidedBy: "otto", DecidedAt: at(12700)}},
			},
		},
		Intents: []runstate.Intent{{RunID: "run_paper", NodeID: "buy", N: 1, ActionSHA256: "h1", Parameters: []byte(`{"id":"k1"}`), CreatedAt: at(12710), Consumed: true, Outcome: &runstate.Outcome{Kind: runstate.ReplyResult, At: at(13100)}}},
	}
}

func of(t *testing.T, snap runstate.Snapshot, now time.Time) metrics.RunMetrics {
	t.Helper()
	f, err := runmetrics.Of(snap, now)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Every metric of the example run, as calculated by hand.
func TestTheFiguresOfARunMadeByHand(t *testing.T) {
	t.Parallel()
	first, score := int64(1000), 0.6 // find gave the first result
	want := metrics.RunMetrics{
		RunID: "run_paper", Strategy: "workflow:shop.restock", State: string(contracts.RunDegraded),
		// From 2700 to 12700 nothing is done and an interrupt is open; while ask is open, price and
		// think are running.
		Timing:        metrics.Timing{WallMS: 13300, MachineMS: 3300, HumanMS: 10000},
		FirstUsefulMS: &first,
		// price ends after find, so think waited for price: 1500 + 1000 + 500 + 100, and the person
		// at the gate.
		CriticalPath: metrics.CriticalPath{Nodes: []string{"price", "think", "buy", "check"}, MachineMS: 3100, HumanMS: 10000},
		// 1000 + 1500 + 800 + 1000 + 500 + 100, done in 0–2700 and 12700–13300.
		WorkMS: 4900, BusyMS: 3300, Parallelism: 1.485,
		// never was not needed, stock not required.
		Steps: 6, Completed: 6, Degraded: 1, VerifierRejections: 1,
		Verdict: string(contracts.VerdictDegraded), Score: &score,
		Planned: 8, Drifted: 0,
		Tokens: contracts.Tokens{In: 150, Out: 30}, ModelCalls: 2,
		Repairs: 4, // find once more, stock twice, one answer repaired
		Calls:   map[string]int{"shop.find": 2, "shop.price": 1, "shop.stock": 3, "shop.buy": 1},
		Phases: []metrics.PhaseMetrics{
			{Phase: "act", Steps: 2, MachineMS: 600, HumanMS: 10000},
			{Phase: "decide", Steps: 1, MachineMS: 1000},
			{Phase: "look", Steps: 4, MachineMS: 3300, HumanMS: 1200},
		},
		Asked: []metrics.QuestionMetrics{
			{Type: string(contracts.InterruptClarification), Count: 1, HumanMS: 1200},
			{Type: string(contracts.InterruptWriteApproval), Roles: []string{"approver"}, Count: 1, HumanMS: 10000},
		},
	}
	got := of(t, paper(), at(999_999)) // at any later time
	want.Fingerprint = got.Fingerprint
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paper (-) and figures (+):\n%s", diff)
	}
	other := paper()
	other.Run.Plan.CapabilityDigests = map[string]string{"shop.find": "d2"}
	if f := of(t, other, at(0)).Fingerprint; f == got.Fingerprint || len(f) != 12 {
		t.Errorf("a run of another version has the fingerprint %s, this one %s", f, got.Fingerprint)
	}
}

// A run in progress is measured up to now: the interrupt is still open.
func TestARunUnderWayIsMeasuredUpToNow(t *testing.T) {
	t.Parallel()
	snap := paper()
	snap.Run.FinishedAt, snap.Run.State, snap.Run.Verdict, snap.Run.Parked = nil, contracts.RunWaiting, nil, true
	snap.Nodes = snap.Nodes[:5]
	snap.Nodes = append(snap.Nodes, runstate.Row{NodeID: "buy", State: contracts.NodeAwaitingApproval, CallRow: runstate.CallRow{Step: "gate"}})
	snap.Gates[1].Status, snap.Gates[1].Decisions, snap.Intents = contracts.InterruptOpen, nil, nil
	got := of(t, snap, at(5000))
	if want := (metrics.Timing{WallMS: 5000, MachineMS: 2700, HumanMS: 2300}); got.Timing != want {
		t.Errorf("%+v, want %+v", got.Timing, want)
	}
	if got.Completed != 4 || got.Steps != 7 || got.CriticalPath.HumanMS != 2300 { // find, price, ask, think; buy, check, never are open
		t.Errorf("%+v", got)
	}
}

// Repeated steps were not planned.
func TestWhatIsMadeAnewIsDrift(t *testing.T) {
	t.Parallel()
	snap := paper()
	again := snap.Run.Plan.Nodes[2]
	again.NodeID, again.ForNode, again.Round = "stock#2", "stock", &contracts.Round{N: 2, By: "(verifier)"}
	row := done("stock#2", contracts.NodeCompleted, 13300, 13500, 1)
	row.Spec, row.Place = &again, 1
	snap.Nodes, snap.Run.FinishedAt = append(snap.Nodes, row), ptr(13500)
	got := of(t, snap, at(20000))
	if got.Planned != 8 || got.Drifted != 1 || got.Degraded != 0 || got.Calls["shop.stock"] != 4 || got.WallMS != 13500 || got.MachineMS != 3500 {
		t.Errorf("%+v", got)
	}
}
