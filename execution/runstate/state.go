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
// Invariant: the state of a node stands in its row alone, and everything that
// the graph counts is what the rows say. Only Apply, and Read while it builds,
// change a State; one goroutine at a time may use it.
type State struct {
	// Run is the run's row as it was read, with the wish to cancel as it came in.
	Run Run

	graph graph
}

// Node is a vertex of the graph with its row.
type Node struct {
	Spec contracts.Node
	Row  *Row
	// Gate is the interrupt of the row's GateID, Intent the write that is
	// announced and not settled.
	Gate   *contracts.Interrupt
	Intent *Intent
	// Private names the parameters whose values are personal, as they are
	// declared now; events and reasons hide them.
	Private []string

	index int
	// order is where the node stands in the plan: that of its step, for one that was
	// appended to a run whose steps take turns, else its index.
	order int
	// unmet counts what the node still waits for, by need or by order.
	unmet      int
	dependents []*Node
	// members are the copies of a repeated node, in the order of the items.
	members []*Node
	// superseded means that a later instance of the same step counts instead.
	superseded bool
	// touched means that the row is to be written.
	touched bool
	// woken means that the node is to be started, or tried again: it stands among
	// the ready ones.
	woken bool
}

// ID is the node's id.
func (n *Node) ID() string { return n.Row.NodeID }

// State is where the node stands.
func (n *Node) State() contracts.NodeState { return n.Row.State }

// Ended reports whether the node has ended.
func (n *Node) Ended() bool { return n.Row.State.Terminal() }

// Next is a copy of the row to be changed and applied.
func (n *Node) Next() *Row {
	row := *n.Row
	return &row
}

// Writes reports whether the node was planned to change something.
func (n *Node) Writes() bool {
	return n.Spec.Policy != nil && n.Spec.Policy.SideEffectClass.Writes()
}

// IsAnswer reports whether the node words what the others found. It counts for nothing in
// what the run comes to.
func (n *Node) IsAnswer() bool { return n.Spec.Kind == contracts.KindAnswer }

// IsJoin reports whether the node runs whatever became of what it waits for.
func (n *Node) IsJoin() bool { return n.Spec.Kind == contracts.KindJoin || n.Row.Expanded }

// Dependents are the nodes that wait for this one, by need or by order. The list must
// not be changed.
func (n *Node) Dependents() []*Node { return n.dependents }

// Superseded reports whether a later instance of the step counts instead.
func (n *Node) Superseded() bool { return n.superseded }

// IsWaiting reports whether a timer of the node still matters.
func (n *Node) IsWaiting() bool {
	return n.Row.State == contracts.NodeAwaitingApproval || n.Row.State == contracts.NodeAwaitingInput || n.Row.State == contracts.NodeQueued && !n.woken
}

// newState is an empty run.
func newState(run Run, size int) *State {
	return &State{Run: run, graph: graph{
		nodes: make([]*Node, 0, size), byID: make(map[string]*Node, size),
		newest: map[string]*Node{}, count: map[contracts.NodeState]int{}, holds: holdsOf(metrics.Effective(run.Plan.Flags)),
	}}
}

// Begin is the state of a run that was just made of a plan. Ids used twice,
// dependencies that do not exist and circles are invalid.
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

// Read is the state of a run as it is stored, before anybody goes on with it.
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

// attach gives the nodes their gates and the writes that are under way.
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

// inPlace sorts appended rows as they were appended. Rows of Format 1 do not say
// where they stand; the copies of a list were numbered.
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

// copyNumber is the i of n3[i].
func copyNumber(id string) int {
	i, err := strconv.Atoi(strings.TrimSuffix(id[strings.LastIndexByte(id, '[')+1:], "]"))
	if err != nil {
		return 0
	}
	return i
}

// Node finds a node by its id, nil if there is none.
func (s *State) Node(id string) *Node { return s.graph.byID[id] }

// LatestInstance is the instance of a step that counts, nil if there is no such step.
func (s *State) LatestInstance(step string) *Node { return s.graph.instance(step) }

// Nodes are all nodes in plan order. The list must not be changed.
func (s *State) Nodes() []*Node { return s.graph.nodes }

// Len is how many nodes the run has.
func (s *State) Len() int { return len(s.graph.nodes) }

// Cancelling reports whether somebody wants the run to end.
func (s *State) Cancelling() bool { return s.Run.CancelRequestedAt != nil }

// Ended reports whether every node has ended.
func (s *State) Ended() bool { return s.graph.open == 0 }

// HasReady reports whether a node is to be started.
func (s *State) HasReady() bool { return s.graph.hasReady() }

// Next takes the first node in plan order that is to be started or tried again,
// nil if there is none.
func (s *State) Next() *Node { return s.graph.next() }

// Wake lets a node be tried again that is queued. Its row does not change by
// that.
func (s *State) Wake(n *Node) bool {
	if n.State() != contracts.NodeQueued || n.woken {
		return false
	}
	s.graph.wake(n)
	return true
}

// Sleep takes back that a node is to be tried again: its time has not come.
func (s *State) Sleep(n *Node) { s.graph.sleep(n) }

// Members are the calls that a join brings together, in plan order.
func (s *State) Members(join *Node) []*Node { return s.graph.members(join) }

// RunState is the state of the run as a function of its nodes' states.
func (s *State) RunState() contracts.RunState { return s.graph.runState(s.Cancelling()) }

// Used adds up what the nodes have spent of a budget of the run's own.
func (s *State) Used(budget string) float64 {
	sum := 0.0
	for _, n := range s.graph.nodes {
		sum += n.Row.Spent[budget]
	}
	return sum
}

// Calls adds up the exchanges that were sent, and how many of them were
// repeats. It looks at all nodes, which only runs with a budget pay for.
func (s *State) Calls() (calls, retries int) {
	for _, n := range s.graph.nodes {
		calls += n.Row.Attempts
		retries += max(n.Row.Attempts-1, 0)
	}
	return calls, retries
}

// Tokens is what models used for the nodes of the run: the sum over their rows,
// those of superseded instances included.
func (s *State) Tokens() contracts.Tokens {
	var sum contracts.Tokens
	for _, n := range s.graph.nodes {
		sum = sum.Add(contracts.SumTokens(n.Row.Thoughts))
	}
	return sum
}
