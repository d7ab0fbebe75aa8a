package verdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution/runstate"
)

// The names of checks.
const (
	CheckReadBack      = "read_back"
	CheckUnverified    = "unverified"
	CheckBadAnswer     = "bad_answer"
	CheckAssertion     = "assertion"
	CheckJudge         = "judge"
	checkCompleted     = "completed"
	checkContradiction = "contradiction"
	checkBasis         = "complete_basis"
)

// Of computes the verdict of a run from its rows, subject to its flags: in shadow mode it is only
// recorded, and without a verifier it covers only failed read-backs of writes. It returns nil if
// there is nothing to report then. Of superseded instances only the writes count, because they took
// effect.
func Of(s *runstate.State) *contracts.Verdict {
	mode := metrics.Effective(s.Run.Plan.Flags).Verifier
	j := judge{status: contracts.VerdictVerified, dryRun: s.Run.Plan.DryRun}
	if mode == metrics.FlagOff {
		if j.readBacks(s); j.status == contracts.VerdictVerified {
			return nil
		}
	} else {
		j.all(s)
	}
	v := contracts.Verdict{
		Status: j.status, Reasons: j.reasons, Checks: j.checks, Category: j.category, Fixes: j.fixes,
		Shadow: mode == metrics.FlagShadow,
	}
	if used := s.Tokens(); used != (contracts.Tokens{}) {
		v.Tokens = &used
	}
	grade(s, &v)
	return &v
}

func (j *judge) all(s *runstate.State) {
	for _, n := range s.Nodes() {
		if n.IsAnswer() {
			continue
		}
		if !n.Superseded() || n.Writes() && n.State() == contracts.NodeCompleted {
			j.node(n)
		}
	}
	for _, n := range s.Nodes() {
		if n.IsJoin() && !n.Superseded() {
			j.join(s, n)
		}
	}
}

// readBacks adds only the checks after writes.
func (j *judge) readBacks(s *runstate.State) {
	for _, n := range s.Nodes() {
		if n.Writes() {
			j.checked(n)
		}
	}
}

// grade sets the outcome score: the score of the status times the share of the required steps that
// completed. Steps that were not needed are left out.
func grade(s *runstate.State, v *contracts.Verdict) {
	required, completed := 0, 0
	for _, n := range s.Nodes() {
		if !n.Spec.Required || n.Superseded() || n.SkippedWithoutFailure() {
			continue
		}
		required++
		if n.State() == contracts.NodeCompleted {
			completed++
		}
	}
	score := Score(v.Status)
	if required > 0 {
		score *= float64(completed) / float64(required)
	}
	score = math.Round(score*1000) / 1000
	v.Score = &score
}

// WithOpinion returns the verdict of a run with the opinion of a model, which can only lower it.
func WithOpinion(s *runstate.State, v contracts.Verdict, o contracts.Opinion) contracts.Verdict {
	v.Judge = &o
	if used := s.Tokens().Add(contracts.SumTokens(o.Calls)); used != (contracts.Tokens{}) {
		v.Tokens = &used
	}
	if Graver(o.Status, v.Status) {
		v.Status, v.Category = o.Status, CheckJudge
		v.Reasons = append(slices.Clip(v.Reasons), o.Reasons...)
		grade(s, &v)
	}
	return v
}

// Graver reports whether verdict a is worse than b. An empty verdict is never worse.
func Graver(a, b contracts.VerdictStatus) bool {
	return slices.Index(verdictOrder[:], a) > slices.Index(verdictOrder[:], b)
}

// judge collects checks; its status only gets worse.
type judge struct {
	dryRun   bool
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
	if Graver(to, j.status) {
		j.status, j.category = to, category
	}
	if !slices.Contains(j.reasons, reason) {
		j.reasons = append(j.reasons, reason)
	}
}

func (j *judge) node(n *runstate.Node) {
	name := n.Name()
	switch n.State() {
	case contracts.NodeCompleted:
		j.checks = append(j.checks, contracts.Check{Name: checkCompleted, OK: true, Detail: name})
	case contracts.NodeFailed:
		j.failed(n, name)
	case contracts.NodeRejected:
		j.lower(contracts.VerdictBlocked, "rejected", name+" was rejected")
	case contracts.NodeCancelled: // a cancel that came too late has no effect
		j.lower(contracts.VerdictBlocked, "cancelled", "the run was cancelled")
	default:
	}
	j.checked(n)
	if letPass(n) && foundIn(n) == contracts.VerdictBlocked { // it would have failed with the verifier on
		j.failedBy(n, contracts.ErrPrecondition, name+" would have failed: none of what was expected holds")
	}
	if n.State() == contracts.NodeCompleted && !j.dryRun && needsProof(n) {
		j.lower(contracts.VerdictDegraded, CheckUnverified, "unverified: "+name+" has no read-back")
	}
}

