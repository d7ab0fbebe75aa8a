package runstate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
)

// State is the state of a run as a value.
//
// Invariant: the state of a node is in its row only, and the counters of the graph are derived from
// the rows. Only Apply, and Read while it builds, change a State. It is not safe for concurrent
// use.
type State struct {
	// Run is the run's row as it was read, with later cancel requests.
	Run Run

	graph graph
}

// Node is a vertex of the graph with its row.
type Node struct {
	Spec contracts.Node
	Row  *Row
	// Gate is the interrupt of the row's GateID. Intent is the announced write that is not settled.
	Gate   *contracts.Interrupt
	Intent *Intent
	// Private names the parameters that are declared as personal data now; events and reasons mask
	// their values.
	Private []string

	index int
	// order is the position of the node in the plan. A node that was appended to a run whose steps
	// run one after the other has the order of its step; otherwise it is the index.
	order int
	// unmet counts the nodes that this node still waits for, by dependency or by order.
	unmet      int
	dependents []*Node
	// members are the copies of a repeated node, in the order of the items.
	members []*Node
	// superseded means that a later instance of the step has replaced this one.
	superseded bool
	// touched means that the row must be written.
	touched bool
	// woken means that the node is in the ready heap, to be started or tried again.
	woken bool
}

// ID returns the node's id.
func (n *Node) ID() string { return n.Row.NodeID }

// State returns the state of the node.
func (n *Node) State() contracts.NodeState { return n.Row.State }

// Ended reports whether the node has ended.
func (n *Node) Ended() bool { return n.Row.State.Terminal() }

// Next returns a copy of the row, to be changed and applied.
func (n *Node) Next() *Row {
	row := *n.Row
	return &row
}

// Writes reports whether the planned class of the node is a write.
func (n *Node) Writes() bool {
	return n.Spec.Policy != nil && n.Spec.Policy.SideEffectClass.Writes()
}

// IsAnswer reports whether the node words the results of the others. It does not count for the
// result of the run.
func (n *Node) IsAnswer() bool { return n.Spec.Kind == contracts.KindAnswer }

// IsJoin reports whether the node runs whatever the outcome of the nodes that it waits for.
func (n *Node) IsJoin() bool { return n.Spec.Kind == contracts.KindJoin || n.Row.Expanded }

// Dependents returns the nodes that wait for this one, by dependency or by order. The caller must
// not change the list.
func (n *Node) Dependents() []*Node { return n.dependents }

// Superseded reports whether a later instance of the step has replaced this one.
func (n *Node) Superseded() bool { return n.superseded }

// IsWaiting reports whether a timer of the node is still relevant.
func (n *Node) IsWaiting() bool {
	return n.Row.State == contracts.NodeAwaitingApproval || n.Row.State == contracts.NodeAwaitingInput || n.Row.State == contracts.NodeQueued && !n.woken
}

// newState returns an empty run.
func newState(run Run, size int) *State {
	return &State{Run: run, graph: graph{
		nodes: make([]*Node, 0, size), byID: make(map[string]*Node, size),
		newest: map[string]*Node{}, count: map[contracts.NodeState]int{}, holds: holdsOf(metrics.Effective(run.Plan.Flags)),
	}}
}

// Begin returns the initial state of a run. Duplicate ids, missing dependencies and cycles are
// invalid.
func Begin(run Run) (*State, error) {
	s := newState(run, len(run.Plan.Nodes))
	if err := s.graph.addPlanned(run.Plan.Nodes, nil); err != nil {
		return nil, err
	}
	if err := s.graph.checkReach(); err != nil {
		return nil, err
	}
	return s, nil
}

// Read returns the state of a stored run.
func Read(snap Snapshot) (*State, error) {
	s := newState(snap.Run, len(snap.Nodes))
	rows := make(map[string]*Row, len(snap.Nodes))
	var appended []*Row
	for i := range snap.Nodes {
		row := &snap.Nodes[i]
		rows[row.NodeID] = row
		if row.Spec != nil {
			appended = append(appended, row)
		}
	}
	if err := s.graph.addPlanned(snap.Run.Plan.Nodes, rows); err != nil {
		return nil, err
	}
	for _, row := range inPlace(appended) {
		if err := s.graph.addStored(row); err != nil {
			return nil, err
		}
	}
	for _, n := range s.graph.nodes {
		delete(rows, n.ID())
	}
	for id := range rows {
		return nil, fmt.Errorf("node %s is stored, and is not in the plan", id)
	}
	s.attach(snap.Gates, snap.Intents)
	return s, nil
}

