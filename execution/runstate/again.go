package runstate

import (
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// byVerifier is the cause of a round that the verifier requested.
const byVerifier = "(verifier)"

// ReadsRetried repeats reads whose results a verdict questions.
type ReadsRetried struct {
	Of    string
	Nodes []contracts.Node
}

func (e ReadsRetried) apply(s *State, at time.Time, c *Changes) {
	round := e.Nodes[0].Round
	s.expand(at, c, s.graph.byID[e.Of], Expansion{Nodes: e.Nodes, Cause: "verifier", Round: round})
}

// RetryReads returns new instances of the required reads that failed because of their domain, and
// of the nodes that depend on them. It returns none if one of these is a write, and none in a run
// that has done so before.
func RetryReads(s *State) ReadsRetried {
	var out ReadsRetried
	if s.Run.Format < Format2 {
		return out // that format has no rounds
	}
	var region []*Node
	for _, n := range s.graph.nodes {
		if n.IsReadRetry() {
			return ReadsRetried{}
		}
		if !mayReadAgain(n) {
			continue
		}
		if out.Of == "" {
			out.Of = n.ID()
		}
		region = restsOn(s, n, region)
	}
	if slices.ContainsFunc(region, func(n *Node) bool { return n.Writes() || n.Spec.Kind == contracts.KindUndo }) {
		return ReadsRetried{}
	}
	for _, n := range inOrder(s, region) {
		spec := n.Spec
		spec.ForNode, spec.Round = n.Step(), &contracts.Round{N: roundOf(n) + 1, By: byVerifier, With: map[string]any{}}
		spec.NodeID = instanceID(spec.ForNode, spec.Round.N)
		out.Nodes = append(out.Nodes, spec)
	}
	return out
}

// mayReadAgain reports whether a read failed only because its domain did not answer.
func mayReadAgain(n *Node) bool {
	if n.superseded || n.State() != contracts.NodeFailed || !n.Spec.Required || n.Spec.ContinueOnError || n.Writes() || n.Row.Error == nil {
		return false
	}
	copied := n.Spec.ForNode != "" && n.Spec.Round == nil && n.Spec.Item != nil
	e := n.Row.Error
	broken := e.Retryable || e.Effect == "" && n.Row.Attempts > 1 // else the domain refused it, or it exceeded its own limits
	return !copied && broken && (e.Type == contracts.ErrUpstream || e.Type == contracts.ErrTimeout)
}

// IsReadRetry reports whether this instance is a retry by the verifier. It is tried only once.
func (n *Node) IsReadRetry() bool { return n.Spec.Round != nil && n.Spec.Round.By == byVerifier }

// restsOn adds a node and all nodes that depend on it.
func restsOn(s *State, n *Node, to []*Node) []*Node {
	if slices.Contains(to, n) {
		return to
	}
	to = append(to, n)
	for _, d := range n.dependents {
		if !d.superseded && slices.ContainsFunc(d.Spec.DependsOn, func(dep string) bool { return s.graph.instance(dep) == n }) {
			to = restsOn(s, d, to)
		}
	}
	return to
}

// inOrder sorts nodes topologically.
func inOrder(s *State, region []*Node) []*Node {
	var out []*Node
	var place func(n *Node)
	place = func(n *Node) {
		if slices.Contains(out, n) || !slices.Contains(region, n) {
			return
		}
		for _, dep := range slices.Concat(n.Spec.DependsOn, n.Spec.RunAfter) {
			place(s.graph.instance(dep))
		}
		out = append(out, n)
	}
	for _, n := range region {
		place(n)
	}
	return out
}
