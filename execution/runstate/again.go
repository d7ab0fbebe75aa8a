package runstate

import (
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// byVerifier is who asked for a round that no step did.
const byVerifier = "(verifier)"

// ReadsRetried runs reads again whose results a verdict questions.
type ReadsRetried struct {
	Of    string
	Nodes []contracts.Node
}

func (e ReadsRetried) apply(s *State, at time.Time, c *Changes) {
	round := e.Nodes[0].Round
	s.expand(at, c, s.graph.byID[e.Of], Expansion{Nodes: e.Nodes, Cause: "verifier", Round: round})
}

// RetryReads are the required reads that failed because of their domain, and what
// rests on them, as new instances; none where a write rests on one, and none in a
// run that has done so before.
func RetryReads(s *State) ReadsRetried {
	var out ReadsRetried
	if s.Run.Format < Format2 {
		return out // it knew no rounds
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

// mayReadAgain tells of a read that failed as it would not have had its domain
// answered.
func mayReadAgain(n *Node) bool {
	if n.superseded || n.State() != contracts.NodeFailed || !n.Spec.Required || n.Spec.ContinueOnError || n.Writes() || n.Row.Error == nil {
		return false
	}
	copied := n.Spec.ForNode != "" && n.Spec.Round == nil && n.Spec.Item != nil
	e := n.Row.Error
	broken := e.Retryable || e.Effect == "" && n.Row.Attempts > 1 // else its domain, or its own bounds, said no
	return !copied && broken && (e.Type == contracts.ErrUpstream || e.Type == contracts.ErrTimeout)
}

// IsReadRetry reports whether the verifier asked for this instance: it is tried once.
func (n *Node) IsReadRetry() bool { return n.Spec.Round != nil && n.Spec.Round.By == byVerifier }

// restsOn adds a node and all that needs it.
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

// inOrder sorts nodes so that each stands behind those that it waits for.
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
