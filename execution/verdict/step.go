package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution/runstate"
)

// The facts of a verify step. Workflows read verdict, score, checks and judge. If the step was
// passed without judging, judged is false and found is what was recorded.
const (
	FactVerdict = "verdict"
	FactJudged  = "judged"
	FactFound   = "found"
)

// letPass reports whether the node is a verify step that passed without judging, because of the
// flag verifier.
func letPass(n *runstate.Node) bool {
	return n.Spec.Kind == contracts.KindVerify && n.State() == contracts.NodeCompleted &&
		n.Row.Result != nil && n.Row.Result.Facts[FactJudged] == false
}

// foundIn returns the verdict that a step recorded without consequences, "" for none.
func foundIn(n *runstate.Node) contracts.VerdictStatus {
	if n.Row.Result == nil {
		return ""
	}
	found, _ := n.Row.Result.Facts[FactFound].(map[string]any)
	status, _ := found[FactVerdict].(string)
	return contracts.VerdictStatus(status)
}

// Rejects reports whether a verify step that has ended has a verdict below verified, or would have
// had. A failed step counts.
func Rejects(n *runstate.Node) bool {
	switch {
	case letPass(n):
		found := foundIn(n)
		return found != "" && found != contracts.VerdictVerified
	case n.Row.Result == nil:
		return true
	default:
		return n.Row.Result.Facts[FactVerdict] != string(contracts.VerdictVerified)
	}
}

// Unjudged returns evidence for the approver of a write: the verify steps before it that judged
// nothing, or whose verdict had no consequences. An approval covers that.
func Unjudged(s *runstate.State, write *runstate.Node) []contracts.EvidenceItem {
	if metrics.Effective(s.Run.Plan.Flags).Verifier == metrics.FlagOn {
		return nil
	}
	var out []contracts.EvidenceItem
	seen, open := map[*runstate.Node]bool{write: true}, []*runstate.Node{write}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		if letPass(at) {
			found, _ := at.Row.Result.Facts[FactFound].(map[string]any)
			said := fmt.Sprintf("“%s”: %s", cmp.Or(at.Masked(at.Spec.Title), at.ID()), WhyPassed(found))
			out = append(out, contracts.EvidenceItem{NodeID: at.ID(), Path: contracts.EvidenceShown + "verifier", Value: contracts.CleanSummary(said)})
		}
		for _, dep := range at.Spec.DependsOn {
			if d := s.LatestInstance(dep); d != nil && !seen[d] {
				seen[d] = true
				open = append(open, d)
			}
		}
	}
	slices.SortFunc(out, func(a, b contracts.EvidenceItem) int { return strings.Compare(a.NodeID, b.NodeID) })
	return out
}

// Grade returns the verdict for assertions: all hold, some hold, or none.
func Grade(failed, of int) contracts.VerdictStatus {
	switch failed {
	case 0:
		return contracts.VerdictVerified
	case of:
		return contracts.VerdictBlocked
	default:
		return contracts.VerdictDegraded
	}
}

// Facts returns the facts of a verify step, with its verdict lowered by the opinion if that is
// worse. why is the reason for a verdict below verified.
func Facts(status contracts.VerdictStatus, checks []contracts.Check, o *contracts.Opinion) (facts map[string]any, why string) {
	rows := make([]any, len(checks))
	for i, c := range checks {
		rows[i] = map[string]any{"name": c.Name, "ok": c.OK, "detail": c.Detail}
	}
	facts, why = map[string]any{"checks": rows}, "none of what was expected holds"
	if o != nil {
		facts["judge"] = opinionFacts(o)
		if Graver(o.Status, status) {
			status, why = o.Status, "the judge: "+Reason(o)
		}
	}
	facts[FactVerdict], facts["score"] = string(status), Score(status)
	return facts, why
}

// Reason returns the first reason of an opinion, for people.
func Reason(o *contracts.Opinion) string {
	if len(o.Reasons) == 0 {
		return "it has doubts, and gave no reason"
	}
	return contracts.CleanSummary(o.Reasons[0])
}

func opinionFacts(o *contracts.Opinion) map[string]any {
	if o.Fault != "" {
		return map[string]any{"fault": o.Fault}
	}
	reasons := make([]any, len(o.Reasons))
	for i, r := range o.Reasons {
		reasons[i] = contracts.CleanSummary(r)
	}
	return map[string]any{"verdict": string(o.Status), "reasons": reasons}
}

// Passed returns the facts of a verify step that passes as if all assertions held. found is what it
// found, nil if it checked nothing.
func Passed(found map[string]any) map[string]any {
	best := contracts.VerdictVerified
	facts := map[string]any{FactVerdict: string(best), "score": Score(best), "checks": []any{}, FactJudged: false}
	if found != nil {
		facts[FactFound] = found
	}
	return facts
}

// WhyPassed explains to people why a step was passed.
func WhyPassed(found map[string]any) string {
	if found == nil {
		return "not judged: the verifier is off in this run"
	}
	status, _ := found[FactVerdict].(string)
	return "not acted on: the verifier only looks on in this run, and would say " + status
}

// AssertionText formats an assertion for people.
func AssertionText(c contracts.Condition) string {
	if c.Expr != "" {
		return contracts.CleanSummary(c.Expr)
	}
	raw, err := contracts.Canonical(c)
	if err != nil {
		return c.Path
	}
	return contracts.CleanSummary(string(raw))
}
