package flow

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Diff lists the changes between two graphs, short enough for a person's review and for a prompt.
type Diff struct {
	NodesAdded   []NodeRef     `json:"nodes_added,omitempty"`
	NodesRemoved []NodeRef     `json:"nodes_removed,omitempty"`
	NodesRenamed []Renaming    `json:"nodes_renamed,omitempty"`
	NodesMoved   []string      `json:"nodes_moved,omitempty"`
	Params       []ParamChange `json:"params_changed,omitempty"`
	Credentials  []string      `json:"credentials_changed,omitempty"`
	EdgesAdded   []string      `json:"edges_added,omitempty"`
	EdgesRemoved []string      `json:"edges_removed,omitempty"`
	// Other lists nodes and edges with any other change, and "the canvas" for changes outside of
	// nodes and edges.
	Other []string `json:"other_changes,omitempty"`
}

// NodeRef identifies a node.
type NodeRef struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Label string `json:"label"`
}

// Renaming is a changed label of a node.
type Renaming struct {
	ID     string `json:"id"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// ParamChange is a changed parameter value. Long values are shortened and secrets are hidden.
type ParamChange struct {
	NodeID string `json:"node_id"`
	Param  string `json:"param"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Compare returns the changes from before to after. Nodes and edges are matched by id, and several
// nodes with one id by their order.
func Compare(before, after *Graph, defs Definitions) Diff {
	d := comparison{defs: defs}
	old, kept := before.byID(), after.byID()
	turns := map[string]int{}
	for i := range after.Nodes() {
		now := &after.Nodes()[i]
		was := nth(old[now.id], turns[now.id])
		turns[now.id]++
		switch {
		case was == nil:
			d.NodesAdded = append(d.NodesAdded, refTo(now))
		case !bytes.Equal(was.raw, now.raw):
			d.compareNode(was, now)
		}
	}
	clear(turns)
	for i := range before.Nodes() {
		was := &before.Nodes()[i]
		if nth(kept[was.id], turns[was.id]) == nil {
			d.NodesRemoved = append(d.NodesRemoved, refTo(was))
		}
		turns[was.id]++
	}
	d.EdgesAdded = edgesNotIn(after, before)
	d.EdgesRemoved = edgesNotIn(before, after)
	d.compareRest(before, after)
	return d.Diff
}

// comparison is a diff under construction.
type comparison struct {
	Diff
	defs Definitions
}

// byID returns the nodes of each id.
func (g *Graph) byID() map[string][]*Node {
	out := make(map[string][]*Node, len(g.Nodes()))
	for i := range g.Nodes() {
		n := &g.Nodes()[i]
		out[n.id] = append(out[n.id], n)
	}
	return out
}

func nth(nodes []*Node, i int) *Node {
	if i < len(nodes) {
		return nodes[i]
	}
	return nil
}

// compareRest adds the remaining changes: other members of edges, and everything outside of the two
// lists.
func (d *comparison) compareRest(before, after *Graph) {
	if len(d.EdgesAdded)+len(d.EdgesRemoved) == 0 {
		was, now := apart(before, after), apart(after, before)
		for i := range min(len(was), len(now)) {
			if !bytes.Equal(was[i].raw, now[i].raw) {
				d.Other = append(d.Other, "edge "+now[i].String())
			}
		}
	}
	if !bytes.Equal(before.frame(), after.frame()) {
		d.Other = append(d.Other, "the canvas")
	}
}

// frame returns the bytes outside of the lists of nodes and edges.
func (g *Graph) frame() []byte {
	first, second := g.nodes.at, g.edges.at
	if first.from > second.from {
		first, second = second, first
	}
	return slices.Concat(g.raw[:first.from], g.raw[first.to:second.from], g.raw[second.to:])
}

func refTo(n *Node) NodeRef { return NodeRef{ID: n.id, Name: n.Name(), Label: n.Label()} }

func (d *comparison) compareNode(was, now *Node) {
	other := false
	for _, key := range changed(was.raw, now.raw) {
		switch key {
		case "position", "positionAbsolute":
			if !slices.Contains(d.NodesMoved, now.id) {
				d.NodesMoved = append(d.NodesMoved, now.id)
			}
		case "data":
			other = d.compareData(was, now, changed(was.part(partData), now.part(partData))) || other
		default:
			other = true
		}
	}
	if other {
		d.Other = append(d.Other, now.id)
	}
}

// compareData reports whether anything changed that the diff has no field for. Display marks of
// parameters are ignored, because they follow the values.
func (d *comparison) compareData(was, now *Node, keys []string) (other bool) {
	for _, key := range keys {
		switch key {
		case "label":
			d.NodesRenamed = append(d.NodesRenamed, Renaming{ID: now.id, Before: clip(was.Label()), After: clip(now.Label())})
		case "credential":
			d.Credentials = append(d.Credentials, now.id)
		case "inputs":
			d.compareInputs(was, now)
		case "inputParams":
			other = other || !slices.Contains(keys, "inputs")
		default:
			other = true
		}
	}
	return other
}

// changed returns the keys whose values differ in their bytes.
func changed(before, after []byte) []string {
	var keys []string
	was, now := over(before), over(after)
	for {
		more, also := was.next(), now.next()
		if !more && !also {
			return keys
		}
		if !more || !also || !bytes.Equal(was.key, now.key) {
			return changedAnyhow(before, after) // the keys are in a different order
		}
		if !bytes.Equal(was.value(), now.value()) {
			keys = append(keys, unquote(now.key))
		}
	}
}

func changedAnyhow(before, after []byte) []string {
	old := map[string][]byte{}
	for _, m := range members(before) {
		old[m.key] = before[m.from:m.to]
	}
	var keys []string
	for _, m := range members(after) {
		value, known := old[m.key]
		if delete(old, m.key); !known || !bytes.Equal(value, after[m.from:m.to]) {
			keys = append(keys, m.key)
		}
	}
	return append(keys, slices.Sorted(maps.Keys(old))...)
}

func (d *comparison) compareInputs(was, now *Node) {
	before := was.part(partInputs)
	after := now.part(partInputs)
	anchors := now.anchors()
	old, fresh := maskerOf(*was, d.defs), maskerOf(*now, d.defs)
	for _, key := range changed(before, after) {
		a, _ := get(before, key)
		b, _ := get(after, key)
		if _, wired := byName(anchors, key); wired {
			continue // what a connection wrote appears as an edge
		}
		d.Params = append(d.Params, ParamChange{
			NodeID: now.id, Param: key, Before: clip(old.show(key, a)), After: clip(fresh.show(key, b)),
		})
	}
}

// shown returns a value for people: text without quotes.
func shown(raw []byte) string {
	if firstByte(raw) == '"' {
		return unquote(raw)
	}
	return string(raw)
}

func edgesNotIn(g, other *Graph) []string {
	mine, theirs := apart(g, other), apart(other, g)
	known := make(map[string]int, len(theirs))
	for _, e := range theirs {
		known[e.String()]++
	}
	var out []string
	for _, e := range mine {
		text := e.String()
		if known[text]--; known[text] < 0 {
			out = append(out, text)
		}
	}
	return out
}

// apart returns the edges of a graph that do not share their bytes with the other graph.
func apart(g, other *Graph) []Edge {
	same := make(map[*byte]bool, len(other.Edges()))
	for _, e := range other.Edges() {
		same[&e.raw[0]] = true
	}
	return slices.DeleteFunc(slices.Clone(g.Edges()), func(e Edge) bool { return same[&e.raw[0]] })
}

// String formats an edge as nodes and anchors.
func (e Edge) String() string {
	from, to := e.Source, e.Target
	output, input := e.anchors()
	if output != e.SourceHandle {
		from += "." + output
	}
	if input != e.TargetHandle {
		to += "." + input
	}
	return from + " -> " + to
}

// Empty reports whether nothing changed.
func (d Diff) Empty() bool {
	return len(d.NodesAdded)+len(d.NodesRemoved)+len(d.NodesRenamed)+len(d.NodesMoved)+
		len(d.Params)+len(d.Credentials)+len(d.EdgesAdded)+len(d.EdgesRemoved)+len(d.Other) == 0
}

// String formats the diff, one change per line.
func (d Diff) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, n := range d.NodesAdded {
		line("+ node %s (%s, %q)", n.ID, n.Name, n.Label)
	}
	for _, n := range d.NodesRemoved {
		line("- node %s (%s, %q)", n.ID, n.Name, n.Label)
	}
	for _, r := range d.NodesRenamed {
		line("~ label of %s: %q -> %q", r.ID, r.Before, r.After)
	}
	for _, p := range d.Params {
		line("~ %s.%s: %q -> %q", p.NodeID, p.Param, p.Before, p.After)
	}
	for _, id := range d.Credentials {
		line("~ credential of %s", id)
	}
	for _, e := range d.EdgesAdded {
		line("+ edge %s", e)
	}
	for _, e := range d.EdgesRemoved {
		line("- edge %s", e)
	}
	for _, id := range d.NodesMoved {
		line("~ place of %s", id)
	}
	for _, id := range d.Other {
		line("~ other data of %s", id)
	}
	if b.Len() == 0 {
		return "no change\n"
	}
	return b.String()
}
