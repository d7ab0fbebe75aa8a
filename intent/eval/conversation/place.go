package conversation

import (
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// misplaced reports which of the wanted actions has not come to the state, stands under no
// condition or waits for other steps than it should; "" where all are as wanted. Another
// choice of actions than the first has no places.
func (c *judged) misplaced() string {
	wanted := c.item.Wanted()
	if !c.same(wanted, c.planned) {
		return ""
	}
	left, of := slices.Clone(c.planned), make([][]Call, len(wanted))
	for n, a := range wanted {
		for _, one := range c.rules.Expand([]Action{a}) {
			at := slices.IndexFunc(left, func(g Call) bool { return c.fits(one, g) && !c.astray(one, g, of) })
			if at < 0 {
				return fmt.Sprintf("step %d, %s, is not where it belongs: state %q, condition %t, after %v", n+1, a.Capability, a.State, a.When, a.After)
			}
			of[n], left = append(of[n], left[at]), slices.Delete(left, at, at+1)
		}
	}
	return ""
}

// astray tells a call that is not where an action should be; of are the calls of the
// actions before it.
func (c *judged) astray(a Action, got Call, of [][]Call) bool {
	if a.State != "" && a.State != got.State || a.When && !got.When {
		return true
	}
	for _, n := range a.After {
		if slices.ContainsFunc(of[n-1], func(before Call) bool { return before.RunID != got.RunID || !slices.Contains(got.Follows, before.Node) }) {
			return true
		}
	}
	return false
}

// parents are, for each node of a run, those that must have ended before it begins. What a
// further round has added comes after that round.
func parents(run contracts.RunView) map[string][]string {
	out, round := map[string][]string{}, ""
	for _, n := range run.Nodes {
		out[n.NodeID] = slices.Concat(n.DependsOn, n.RunAfter)
		if round != "" && len(n.AfterReading) > 0 {
			out[n.NodeID] = append(out[n.NodeID], round)
		}
		if n.Kind == contracts.KindReplan {
			round = n.NodeID
		}
	}
	return out
}

// ancestors are the parents of a node, theirs, and so on.
func ancestors(parents map[string][]string, of string) []string {
	var out []string
	for next := slices.Clone(parents[of]); len(next) > 0; next = next[1:] {
		if !slices.Contains(out, next[0]) {
			out = append(out, next[0])
			next = slices.Concat(next, parents[next[0]])
		}
	}
	slices.Sort(out)
	return out
}
