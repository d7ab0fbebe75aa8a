package execution

import (
	"container/heap"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
)

// graph is the pure part of a run: which nodes there are, what they wait for,
// and what becomes ready or is skipped when one ends. It keeps counters and a
// ready heap, so that a chain of n nodes costs n steps.
type graph struct {
	nodes []*vertex
	byID  map[string]*vertex
	ready readyHeap
}

// vertex is one node with its place in the graph.
type vertex struct {
	spec  contracts.Node
	state contracts.NodeState
	// index is the plan order, which decides between nodes that are ready.
	index      int
	unmet      int
	dependents []*vertex
	// expanded marks a for_each node whose copies were appended: it now waits
	// for them and ends as their join.
	expanded bool
}

// joins tells whether the node runs whatever became of what it waits for.
func (v *vertex) joins() bool { return v.spec.Kind == contracts.KindJoin || v.expanded }

func newGraph() *graph { return &graph{byID: map[string]*vertex{}} }

// add appends nodes, which may depend on earlier nodes and on each other.
func (g *graph) add(specs ...contracts.Node) error {
	first := len(g.nodes)
	for _, spec := range specs {
		if _, taken := g.byID[spec.NodeID]; taken {
			return contracts.Errorf(contracts.CodeInvalid, "node id %q is used twice", spec.NodeID)
		}
		v := &vertex{spec: spec, state: contracts.NodePending, index: len(g.nodes)}
		g.nodes = append(g.nodes, v)
		g.byID[spec.NodeID] = v
	}
	for _, v := range g.nodes[first:] {
		for _, dep := range v.spec.DependsOn {
			if err := g.link(v, dep); err != nil {
				return err
			}
		}
	}
	return nil
}

// check refuses nodes that could never all be reached: ids used twice,
// dependencies that do not exist, and circles.
func (g *graph) check(specs []contracts.Node) error {
	if err := g.add(specs...); err != nil {
		return err
	}
	g.sweep()
	for v := g.next(); v != nil; v = g.next() {
		g.settle(v, contracts.NodeCompleted)
	}
	for _, v := range g.nodes {
		if !v.state.Terminal() {
			return contracts.Errorf(contracts.CodeInvalid, "node %q waits for itself", v.spec.NodeID)
		}
	}
	return nil
}

func (g *graph) link(v *vertex, dep string) error {
	d, ok := g.byID[dep]
	if !ok {
		return contracts.Errorf(contracts.CodeInvalid, "node %q depends on %q, which does not exist", v.spec.NodeID, dep)
	}
	d.dependents = append(d.dependents, v)
	if !d.state.Terminal() {
		v.unmet++
	}
	return nil
}

// expand makes a for_each node wait for copies that were added to the graph.
func (g *graph) expand(template *vertex, copies []contracts.Node) error {
	template.expanded, template.state = true, contracts.NodePending
	for _, c := range copies {
		template.spec.DependsOn = append(template.spec.DependsOn, c.NodeID)
		if err := g.link(template, c.NodeID); err != nil {
			return err
		}
	}
	return nil
}

// restore sets a state that was stored; sweep must follow before the graph is
// used.
func (g *graph) restore(id string, state contracts.NodeState) error {
	v, ok := g.byID[id]
	if !ok {
		return fmt.Errorf("restore node %s: it is not in the plan", id)
	}
	if state.Terminal() && !v.state.Terminal() {
		for _, d := range v.dependents {
			d.unmet--
		}
	}
	v.state = state
	return nil
}

// sweep finds what is ready or doomed among pending nodes and gives the nodes
// that it skipped.
func (g *graph) sweep() []*vertex {
	var skipped []*vertex
	for _, v := range g.nodes {
		if v.state == contracts.NodePending {
			skipped = append(skipped, g.examine(v)...)
		}
	}
	return skipped
}

// settle ends a node and gives the nodes that are skipped because of it.
func (g *graph) settle(v *vertex, state contracts.NodeState) []*vertex {
	if v.state.Terminal() {
		return nil
	}
	v.state = state
	for _, d := range v.dependents {
		d.unmet--
	}
	var skipped []*vertex
	for _, d := range v.dependents {
		skipped = append(skipped, g.examine(d)...)
	}
	return skipped
}

// examine makes a pending node ready when all it waits for has ended, and
// skips it when one of them did not complete. A join runs whatever became of
// its members.
func (g *graph) examine(v *vertex) []*vertex {
	if v.state != contracts.NodePending {
		return nil
	}
	if !v.joins() && g.doomed(v) {
		return append([]*vertex{v}, g.settle(v, contracts.NodeSkipped)...)
	}
	if v.unmet == 0 {
		v.state = contracts.NodeReady
		heap.Push(&g.ready, v)
	}
	return nil
}

func (g *graph) doomed(v *vertex) bool {
	for _, dep := range v.spec.DependsOn {
		if s := g.byID[dep].state; s.Terminal() && s != contracts.NodeCompleted {
			return true
		}
	}
	return false
}

// next takes the first ready node in plan order, nil if there is none.
func (g *graph) next() *vertex {
	for g.ready.Len() > 0 {
		v, ok := heap.Pop(&g.ready).(*vertex)
		if ok && v.state == contracts.NodeReady {
			return v
		}
	}
	return nil
}

// reopen takes back that a node has ended: what depends on it waits for it once
// more.
func (g *graph) reopen(v *vertex) {
	v.state = contracts.NodePending
	for _, d := range v.dependents {
		d.unmet++
		if !d.state.Terminal() {
			d.state = contracts.NodePending
		}
	}
}

// again puts a node back among the ready ones.
func (g *graph) again(v *vertex) {
	v.state = contracts.NodeReady
	heap.Push(&g.ready, v)
}

// runState is the state of a run as a function of its nodes' states.
func (g *graph) runState(cancelling bool) contracts.RunState {
	count := map[contracts.NodeState]int{}
	failedRequired := false
	for _, v := range g.nodes {
		count[v.state]++
		failedRequired = failedRequired || (v.state == contracts.NodeFailed && v.spec.Required)
	}
	open := len(g.nodes)
	for state, n := range count {
		if state.Terminal() {
			open -= n
		}
	}
	if open > 0 {
		return openRunState(count, cancelling)
	}
	switch {
	case failedRequired:
		return contracts.RunFailed
	case count[contracts.NodeRejected] > 0:
		return contracts.RunRejected
	case count[contracts.NodeCancelled] > 0:
		return contracts.RunCancelled
	case count[contracts.NodeFailed] > 0:
		return contracts.RunDegraded
	default:
		return contracts.RunCompleted
	}
}

func openRunState(count map[contracts.NodeState]int, cancelling bool) contracts.RunState {
	switch {
	case cancelling:
		return contracts.RunCancelling
	case count[contracts.NodeReady]+count[contracts.NodeQueued]+count[contracts.NodeRunning] > 0:
		return contracts.RunRunning
	default:
		return contracts.RunWaiting
	}
}

// ended tells whether every node is terminal.
func (g *graph) ended() bool {
	for _, v := range g.nodes {
		if !v.state.Terminal() {
			return false
		}
	}
	return true
}

// readyHeap orders ready nodes by plan order.
type readyHeap []*vertex

func (h readyHeap) Len() int           { return len(h) }
func (h readyHeap) Less(i, j int) bool { return h[i].index < h[j].index }
func (h readyHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a *vertex; container/heap calls it.
func (h *readyHeap) Push(x any) {
	if v, ok := x.(*vertex); ok {
		*h = append(*h, v)
	}
}

// Pop removes the last; container/heap calls it.
func (h *readyHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
