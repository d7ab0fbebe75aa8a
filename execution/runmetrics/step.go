package runmetrics

import (
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// step is a node with its times.
type step struct {
	*runstate.Node
	// whole is from the start of the node, or its first interrupt, to its end or now. It is split
	// into machine and human time; human is while an interrupt was open.
	whole          span
	machine, human []span
}

// steps returns the nodes that have started. A repeated node is represented by its copies.
func steps(s *runstate.State, gates []contracts.Interrupt, now time.Time) []step {
	asked := map[string][]contracts.Interrupt{}
	for _, g := range gates {
		asked[g.NodeID] = append(asked[g.NodeID], g)
	}
	var out []step
	for _, n := range s.Nodes() {
		if n.Row.Expanded {
			continue
		}
		if st, begun := stepOf(n, asked[n.ID()], now); begun {
			out = append(out, st)
		}
	}
	return out
}

func stepOf(n *runstate.Node, gates []contracts.Interrupt, now time.Time) (step, bool) {
	end := now
	if n.Row.FinishedAt != nil {
		end = *n.Row.FinishedAt
	}
	st := step{Node: n, whole: span{end, end}}
	if n.Row.StartedAt != nil {
		st.whole.from = *n.Row.StartedAt
	}
	for i, g := range gates {
		until := end
		if i+1 < len(gates) {
			until = gates[i+1].CreatedAt // the next interrupt replaces it
		}
		asked := span{g.CreatedAt, earliest(settledAt(g, until), end)}
		st.whole.from = earliest(st.whole.from, asked.from)
		st.human = append(st.human, asked)
	}
	st.human = union(st.human)
	st.machine = without(union([]span{st.whole}), st.human)
	return st, n.Row.StartedAt != nil || len(gates) > 0
}

// settledAt returns when the interrupt was closed.
func settledAt(g contracts.Interrupt, until time.Time) time.Time {
	switch g.Status {
	case contracts.InterruptApproved, contracts.InterruptRejected, contracts.InterruptAnswered:
		if len(g.Decisions) > 0 {
			return g.Decisions[len(g.Decisions)-1].DecidedAt
		}
	case contracts.InterruptExpired:
		if g.ExpiresAt != nil {
			return *g.ExpiresAt
		}
	case contracts.InterruptOpen, contracts.InterruptSuperseded:
	}
	return until
}

// critical returns the chain of steps that determined the end of the run, first step first.
func critical(all []step) []step {
	byID, instances := map[string]*step{}, map[string][]*step{}
	var last *step
	for i := range all {
		st := &all[i]
		byID[st.ID()] = st
		if st.Spec.ForNode != "" {
			instances[st.Spec.ForNode] = append(instances[st.Spec.ForNode], st)
		}
		if last == nil || st.whole.to.After(last.whole.to) {
			last = st
		}
	}
	var path []step
	for st := last; st != nil && len(path) <= len(all); {
		path = append(path, *st)
		st = before(st, byID, instances)
	}
	slices.Reverse(path)
	return path
}

// before returns the last step to end of those that a step waited for: an instance or a copy of a
// dependency, or the step that caused its round.
func before(st *step, byID map[string]*step, instances map[string][]*step) *step {
	var last *step
	waited := slices.Concat(st.Spec.DependsOn, st.Spec.RunAfter)
	if r := st.Spec.Round; r != nil {
		waited = append(waited, r.By)
	}
	for _, id := range waited {
		for _, d := range append(instances[id], byID[id]) {
			if d == nil || d.ID() == st.ID() || d.whole.to.After(st.whole.from) {
				continue
			}
			if last == nil || d.whole.to.After(last.whole.to) {
				last = d
			}
		}
	}
	return last
}
