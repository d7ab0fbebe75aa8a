package runstate

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// VerifyRows compares the rows of a run with its ledger: the plan, how each node ended, what was
// announced, what was decided. It returns one sentence for each difference. payload reads the
// payload of an entry. It does not cover what has no entry, such as events and nodes in progress;
// the seals of the store cover that.
func VerifyRows(snap Snapshot, entries []contracts.LedgerEntry, payload func(contracts.LedgerEntry) ([]byte, error)) []string {
	v := rowCheck{snap: snap, outcomes: map[string][]byte{}, intents: map[string]chainContent{}, decisions: map[string]chainContent{}}
	for _, e := range entries {
		v.read(e, payload)
	}
	if len(entries) == 0 || entries[0].Kind != contracts.LedgerPlan {
		v.say("the ledger does not begin with the plan")
	}
	v.nodes()
	v.announced()
	v.gates()
	return v.faults
}

// chainContent is an entry with its payload.
type chainContent struct {
	entry   contracts.LedgerEntry
	payload Payload
}

// rowCheck compares the stored rows of a run with its ledger. It reads both once and changes
// neither.
type rowCheck struct {
	snap Snapshot
	// outcomes are the last ones by node, intents are by key, decisions by interrupt.
	outcomes           map[string][]byte
	intents, decisions map[string]chainContent
	faults             []string
}

func (v *rowCheck) say(format string, args ...any) {
	v.faults = append(v.faults, fmt.Sprintf(format, args...))
}

func (v *rowCheck) read(e contracts.LedgerEntry, payload func(contracts.LedgerEntry) ([]byte, error)) {
	if e.PayloadSHA256 == "" {
		return
	}
	content, err := payload(e)
	if err != nil {
		v.say("the payload of entry %d is not there", e.Seq)
		return
	}
	p, err := OpenPayload(v.snap.Run.Format, e, content)
	if err != nil {
		v.say("%v", err)
		return
	}
	switch e.Kind {
	case contracts.LedgerPlan:
		if plan := v.snap.Run.Plan; !same(plan, p.Body) || !p.Names(e, plan.PlanHash) {
			v.say("the plan is not the one of entry %d", e.Seq)
		}
	case contracts.LedgerOutcome:
		v.outcomes[e.NodeID] = p.Body
	case contracts.LedgerIntent:
		v.intents[e.Key] = chainContent{e, p}
	case contracts.LedgerDecision, contracts.LedgerSettled:
		var d decision
		if err := contracts.Decode(p.Body, &d); err != nil {
			v.say("entry %d tells of no decision: %v", e.Seq, err)
			return
		}
		v.decisions[d.InterruptID] = chainContent{e, p}
	default:
	}
}

// same reports whether the canonical form of a value is the recorded one.
func same(value any, recorded []byte) bool {
	body, err := contracts.Canonical(value)
	return err == nil && bytes.Equal(body, recorded)
}

func (v *rowCheck) nodes() {
	known := map[string]bool{}
	for i := range v.snap.Nodes {
		row := &v.snap.Nodes[i]
		known[row.NodeID] = true
		outcome, ended := v.outcomes[row.NodeID]
		switch {
		case !row.State.Terminal(): // a search that is repeated has an outcome of the first time
		case !ended && v.skippedByOthers(row):
		case !ended:
			v.say("node %s has ended, and no entry says how", row.NodeID)
		case !same(outcomeOf(row), outcome):
			v.say("node %s did not end as its entry says", row.NodeID)
		}
	}
	for id := range v.outcomes {
		if !known[id] {
			v.say("node %s has an entry and no row", id)
		}
	}
	for _, n := range v.snap.Run.Plan.Nodes {
		if !known[n.NodeID] {
			v.say("node %s is in the plan and has no row", n.NodeID)
		}
	}
}

// skippedByOthers reports whether a node was skipped because of earlier nodes. The ledger has no
// entry for it; the entries of those nodes explain it: a dependency has ended without completing.
func (v *rowCheck) skippedByOthers(row *Row) bool {
	if row.State != contracts.NodeSkipped || row.Skip != SkipUpstreamFailed && row.Skip != SkipUpstreamSkipped {
		return false
	}
	spec := row.Spec
	for i := range v.snap.Run.Plan.Nodes {
		if n := &v.snap.Run.Plan.Nodes[i]; n.NodeID == row.NodeID {
			spec = n
		}
	}
	return spec != nil && slices.ContainsFunc(v.snap.Nodes, func(before Row) bool {
		needed := slices.Contains(spec.DependsOn, before.NodeID) || before.Spec != nil && slices.Contains(spec.DependsOn, before.Spec.ForNode)
		return needed && before.State.Terminal() && before.State != contracts.NodeCompleted
	})
}

func (v *rowCheck) announced() {
	known := map[string]bool{}
	for _, i := range v.snap.Intents {
		known[i.Key] = true
		t, announced := v.intents[i.Key]
		if !announced || !t.payload.Names(t.entry, i.ActionSHA256) || t.entry.NodeID != i.NodeID || !same(i.Parameters, t.payload.Body) {
			v.say("the write %s is not the one that its entry announces", i.Key)
		}
	}
	for key := range v.intents {
		if !known[key] {
			v.say("the write %s has an entry and no row", key)
		}
	}
}

func (v *rowCheck) gates() {
	known := map[string]bool{}
	for i := range v.snap.Gates {
		g := &v.snap.Gates[i]
		known[g.InterruptID] = true
		t, decided := v.decisions[g.InterruptID]
		if decided && (!same(decisionPayload(g), t.payload.Body) || !t.payload.Names(t.entry, g.ActionSHA256)) {
			v.say("gate %s was not decided as its entry says", g.InterruptID)
		}
	}
	for id := range v.decisions {
		if !known[id] {
			v.say("gate %s has an entry and no row", id)
		}
	}
}
