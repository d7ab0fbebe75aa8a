package runstate_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution/runstate"
	"github.com/manifold-run/manifold/planner/workflow"
)

// template is a random workflow. The results of its steps depend only on fate: a function of the
// step and its iteration.
type template struct {
	steps []contracts.Step
	seed  uint64
}

// fate is a number below n that depends only on its arguments and the seed.
func (t template) fate(n uint64, about ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, t.seed, about)
	return h.Sum64() % n
}

func (t template) wanted(step string, n int) bool { return t.fate(4, "when", step, n) > 0 }

func (t template) outcome(step string, n int) contracts.NodeState {
	switch t.fate(8, "outcome", step, n) {
	case 0:
		return contracts.NodeFailed
	case 1:
		if t.fate(3, "rejected", step, n) == 0 {
			return contracts.NodeRejected
		}
	}
	return contracts.NodeCompleted
}

func (t template) goesBack(step string, n, rule int) bool {
	return t.fate(3, "rule", step, n, rule) > 0
}

// invented creates a template, and reports whether admission accepts it.
func invented(seed uint64) (template, []contracts.Node, bool) {
	rnd := rand.New(rand.NewPCG(seed, 7))
	t := template{seed: seed}
	size := 3 + rnd.IntN(8)
	for i := range size {
		step := contracts.Step{ID: fmt.Sprintf("s%d", i), Kind: contracts.StepSet, Set: map[string]any{"x": 1.0}}
		for j := range i {
			if rnd.IntN(3) == 0 {
				step.DependsOn = append(step.DependsOn, fmt.Sprintf("s%d", j))
			}
		}
		if len(step.DependsOn) > 1 && rnd.IntN(4) == 0 {
			step.Kind, step.Set = contracts.StepJoin, nil
		}
		step.ContinueOnError = rnd.IntN(5) == 0
		for range rnd.IntN(3) {
			if rnd.IntN(2) == 0 {
				step.On = append(step.On, contracts.Rule{
					When: &contracts.Condition{Expr: "${round.n < 100}"}, Goto: fmt.Sprintf("s%d", rnd.IntN(i+1)), Max: 1 + rnd.IntN(2),
				})
			}
		}
		t.steps = append(t.steps, step)
	}
	m := &contracts.Manifest{Domain: "d", Workflows: []contracts.Workflow{{Name: "w", Schema: json.RawMessage(`{"type":"object"}`), Steps: t.steps}}}
	d := &contracts.DomainEntry{Name: "d", Manifest: m}
	catalog := contracts.NewCatalog("s", []*contracts.DomainEntry{d}, nil)
	if len(workflow.Check(m, catalog).Findings) > 0 {
		return t, nil, false
	}
	entry, _, err := workflow.Entry(m, &m.Workflows[0], catalog)
	if err != nil {
		return t, nil, false
	}
	out, err := workflow.Compile(workflow.Request{Catalog: catalog, Entry: entry})
	return t, out.Nodes, err == nil
}

// ends maps each instance of a step to how it ended.
type ends map[string]string

// play runs the template in the state machine. Any running node may end next, and at some commits
// the process dies: what was not stored is lost.
func play(t *testing.T, tpl template, nodes []contracts.Node, order uint64) ends {
	t.Helper()
	rnd := rand.New(rand.NewPCG(order, 3))
	run := runstate.Run{ID: "r", Format: runstate.Format, Plan: contracts.Plan{Nodes: nodes, Frames: map[string]contracts.Frame{"": {Workflow: "d.w", Result: "result"}}}}
	inTurn := order%3 == 2
	if inTurn {
		flags := metrics.AllOn()
		flags.DAGPlanning = metrics.FlagOff
		run.Plan.Flags = &flags
	}
	s, err := runstate.Begin(run)
	if err != nil {
		t.Fatal(err)
	}
	var changes runstate.Changes
	apply := func(e runstate.Event) {
		if err := s.Apply(time.Unix(0, 0), e, &changes); err != nil {
			t.Fatal(err)
		}
	}
	apply(runstate.RunResumed{})
	var open []*runstate.Node
	for moves := 0; !s.Ended(); moves++ {
		if moves > 5000 {
			t.Fatal("it does not end")
		}
		for n := s.Next(); n != nil; n = s.Next() {
			open = append(open, n)
			if inTurn {
				row := n.Next()
				row.State = contracts.NodeRunning
				apply(runstate.RowUpdated{Row: row})
			}
		}
		if inTurn && len(open) > 1 {
			t.Fatalf("%d steps are under way at once", len(open))
		}
		if len(open) == 0 {
			t.Fatal("nothing is under way, and it has not ended")
		}
		at := rnd.IntN(len(open))
		n := open[at]
		open = slices.Delete(open, at, at+1)
		begin(s, tpl, n, apply)
		if rnd.IntN(6) == 0 { // the process dies, and another one reads the stored state
			rows := make([]runstate.Row, 0, s.Len())
			for _, n := range s.Nodes() {
				rows = append(rows, *n.Row)
			}
			if s, err = runstate.Read(runstate.Snapshot{Run: s.Run, Nodes: rows}); err != nil {
				t.Fatal(err)
			}
			open = nil
			apply(runstate.RunResumed{})
		}
	}
	out := ends{}
	for _, n := range s.Nodes() {
		out[n.ID()] = string(n.State()) + " " + string(n.Row.Skip)
	}
	return out
}

