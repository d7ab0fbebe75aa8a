package execution

import (
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// The names of checks.
const (
	checkCompleted     = "completed"
	checkReadBack      = "read_back"
	checkUnverified    = "unverified"
	checkBadAnswer     = "bad_answer"
	checkContradiction = "contradiction"
	checkBasis         = "complete_basis"
)

// verdict judges the run by its rows alone.
func (l *loop) verdict() contracts.Verdict {
	j := judge{status: contracts.VerdictVerified}
	for _, v := range l.graph.nodes {
		j.node(v, l.nodes[v.spec.NodeID], l.nameOf(v))
	}
	for _, v := range l.graph.nodes {
		if v.joins() {
			l.judgeJoin(&j, v)
		}
	}
	return contracts.Verdict{Status: j.status, Reasons: j.reasons, Checks: j.checks, Category: j.category, Fixes: j.fixes}
}

// judge gathers checks; a status only ever gets worse.
type judge struct {
	status   contracts.VerdictStatus
	category string
	reasons  []string
	checks   []contracts.Check
	fixes    []string
}

var verdictOrder = [...]contracts.VerdictStatus{
	contracts.VerdictVerified, contracts.VerdictDegraded, contracts.VerdictRetry, contracts.VerdictBlocked,
}

func (j *judge) lower(to contracts.VerdictStatus, category, reason string) {
	if slices.Index(verdictOrder[:], to) > slices.Index(verdictOrder[:], j.status) {
		j.status, j.category = to, category
	}
	if !slices.Contains(j.reasons, reason) {
		j.reasons = append(j.reasons, reason)
	}
}

// nameOf is how reasons speak of a node, without personal data.
func (l *loop) nameOf(v *vertex) string {
	name := v.spec.NodeID
	if v.spec.Title != "" {
		name += " (" + l.masked(l.nodes[name], v.spec.Title) + ")"
	}
	return name
}

func (j *judge) node(v *vertex, n *node, name string) {
	switch v.state {
	case contracts.NodeCompleted:
		j.checks = append(j.checks, contracts.Check{Name: checkCompleted, OK: true, Detail: name})
	case contracts.NodeFailed:
		j.failed(v, n, name)
	case contracts.NodeRejected:
		j.lower(contracts.VerdictBlocked, "rejected", name+" was rejected")
	case contracts.NodeCancelled: // a cancel that came too late changes nothing
		j.lower(contracts.VerdictBlocked, "cancelled", "the run was cancelled")
	default:
	}
	for _, c := range n.rec.Checks {
		j.checks = append(j.checks, c)
		j.check(name, c)
	}
	if v.state == contracts.NodeCompleted && needsProof(v, n) {
		j.lower(contracts.VerdictDegraded, checkUnverified, "unverified: "+name+" has no read-back")
	}
}

// needsProof tells whether a write that must be verified has not been.
func needsProof(v *vertex, n *node) bool {
	if v.spec.Policy == nil || !v.spec.Policy.VerifierRequired || v.expanded {
		return false
	}
	return !slices.ContainsFunc(n.rec.Checks, func(c contracts.Check) bool { return c.Name == checkReadBack })
}

func (j *judge) failed(v *vertex, n *node, name string) {
	kind, message := "", ""
	if n.rec.Error != nil {
		kind, message = n.rec.Error.Type, n.rec.Error.Message
	}
	j.checks = append(j.checks, contracts.Check{Name: checkCompleted, Detail: name + ": " + message})
	reason := fmt.Sprintf("%s failed: %s", name, message)
	switch {
	case !v.spec.Required:
		j.lower(contracts.VerdictDegraded, kind, reason)
	case kind == contracts.ErrUpstream || kind == contracts.ErrTimeout:
		j.lower(contracts.VerdictRetry, kind, reason)
		j.fixes = append(j.fixes, "try again when the domain answers")
	default:
		j.lower(contracts.VerdictBlocked, kind, reason)
	}
}

func (j *judge) check(name string, c contracts.Check) {
	switch {
	case c.OK:
	case c.Name == checkReadBack:
		j.lower(contracts.VerdictBlocked, "verify_failed", name+" was read back and does not hold: "+c.Detail)
		j.fixes = append(j.fixes, "look at "+name+" in its system, or compensate it")
	case c.Name == checkUnverified:
		j.lower(contracts.VerdictDegraded, checkUnverified, "unverified: "+name+": "+c.Detail)
	default:
		j.lower(contracts.VerdictDegraded, c.Name, name+": "+c.Detail)
	}
}

// judgeJoin looks for branches that contradict each other, and for writes that
// rest on incomplete reads.
func (l *loop) judgeJoin(j *judge, v *vertex) {
	byCall := map[string]*node{}
	incomplete := false
	for _, m := range joinMembers(v, func(id string) *vertex { return l.graph.byID[id] }) {
		n := l.nodes[m.spec.NodeID]
		incomplete = incomplete || m.state != contracts.NodeCompleted
		if n.rec.Result == nil {
			continue
		}
		call, err := contracts.Hash([]any{m.spec.Tool, n.rec.Params})
		if err != nil {
			continue
		}
		if first, ok := byCall[call]; ok && !sameFacts(first, n) {
			detail := fmt.Sprintf("%s and %s asked the same and got different answers", first.rec.NodeID, n.rec.NodeID)
			j.checks = append(j.checks, contracts.Check{Name: checkContradiction, Detail: detail})
			j.lower(contracts.VerdictDegraded, checkContradiction, detail)
			continue
		}
		byCall[call] = n
	}
	if incomplete {
		l.judgeDependents(j, v)
	}
}

func sameFacts(a, b *node) bool {
	x, errX := contracts.Hash(a.rec.Result.Facts)
	y, errY := contracts.Hash(b.rec.Result.Facts)
	return errX == nil && errY == nil && x == y
}

func (l *loop) judgeDependents(j *judge, v *vertex) {
	for _, d := range v.dependents {
		if n := l.nodes[d.spec.NodeID]; writes(n) && d.state == contracts.NodeCompleted {
			detail := d.spec.NodeID + " was done although reads before it are incomplete"
			j.checks = append(j.checks, contracts.Check{Name: checkBasis, Detail: detail})
			j.lower(contracts.VerdictDegraded, checkBasis, detail)
		}
	}
}
