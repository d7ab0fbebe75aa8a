package runstate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
	"github.com/manifold-run/manifold/execution/verdict"
)

func at(second int) time.Time { return time.Date(2026, 1, 2, 3, 4, second, 0, time.UTC) }

func node(id string, deps ...string) contracts.Node {
	return contracts.Node{NodeID: id, Kind: contracts.KindTool, Tool: "a.b", DependsOn: deps, Required: true}
}

// ruled is a node under the merge rule of workflows.
func ruled(id string, deps ...string) contracts.Node {
	n := node(id, deps...)
	n.Merge = contracts.MergeNoneFailed
	return n
}

// driven is a run that a test drives by events, with what it would store.
type driven struct {
	t       *testing.T
	state   *runstate.State
	changes runstate.Changes
	clock   int
	entries []runstate.Entry
}

func drive(t *testing.T, nodes ...contracts.Node) *driven {
	t.Helper()
	s, err := runstate.Begin(runstate.Run{ID: "r", Format: runstate.Format, Plan: contracts.Plan{Nodes: nodes}})
	if err != nil {
		t.Fatal(err)
	}
	d := &driven{t: t, state: s}
	d.apply(runstate.RunResumed{})
	return d
}

func (d *driven) apply(e runstate.Event) {
	d.t.Helper()
	d.clock++
	if err := d.state.Apply(at(d.clock), e, &d.changes); err != nil {
		d.t.Fatal(err)
	}
	d.entries = append(d.entries, d.changes.Entries...)
	d.changes.Done()
}

// ready starts the ready nodes, in order.
func (d *driven) ready() []string {
	d.t.Helper()
	var ids []string
	for n := d.state.Next(); n != nil; n = d.state.Next() {
		ids = append(ids, n.ID())
		row := n.Next()
		row.State = contracts.NodeRunning
		d.apply(runstate.RowUpdated{Row: row})
	}
	return ids
}

func (d *driven) end(id string, s contracts.NodeState, change ...func(*runstate.NodeEnded)) {
	d.t.Helper()
	row := d.state.Node(id).Next()
	row.State = s
	e := runstate.NodeEnded{Row: row}
	for _, c := range change {
		c(&e)
	}
	d.apply(e)
}

func skippedBy(why runstate.Skip) func(*runstate.NodeEnded) {
	return func(e *runstate.NodeEnded) { e.Row.Skip = why }
}

func (d *driven) want(states map[string]contracts.NodeState) {
	d.t.Helper()
	got := map[string]contracts.NodeState{}
	for id := range states {
		got[id] = d.state.Node(id).State()
	}
	if diff := cmp.Diff(states, got); diff != "" {
		d.t.Errorf("states (-want +got):\n%s", diff)
	}
}

func (d *driven) snapshot() runstate.Snapshot {
	snap := runstate.Snapshot{Run: d.state.Run}
	for _, n := range d.state.Nodes() {
		snap.Nodes = append(snap.Nodes, *n.Row)
	}
	return snap
}

// again checks that the ledger alone explains the run, and that reading the rows gives the same
// run.
func (d *driven) again() {
	d.t.Helper()
	sealed, payloads, _, err := runstate.Chain{RunID: "r"}.Seal(d.entries)
	if err != nil {
		d.t.Fatal(err)
	}
	replayed, err := runstate.Replay(d.snapshot(), sealed, func(e contracts.LedgerEntry, into any) error {
		return contracts.Decode(payloads[e.Seq-1], into)
	})
	if err != nil || len(replayed.Differences) > 0 || replayed.State != d.state.RunState() {
		d.t.Errorf("replayed %+v, want %s (%v)", replayed, d.state.RunState(), err)
	}
	d.readAnew()
}

// readAnew checks that reading the rows gives the same run.
func (d *driven) readAnew() {
	d.t.Helper()
	read, err := runstate.Read(d.snapshot())
	if err != nil {
		d.t.Fatal(err)
	}
	var changes runstate.Changes
	if err := read.Apply(at(0), runstate.RunResumed{}, &changes); err != nil {
		d.t.Fatal(err)
	}
	if len(changes.Touched) > 0 || read.RunState() != d.state.RunState() || read.Ended() != d.state.Ended() {
		d.t.Errorf("read anew the run is %s, want %s", read.RunState(), d.state.RunState())
	}
}