// begin ends a node as its fate says, with the round that its first rule causes.
func begin(s *runstate.State, tpl template, n *runstate.Node, apply func(runstate.Event)) {
	row := n.Next()
	step, round := n.Step(), 1
	if n.Spec.Round != nil {
		round = n.Spec.Round.N
	}
	switch {
	case n.Spec.Kind == contracts.KindResult:
		row.State = contracts.NodeCompleted
	case n.Spec.Kind == contracts.KindJoin:
		row.State = s.Joined(n, row)
	case !tpl.wanted(step, round):
		row.State, row.Skip = contracts.NodeSkipped, runstate.SkipWhen
	default:
		row.State = tpl.outcome(step, round)
	}
	var again *runstate.Expansion
	if row.State == contracts.NodeCompleted || row.State == contracts.NodeFailed && n.Spec.ContinueOnError {
		for i, rule := range n.Spec.On {
			if tpl.goesBack(step, round, i) && runstate.Taken(s, n, i) < rule.Max {
				again = &runstate.Expansion{Nodes: runstate.Region(s, n, i, map[string]any{})}
				break
			}
		}
	}
	apply(runstate.NodeEnded{Row: row, Expansion: again})
}

// oracle computes the expected result of a template from the rules, without the state machine: one
// step after the other, in their order.
type oracle struct {
	template
	index   map[string]int
	round   []int    // the newest instance of each step
	end     []string // how it ended, "" if it has not
	taken   map[[2]int]int
	regions map[[2]int][]int
	out     ends
}

func foretold(t *testing.T, tpl template) ends {
	t.Helper()
	o := oracle{template: tpl, index: map[string]int{}, taken: map[[2]int]int{}, regions: map[[2]int][]int{}, out: ends{}}
	for i, s := range tpl.steps {
		o.index[s.ID] = i
		o.round, o.end = append(o.round, 1), append(o.end, "")
	}
	for i, s := range tpl.steps {
		for k, rule := range s.On {
			target := o.index[rule.Goto]
			for x := range tpl.steps {
				if o.leads(target, x) && o.leads(x, i) {
					o.regions[[2]int{i, k}] = append(o.regions[[2]int{i, k}], x)
				}
			}
		}
	}
	for moves := 0; ; moves++ {
		next := slices.IndexFunc(tpl.steps, func(s contracts.Step) bool { return o.end[o.index[s.ID]] == "" && o.mayBegin(o.index[s.ID]) })
		if next < 0 {
			break
		}
		if moves > 5000 {
			t.Fatal("the oracle does not end")
		}
		o.finish(next)
	}
	for i, s := range tpl.steps {
		if o.end[i] == "" {
			t.Fatalf("the oracle is stuck at %s", s.ID)
		}
	}
	o.out["result"] = "completed "
	return o.out
}

// leads reports whether there is a path from a step to another, or both are the same.
func (o *oracle) leads(from, to int) bool {
	return from == to || slices.ContainsFunc(o.steps[to].DependsOn, func(dep string) bool { return o.leads(from, o.index[dep]) })
}

