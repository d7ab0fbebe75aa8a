package runstate

import (
	"cmp"
	"container/heap"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
)

// graph has the nodes, their edges, and the state that follows from them. It uses counters and a
// ready heap, so that a chain of n nodes costs O(n).
type graph struct {
	// nodes are in plan order: the planned ones, then the appended ones.
	nodes []*Node
	byID  map[string]*Node
	// newest is the current instance of each step that has several.
	newest map[string]*Node
	ready  readyHeap
	// count is the number of nodes in each state, lost the number of required nodes that failed.
	// Superseded nodes do not count.
	count map[contracts.NodeState]int
	lost  int
	// open is the number of nodes that have not ended, due the number of woken ones.
	open, due int
	holds     holds
}

func (g *graph) addPlanned(plan []contracts.Node, rows map[string]*Row) error {
	for i := range plan {
		spec := &plan[i]
		row := rows[spec.NodeID]
		if row == nil {
			row = &Row{NodeID: spec.NodeID, State: contracts.NodePending}
		}
		if _, err := g.insert(*spec, row); err != nil {
			return err
		}
	}
	for _, n := range g.nodes { // planned nodes may refer to later ones
		if err := g.link(n); err != nil {
			return err
		}
	}
	return nil
}

// addStored adds a node that was appended to the run.
func (g *graph) addStored(row *Row) error {
	n, err := g.insert(*row.Spec, row)
	if err == nil {
		err = g.link(n)
	}
	if err != nil {
		return err
	}
	return g.belong(n)
}

// belong makes an appended node a new instance of its step, or a member of its repeated node. A
// node that was added by a replan is independent.
func (g *graph) belong(n *Node) error {
	if n.IsAnswer() || n.Spec.AddedBy != "" && n.Spec.Round == nil {
		return nil
	}
	of, ok := g.byID[n.Spec.ForNode]
	if !ok {
		return fmt.Errorf("node %s was appended for %q, which is not in the plan", n.ID(), n.Spec.ForNode)
	}
	if g.holds.inTurn {
		n.order = of.order
	}
	if n.Spec.Round != nil {
		g.supersede(g.instance(n.Spec.ForNode), n)
		return nil
	}
	of.Row.Expanded = true // rows of Format 1 do not have it set
	of.members = append(of.members, n)
	g.depend(of, n)
	return nil
}

// supersede replaces an instance that has ended by a new one. Nodes that wait for the step and have
// not started wait for the new instance.
func (g *graph) supersede(old, by *Node) {
	g.newest[by.Spec.ForNode] = by
	g.countIn(old, -1)
	old.superseded = true
	for _, m := range old.members {
		g.countIn(m, -1)
		m.superseded = true
	}
	for _, d := range old.dependents {
		if d != by {
			g.depend(d, by)
		}
	}
}

// insert adds a node without edges.
func (g *graph) insert(spec contracts.Node, row *Row) (*Node, error) {
	if _, taken := g.byID[spec.NodeID]; taken {
		return nil, contracts.Errorf(contracts.CodeInvalid, "node id %q is used twice", spec.NodeID)
	}
	n := &Node{Spec: spec, Row: row, index: len(g.nodes), order: len(g.nodes)}
	if done := row.State == contracts.NodeCompleted; done && spec.ForEach != nil && !row.Expanded {
		row.Expanded = true // only its copies can have completed it; rows of Format 1 do not have it set
	}
	g.nodes = append(g.nodes, n)
	g.byID[spec.NodeID] = n
	if !n.Ended() {
		g.open++
	}
	g.countIn(n, 1)
	return n, nil
}

// link adds the edges from the node's dependencies, which are the newest instances of the steps.
func (g *graph) link(n *Node) error {
	for _, deps := range [2][]string{n.Spec.DependsOn, n.Spec.RunAfter} {
		for _, dep := range deps {
			d := g.instance(dep)
			if d == nil {
				return contracts.Errorf(contracts.CodeInvalid, "node %q depends on %q, which does not exist", n.ID(), dep)
			}
			g.depend(n, d)
		}
	}
	return nil
}

func (g *graph) depend(n, on *Node) {
	on.dependents = append(on.dependents, n)
	if !on.Ended() {
		n.unmet++
	}
}

// checkReach refuses a plan with a cycle.
func (g *graph) checkReach() error {
	unmet := make([]int, len(g.nodes))
	var free []*Node
	for i, n := range g.nodes {
		if unmet[i] = n.unmet; n.unmet == 0 {
			free = append(free, n)
		}
	}
	for at := 0; at < len(free); at++ {
		for _, d := range free[at].dependents {
			if unmet[d.index]--; unmet[d.index] == 0 {
				free = append(free, d)
			}
		}
	}
	for i, n := range g.nodes {
		if unmet[i] > 0 {
			return contracts.Errorf(contracts.CodeInvalid, "node %q waits for itself", n.ID())
		}
	}
	return nil
}

// instance returns the current instance of a step, nil if there is no such step.
func (g *graph) instance(step string) *Node {
	if n, ok := g.newest[step]; ok {
		return n
	}
	return g.byID[step]
}