func TestWhichStepsRunUnderAMergeRule(t *testing.T) {
	t.Parallel()
	failed, completed, skipped := contracts.NodeFailed, contracts.NodeCompleted, contracts.NodeSkipped
	cases := map[string]struct {
		a, b  contracts.NodeState
		skipA runstate.Skip
		skipB runstate.Skip
		on    bool // continue_on_error of a
		want  contracts.NodeState
		why   runstate.Skip
	}{
		"one completed, one was not wanted":           {a: completed, b: skipped, skipB: runstate.SkipWhen, want: contracts.NodePending},
		"one completed, nothing of the other":         {a: completed, b: skipped, skipB: runstate.SkipUpstreamSkipped, want: contracts.NodePending},
		"none was wanted":                             {a: skipped, skipA: runstate.SkipWhen, b: skipped, skipB: runstate.SkipWhen, want: skipped, why: runstate.SkipUpstreamSkipped},
		"one failed":                                  {a: failed, b: completed, want: skipped, why: runstate.SkipUpstreamFailed},
		"one was rejected":                            {a: contracts.NodeRejected, b: completed, want: skipped, why: runstate.SkipUpstreamFailed},
		"one failed, and that does not matter":        {a: failed, b: completed, on: true, want: contracts.NodePending},
		"one was skipped because of one that failed":  {a: skipped, skipA: runstate.SkipUpstreamFailed, b: completed, want: skipped, why: runstate.SkipUpstreamFailed},
		"the only one failed, and that is no matter":  {a: failed, on: true, b: skipped, skipB: runstate.SkipWhen, want: contracts.NodePending},
		"one was cancelled, the other was not wanted": {a: contracts.NodeCancelled, b: skipped, skipB: runstate.SkipWhen, want: skipped, why: runstate.SkipUpstreamFailed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := ruled("a")
			first.ContinueOnError = c.on
			d := drive(t, first, ruled("b"), ruled("c", "a", "b"), ruled("d", "c"))
			d.ready()
			d.end("a", c.a, skippedBy(c.skipA))
			if got := d.ready(); len(got) > 0 {
				t.Errorf("%v began before all was known", got)
			}
			d.end("b", c.b, skippedBy(c.skipB))
			d.want(map[string]contracts.NodeState{"c": c.want})
			if got := d.state.Node("c").Row.Skip; got != c.why {
				t.Errorf("c is skipped as %q, want %q", got, c.why)
			}
			if began := len(d.ready()) > 0; began != (c.want == contracts.NodePending) {
				t.Errorf("c began: %t", began)
			}
			if c.want == skipped && d.state.Node("d").Row.Skip != c.why {
				t.Errorf("d is skipped as %q, want %q", d.state.Node("d").Row.Skip, c.why)
			}
			d.again()
		})
	}
}

func TestAJoinUnderAMergeRule(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		a, b contracts.NodeState
		want contracts.NodeState
		text string
	}{
		"what was not wanted does not count":   {contracts.NodeCompleted, contracts.NodeSkipped, contracts.NodeCompleted, "1 of 1"},
		"with none left it is skipped":         {contracts.NodeSkipped, contracts.NodeSkipped, contracts.NodeSkipped, ""},
		"with some left and none done it ends": {contracts.NodeFailed, contracts.NodeSkipped, contracts.NodeFailed, "0 of 1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := ruled("all", "a", "b")
			all.Kind, all.Tool = contracts.KindJoin, ""
			d := drive(t, ruled("a"), ruled("b"), all)
			d.ready()
			for id, s := range map[string]contracts.NodeState{"a": c.a, "b": c.b} {
				d.end(id, s, func(e *runstate.NodeEnded) {
					if s == contracts.NodeSkipped {
						e.Row.Skip = runstate.SkipWhen
					}
				})
			}
			if c.want != contracts.NodeSkipped {
				n := d.state.Node(d.ready()[0])
				row := n.Next()
				got := d.state.Joined(n, row)
				if got != c.want || row.Result.Summary != c.text {
					t.Errorf("the join is %s (%s), want %s (%s)", got, row.Result.Summary, c.want, c.text)
				}
				d.end("all", got)
			}
			d.want(map[string]contracts.NodeState{"all": c.want})
			d.again()
		})
	}
}

