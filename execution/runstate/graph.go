package runstate

import (
	"cmp"
	"container/heap"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
)

// graph is which nodes there are, what they wait for, and what that comes to. It
// keeps counters and a ready heap, so that a chain of n nodes costs n steps.
type graph struct {
	// nodes are in plan order: the planned ones, then those that were appended.
	nodes []*Node
	byID  map[string]*Node
	// newest is the instance of each step that counts, where there are several.
	newest map[string]*Node
	ready  readyHeap
	// count and lost are over the nodes that count for the run: how many stand in
	// each state, and how many required ones failed.
	count map[contracts.NodeState]int
	lost  int
	// open is how many nodes have not ended, due how many are woken.
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
	for _, n := range g.nodes { // planned nodes may be named before they stand
		if err := g.link(n); err != nil {
			return err
		}
	}
	return nil
}

// addStored adds a node that was appended before.
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

// belong makes an appended node a new instance of its step, or a member of the
// repeated node that it was made for. One that a round has added stands by itself.
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
	of.Row.Expanded = true // rows of Format 1 do not say so
	of.members = append(of.members, n)
	g.depend(of, n)
	return nil
}

// supersede lets a new instance count instead of one that has ended: whatever
// waits for the step, and has not begun, waits for the new one.
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

// insert makes a vertex of a node without any edges.
func (g *graph) insert(spec contracts.Node, row *Row) (*Node, error) {
	if _, taken := g.byID[spec.NodeID]; taken {
		return nil, contracts.Errorf(contracts.CodeInvalid, "node id %q is used twice", spec.NodeID)
	}
	n := &Node{Spec: spec, Row: row, index: len(g.nodes), order: len(g.nodes)}
	if done := row.State == contracts.NodeCompleted; done && spec.ForEach != nil && !row.Expanded {
		row.Expanded = true // only its copies can have completed it; rows of Format 1 do not say so
	}
	g.nodes = append(g.nodes, n)
	g.byID[spec.NodeID] = n
	if !n.Ended() {
		g.open++
	}
	g.countIn(n, 1)
	return n, nil
}

// link adds the edges that a node's plan names, by the newest instances of the
// steps.
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

// checkReach refuses a plan whose nodes could never all be reached.
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

// instance is the one of a step that counts, nil if there is no such step.
func (g *graph) instance(step string) *Node {
	if n, ok := g.newest[step]; ok {
		return n
	}
	return g.byID[step]
}

// replace puts a new row in the place of a node's and keeps the counters true.
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

// next takes the first node in plan order that is to be started or tried again, and
// may be; nil if there is none.
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

// sleep takes back that a node is woken.
func (g *graph) sleep(n *Node) {
	if n.woken {
		n.woken = false
		g.due--
	}
}

// skipReason returns why a pending node will not run, "" if that is not known yet. In a plan
// without merge rules a node is skipped at once; with them it waits until all before it has
// ended.
func (g *graph) skipReason(n *Node) Skip {
	switch {
	case n.Row.Expanded:
		return ""
	case n.Spec.Kind == contracts.KindJoin:
		return g.skipReasonJoin(n)
	case n.Spec.Kind == contracts.KindResult && n.Spec.Merge == contracts.MergeAllCompleted:
		return "" // a whole workflow has a result whatever became of its steps
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

// members are the calls that a join brings together, in plan order and without
// the steps around them; those of a repeated node are its copies.
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

// runState is the state of the run as a function of its nodes' states.
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

// countIn adds a node to the counters of the run, or takes it out.
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

// Pop removes the last; container/heap calls it.
func (h *readyHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