// attach sets the gates and the announced writes of the nodes.
func (s *State) attach(gates []contracts.Interrupt, intents []Intent) {
	for i := range gates {
		if n, ok := s.graph.byID[gates[i].NodeID]; ok && n.Row.GateID == gates[i].InterruptID {
			n.Gate = &gates[i]
		}
	}
	for i := range intents {
		in := &intents[i]
		if n, ok := s.graph.byID[in.NodeID]; ok && in.N == n.Row.Writes && !in.Consumed {
			n.Intent = in
		}
	}
}

// inPlace sorts appended rows in the order in which they were appended. Rows of Format 1 have no
// place; the copies of a list have numbers.
func inPlace(rows []*Row) []*Row {
	slices.SortStableFunc(rows, func(a, b *Row) int {
		if a.Place != b.Place || a.Place > 0 {
			return a.Place - b.Place
		}
		if a.Spec.ForNode != b.Spec.ForNode {
			return strings.Compare(a.Spec.ForNode, b.Spec.ForNode)
		}
		return copyNumber(a.NodeID) - copyNumber(b.NodeID)
	})
	return rows
}

// copyNumber returns the i of n3[i].
func copyNumber(id string) int {
	i, err := strconv.Atoi(strings.TrimSuffix(id[strings.LastIndexByte(id, '[')+1:], "]"))
	if err != nil {
		return 0
	}
	return i
}

// Node returns the node with an id, nil if there is none.
func (s *State) Node(id string) *Node { return s.graph.byID[id] }

// LatestInstance returns the current instance of a step, nil if there is no such step.
func (s *State) LatestInstance(step string) *Node { return s.graph.instance(step) }

// Nodes returns all nodes in plan order. The caller must not change the list.
func (s *State) Nodes() []*Node { return s.graph.nodes }

// Len returns how many nodes the run has.
func (s *State) Len() int { return len(s.graph.nodes) }

// Cancelling reports whether a cancel of the run was requested.
func (s *State) Cancelling() bool { return s.Run.CancelRequestedAt != nil }

// Ended reports whether every node has ended.
func (s *State) Ended() bool { return s.graph.open == 0 }

// HasReady reports whether a node can be started.
func (s *State) HasReady() bool { return s.graph.hasReady() }

// Next removes and returns the first node in plan order that is to be started or tried again, nil
// if there is none.
func (s *State) Next() *Node { return s.graph.next() }

// Wake marks a queued node as ready for another try, without changing its row. It reports whether
// it did.
func (s *State) Wake(n *Node) bool {
	if n.State() != contracts.NodeQueued || n.woken {
		return false
	}
	s.graph.wake(n)
	return true
}

// Sleep undoes Wake: the time of the node has not come.
func (s *State) Sleep(n *Node) { s.graph.sleep(n) }

// Members returns the calls that a join merges, in plan order.
func (s *State) Members(join *Node) []*Node { return s.graph.members(join) }

// RunState derives the state of the run from the states of its nodes.
func (s *State) RunState() contracts.RunState { return s.graph.runState(s.Cancelling()) }

// Used returns how much of one of the run's own budgets the nodes have spent.
func (s *State) Used(budget string) float64 {
	sum := 0.0
	for _, n := range s.graph.nodes {
		sum += n.Row.Spent[budget]
	}
	return sum
}

// Calls returns how many exchanges were sent, and how many of them were retries. It reads all
// nodes, so only runs with a budget call it.
func (s *State) Calls() (calls, retries int) {
	for _, n := range s.graph.nodes {
		calls += n.Row.Attempts
		retries += max(n.Row.Attempts-1, 0)
	}
	return calls, retries
}

// Tokens returns the tokens that models used for the nodes of the run: the sum over their rows,
// including superseded instances.
func (s *State) Tokens() contracts.Tokens {
	var sum contracts.Tokens
	for _, n := range s.graph.nodes {
		sum = sum.Add(contracts.SumTokens(n.Row.Thoughts))
	}
	return sum
}