// TestARoundThatIsTakenBackIsSeenByNobody checks a step that repeats its region in the event that
// ends it: nodes outside wait for the new instances, and the replaced ones no longer count.
func TestARoundThatIsTakenBackIsSeenByNobody(t *testing.T) {
	t.Parallel()
	save := ruled("save", "draft")
	save.RunAfter = []string{"check"}
	d := drive(t, ruled("load"), ruled("draft", "load"), ruled("check", "draft"), save, ruled("beside", "load"))
	d.ready()
	d.end("load", contracts.NodeCompleted)
	if diff := cmp.Diff([]string{"draft", "beside"}, d.ready()); diff != "" {
		t.Errorf("ready (-want +got):\n%s", diff)
	}
	d.end("draft", contracts.NodeCompleted)
	d.ready()
	round := &contracts.Round{N: 2, By: "check", With: map[string]any{"why": "too short"}}
	instance := func(id, of string, deps ...string) contracts.Node {
		n := ruled(id, deps...)
		n.ForNode, n.Round = of, round
		return n
	}
	before := len(d.entries)
	d.end("check", contracts.NodeFailed, func(e *runstate.NodeEnded) {
		e.Row.Spent = map[string]float64{"repairs": 2}
		e.Expansion = &runstate.Expansion{
			Cause: "rule 1", Round: round,
			Nodes: []contracts.Node{instance("draft#2", "draft", "load"), instance("check#2", "check", "draft")},
		}
	})
	if kinds := d.entries[before:]; len(kinds) != 2 || kinds[0].Kind != contracts.LedgerOutcome || kinds[1].Kind != contracts.LedgerExpand {
		t.Errorf("entries %+v", kinds)
	}
	if diff := cmp.Diff([]string{"draft#2"}, d.ready()); diff != "" {
		t.Errorf("ready after the jump (-want +got):\n%s", diff)
	}
	d.want(map[string]contracts.NodeState{"save": contracts.NodePending, "draft": contracts.NodeCompleted})
	if d.state.LatestInstance("draft").ID() != "draft#2" || !d.state.Node("draft").Superseded() {
		t.Errorf("the newest draft is %s", d.state.LatestInstance("draft").ID())
	}
	d.again()
	d.end("draft#2", contracts.NodeCompleted)
	if diff := cmp.Diff([]string{"check#2"}, d.ready()); diff != "" {
		t.Errorf("ready in round 2 (-want +got):\n%s", diff)
	}
	d.end("check#2", contracts.NodeCompleted, func(e *runstate.NodeEnded) { e.Row.Spent = map[string]float64{"repairs": 1} })
	if diff := cmp.Diff([]string{"save"}, d.ready()); diff != "" {
		t.Errorf("ready after round 2 (-want +got):\n%s", diff)
	}
	d.end("save", contracts.NodeCompleted)
	d.end("beside", contracts.NodeCompleted)
	if got := d.state.RunState(); got != contracts.RunCompleted {
		t.Errorf("the run is %s: a round that was taken back counts", got)
	}
	if v := verdict.Of(d.state); v.Status != contracts.VerdictVerified {
		t.Errorf("the verdict is %+v", v)
	}
	if got := d.state.Used("repairs"); got != 3 {
		t.Errorf("repairs used: %v, want the sum over all rounds", got)
	}
	d.again()
}

// TestTheSameEventsGiveTheSameBytes checks that nothing in the state machine is random or depends
// on map order.
func TestTheSameEventsGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	play := func() []contracts.LedgerEntry {
		d := drive(t, node("a"), node("b"), node("c", "a", "b"))
		d.ready()
		for _, id := range []string{"b", "a", "c"} {
			d.end(id, contracts.NodeCompleted, func(e *runstate.NodeEnded) {
				e.Row.Result = &runstate.Result{Facts: map[string]any{"x": 1.0, "y": "z"}}
			})
		}
		sealed, _, _, err := runstate.Chain{RunID: "r"}.Seal(d.entries)
		if err != nil {
			t.Fatal(err)
		}
		return sealed
	}
	if diff := cmp.Diff(play(), play()); diff != "" {
		t.Errorf("two plays of one run differ:\n%s", diff)
	}
}

func TestPlansThatCannotBeReachedAreInvalid(t *testing.T) {
	t.Parallel()
	behind := node("a")
	behind.RunAfter = []string{"b"}
	for name, nodes := range map[string][]contracts.Node{
		"an id used twice":         {node("a"), node("a")},
		"a need that is not there": {node("a", "x")},
		"a circle of needs":        {node("a", "b"), node("b", "a")},
		"a circle of order":        {behind, node("b", "a")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := runstate.Begin(runstate.Run{Plan: contracts.Plan{Nodes: nodes}}); contracts.CodeOf(err) != contracts.CodeInvalid {
				t.Errorf("got %v", err)
			}
		})
	}
}