// mayBegin reports whether all dependencies have ended, and the loops that it depends on from
// outside.
func (o *oracle) mayBegin(i int) bool {
	for _, dep := range o.steps[i].DependsOn {
		if o.end[o.index[dep]] == "" {
			return false
		}
	}
	for rule, region := range o.regions {
		touches := slices.ContainsFunc(o.steps[i].DependsOn, func(dep string) bool { return slices.Contains(region, o.index[dep]) })
		if touches && !slices.Contains(region, i) && o.end[rule[0]] == "" {
			return false
		}
	}
	return true
}

func (o *oracle) finish(i int) {
	step := o.steps[i]
	end := o.merge(step)
	if end == "" {
		switch {
		case step.Kind == contracts.StepJoin:
			end = o.join(step)
		case !o.wanted(step.ID, o.round[i]):
			end = "skipped when"
		default:
			end = string(o.outcome(step.ID, o.round[i])) + " "
		}
	}
	o.end[i] = end
	name := step.ID
	if o.round[i] > 1 {
		name = fmt.Sprintf("%s#%d", step.ID, o.round[i])
	}
	o.out[name] = end
	if end != "completed " && (end != "failed " || !step.ContinueOnError) {
		return
	}
	for k, rule := range step.On {
		key := [2]int{i, k}
		if o.goesBack(step.ID, o.round[i], k) && o.taken[key] < rule.Max {
			o.back(key)
			return
		}
	}
}

// back starts a region again. The counts of the loops inside it start again.
func (o *oracle) back(key [2]int) {
	o.taken[key]++
	region := o.regions[key]
	for other, inner := range o.regions {
		within := !slices.ContainsFunc(inner, func(x int) bool { return !slices.Contains(region, x) })
		if within && len(inner) < len(region) {
			o.taken[other] = 0
		}
	}
	for _, x := range region {
		o.round[x]++
		o.end[x] = ""
	}
}

// good reports whether a dependency counts as completed, bad whether it causes a skip.
func (o *oracle) good(dep string) bool {
	i := o.index[dep]
	return o.end[i] == "completed " || o.end[i] == "failed " && o.steps[i].ContinueOnError
}

func (o *oracle) bad(dep string) bool {
	i := o.index[dep]
	return !o.good(dep) && o.end[i] != "skipped when" && o.end[i] != "skipped upstream_skipped"
}

func (o *oracle) merge(step contracts.Step) string {
	switch {
	case len(step.DependsOn) == 0 || step.Kind == contracts.StepJoin:
		return ""
	case slices.ContainsFunc(step.DependsOn, o.bad):
		return "skipped upstream_failed"
	case !slices.ContainsFunc(step.DependsOn, o.good):
		return "skipped upstream_skipped"
	default:
		return ""
	}
}

func (o *oracle) join(step contracts.Step) string {
	switch {
	case slices.ContainsFunc(step.DependsOn, o.good):
		return "completed "
	case slices.ContainsFunc(step.DependsOn, o.bad):
		return "failed "
	default:
		return "skipped upstream_skipped"
	}
}

func TestRandomWorkflowsComeToWhatTheRulesSay(t *testing.T) {
	t.Parallel()
	taken, loops, joins := 0, 0, 0
	for seed := uint64(1); taken < 1500 && seed < 40_000; seed++ {
		tpl, nodes, ok := invented(seed)
		if !ok {
			continue
		}
		taken++
		want := foretold(t, tpl)
		if len(want) > len(tpl.steps)+1 {
			loops++
		}
		if slices.ContainsFunc(tpl.steps, func(s contracts.Step) bool { return s.Kind == contracts.StepJoin }) {
			joins++
		}
		for order := range uint64(3) { // in one of them the steps run one after the other
			if diff := cmp.Diff(map[string]string(want), map[string]string(play(t, tpl, nodes, seed*3+order))); diff != "" {
				raw, _ := json.MarshalIndent(tpl.steps, "", " ")
				t.Fatalf("seed %d, order %d (-rules +model):\n%s\n%s", seed, order, diff, raw)
			}
		}
	}
	if taken < 500 || loops < taken/10 || joins < taken/10 {
		t.Errorf("%d templates, %d with rounds, %d with joins: too few to mean anything", taken, loops, joins)
	}
	t.Logf("%d templates, %d with rounds, %d with joins", taken, loops, joins)
}