func (j *judge) checked(n *runstate.Node) {
	for _, c := range n.Row.Checks {
		j.checks = append(j.checks, c)
		j.check(n.Name(), c)
	}
}

// needsProof reports whether a write took effect without a read-back, or a verifier that the
// manifest requires did not run.
func needsProof(n *runstate.Node) bool {
	if n.Row.Expanded || !n.Writes() && (n.Spec.Policy == nil || !n.Spec.Policy.VerifierRequired) {
		return false
	}
	return !slices.ContainsFunc(n.Row.Checks, func(c contracts.Check) bool { return c.Name == CheckReadBack })
}

func (j *judge) failed(n *runstate.Node, name string) {
	kind, message := "", ""
	if n.Row.Error != nil {
		kind, message = n.Row.Error.Type, n.Row.Error.Message
	}
	j.checks = append(j.checks, contracts.Check{Name: checkCompleted, Detail: name + ": " + message})
	j.failedBy(n, kind, fmt.Sprintf("%s failed: %s", name, message))
}

func (j *judge) failedBy(n *runstate.Node, kind, reason string) {
	switch {
	case !n.Spec.Required || n.Spec.ContinueOnError:
		j.lower(contracts.VerdictDegraded, kind, reason)
	case n.Writes() && n.Row.Error != nil && n.Row.Error.EffectOf() == contracts.EffectApplied:
		j.lower(contracts.VerdictBlocked, kind, reason)
		j.fixes = append(j.fixes, "look at what it did before you ask for it again")
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
	case c.Name == CheckReadBack:
		j.lower(contracts.VerdictBlocked, "verify_failed", name+" was read back and does not hold: "+c.Detail)
		j.fixes = append(j.fixes, "look at "+name+" in its system, or compensate it")
	case c.Name == CheckUnverified:
		j.lower(contracts.VerdictDegraded, CheckUnverified, "unverified: "+name+": "+c.Detail)
	default:
		j.lower(contracts.VerdictDegraded, c.Name, name+": "+c.Detail)
	}
}

// join detects branches that contradict each other, and writes that depend on incomplete reads.
func (j *judge) join(s *runstate.State, join *runstate.Node) {
	byCall := map[string]*runstate.Node{}
	incomplete := false
	for _, m := range s.Members(join) {
		incomplete = incomplete || m.State() != contracts.NodeCompleted
		if m.Row.Result == nil {
			continue
		}
		call, err := contracts.Hash([]any{m.Spec.Tool, m.Row.Params})
		if err != nil {
			continue
		}
		if first, ok := byCall[call]; ok && !sameFacts(first, m) {
			detail := fmt.Sprintf("%s and %s asked the same and got different answers", first.ID(), m.ID())
			j.checks = append(j.checks, contracts.Check{Name: checkContradiction, Detail: detail})
			j.lower(contracts.VerdictDegraded, checkContradiction, detail)
			continue
		}
		byCall[call] = m
	}
	if incomplete {
		j.dependents(join)
	}
}

func sameFacts(a, b *runstate.Node) bool {
	x, errX := contracts.Hash(a.Row.Result.Facts)
	y, errY := contracts.Hash(b.Row.Result.Facts)
	return errX == nil && errY == nil && x == y
}

func (j *judge) dependents(join *runstate.Node) {
	for _, d := range join.Dependents() {
		if d.Writes() && d.State() == contracts.NodeCompleted && slices.Contains(d.Spec.DependsOn, join.ID()) {
			detail := d.ID() + " was done although reads before it are incomplete"
			j.checks = append(j.checks, contracts.Check{Name: checkBasis, Detail: detail})
			j.lower(contracts.VerdictDegraded, checkBasis, detail)
		}
	}
}

// Score returns the score of a verdict, from 0 to 1.
func Score(v contracts.VerdictStatus) float64 {
	switch v {
	case contracts.VerdictVerified:
		return 1
	case contracts.VerdictDegraded:
		return 0.6
	case contracts.VerdictRetry:
		return 0.3
	case contracts.VerdictBlocked:
		return 0
	}
	return 0
}