// replace sets the row of a node and updates the counters.
func (g *graph) replace(n *Node, row *Row) {
	was := n.Ended()
	g.countIn(n, -1)
	n.Row = row
	g.countIn(n, 1)
	if now := n.Ended(); now != was {
		by := 1
		if now {
			by = -1
		}
		g.open += by
		for _, d := range n.dependents {
			d.unmet += by
		}
	}
	if n.State() == contracts.NodeReady {
		g.wake(n)
	} else {
		g.sleep(n)
	}
}

// next removes and returns the first node in plan order that may start or be tried again, nil if
// there is none.
func (g *graph) next() *Node {
	g.releaseHeld()
	for g.ready.Len() > 0 {
		n, ok := heap.Pop(&g.ready).(*Node)
		if !ok || !n.woken {
			continue
		}
		g.sleep(n)
		if !g.mustHold(n) {
			return n
		}
		g.holds.held = append(g.holds.held, n)
	}
	return nil
}

func (g *graph) wake(n *Node) {
	switch {
	case n.woken:
	case g.mustHold(n):
		g.holds.held = append(g.holds.held, n)
	default:
		n.woken = true
		g.due++
		heap.Push(&g.ready, n)
	}
}

// sleep undoes wake.
func (g *graph) sleep(n *Node) {
	if n.woken {
		n.woken = false
		g.due--
	}
}

// skipReason returns why a pending node will not run, "" if that is not known yet. In a plan
// without merge rules a node is skipped at once; with them it waits until all its dependencies have
// ended.
func (g *graph) skipReason(n *Node) Skip {
	switch {
	case n.Row.Expanded:
		return ""
	case n.Spec.Kind == contracts.KindJoin:
		return g.skipReasonJoin(n)
	case n.Spec.Kind == contracts.KindResult && n.Spec.Merge == contracts.MergeAllCompleted:
		return "" // a whole workflow has a result whatever the outcome of its steps
	case n.Spec.Merge == contracts.MergeAllCompleted:
		for _, dep := range n.Spec.DependsOn {
			if d := g.instance(dep); d.Ended() && !d.satisfied() {
				return SkipUpstreamFailed
			}
		}
		return ""
	case n.unmet > 0 || len(n.Spec.DependsOn) == 0:
		return ""
	}
	completed := false
	for _, dep := range n.Spec.DependsOn {
		d := g.instance(dep)
		if d.failed() {
			return SkipUpstreamFailed
		}
		completed = completed || d.satisfied()
	}
	if !completed {
		return SkipUpstreamSkipped
	}
	return ""
}

// skipReasonJoin skips a join under a merge rule if none of its members ran.
func (g *graph) skipReasonJoin(n *Node) Skip {
	if n.Spec.Merge == contracts.MergeAllCompleted || n.unmet > 0 || len(n.Spec.DependsOn) == 0 {
		return ""
	}
	for _, m := range g.members(n) {
		if !m.SkippedWithoutFailure() {
			return ""
		}
	}
	return SkipUpstreamSkipped
}

// members returns the calls that a join merges, in plan order and without auxiliary steps. Those of
// a repeated node are its copies.
func (g *graph) members(n *Node) []*Node {
	if n.Row.Expanded {
		return n.members
	}
	var members []*Node
	for _, id := range n.Spec.DependsOn {
		if m := g.instance(id); m != nil && (m.Spec.Role == "" || m.Spec.Role == contracts.RoleFollowup) {
			members = append(members, m)
		}
	}
	return members
}

// runState derives the state of the run from the states of its nodes.
func (g *graph) runState(cancelling bool) contracts.RunState {
	switch {
	case g.open > 0 && cancelling:
		return contracts.RunCancelling
	case g.open > 0 && (g.hasReady() || g.count[contracts.NodeReady]+g.count[contracts.NodeQueued]+g.count[contracts.NodeRunning] > 0):
		return contracts.RunRunning
	case g.open > 0:
		return contracts.RunWaiting
	case g.lost > 0:
		return contracts.RunFailed
	case g.count[contracts.NodeRejected] > 0:
		return contracts.RunRejected
	case g.count[contracts.NodeCancelled] > 0:
		return contracts.RunCancelled
	case g.count[contracts.NodeFailed] > 0:
		return contracts.RunDegraded
	default:
		return contracts.RunCompleted
	}
}

// countIn adds a node to the counters of the run (by 1) or removes it (by -1).
func (g *graph) countIn(n *Node, by int) {
	if n.superseded || n.IsAnswer() && n.Ended() {
		return
	}
	g.count[n.State()] += by
	if n.State() == contracts.NodeFailed && n.Spec.Required && !n.Spec.ContinueOnError {
		g.lost += by
	}
}

// readyHeap orders nodes by plan order.
type readyHeap []*Node

func (h readyHeap) Len() int { return len(h) }
func (h readyHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].order, h[j].order), cmp.Compare(h[i].index, h[j].index)) < 0
}
func (h readyHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push adds a *Node; container/heap calls it.
func (h *readyHeap) Push(x any) {
	if n, ok := x.(*Node); ok {
		*h = append(*h, n)
	}
}

// Pop removes the last one; container/heap calls it.
func (h *readyHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
