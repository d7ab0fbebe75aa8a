package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// CaseOf returns what a judge of a whole run reads: the goal, the results, what is missing and the
// decisions, in short lines.
func CaseOf(s *runstate.State, v contracts.Verdict) map[string]contracts.Compact {
	var found, missing, decided []string
	for _, n := range s.Nodes() {
		title := contracts.CleanSummary(n.Masked(n.Spec.Title))
		if title == "" {
			title = n.ID()
		}
		switch r := n.Row; {
		case n.Superseded() || n.Spec.Importance == contracts.ImportanceQuiet:
		case n.State() == contracts.NodeCompleted && r.Result != nil && r.Result.Summary != "":
			found = append(found, title+": "+n.Masked(r.Result.Summary))
		case r.Error != nil:
			missing = append(missing, title+": "+n.Masked(r.Error.Message))
		}
		if g := n.Gate; g != nil && len(g.Decisions) > 0 {
			decided = append(decided, title+": "+string(runstate.LastDecision(g).Decision))
		}
	}
	lines := func(of []string) contracts.Compact {
		if len(of) > maxToldNodes {
			of = append(slices.Clip(of[:maxToldNodes]), fmt.Sprintf("and %d more", len(of)-maxToldNodes))
		}
		if len(of) == 0 {
			of = []string{"(nothing)"}
		}
		return contracts.CompactWords(strings.Join(of, "\n"))
	}
	return map[string]contracts.Compact{
		"goal": contracts.CompactWords(s.Run.Plan.Goal), "results": lines(found), "missing": lines(missing), "decisions": lines(decided),
		"verdict of the rules": lines(append([]string{string(v.Status)}, v.Reasons...)),
	}
}
