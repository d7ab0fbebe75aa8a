package flow

import (
	"bytes"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Definitions are the kinds of nodes that a server knows. The compiler and the
// validator ask it, so that they work with a shipped snapshot as well as with
// definitions that were just repaired.
type Definitions interface {
	Node(name string) (*knowledge.Definition, bool)
	Names() []string
}

var _ Definitions = (*knowledge.Snapshot)(nil)

// Graph is decompiled flowData. It is not changed once made, so it may be
// shared; it keeps the bytes that it was read from.
type Graph struct {
	raw   []byte
	nodes list[Node]
	edges list[Edge]
}

// Node is one node of a graph. Its zero value stands for none.
type Node struct {
	raw []byte
	id  string
	// No op changes these.
	name, category, parent string
	box                    box
}

// Edge is one connection of a graph.
type Edge struct {
	raw          []byte
	ID           string
	Source       string
	SourceHandle string
	Target       string
	TargetHandle string
}

// list is an array of flowData with the bytes around its elements.
type list[T any] struct {
	at    span
	lead  []byte
	tail  []byte
	items []T
	// gaps[i] stands before items[i], from the end of the one before.
	gaps [][]byte
}

// emptyFlow is what Flowise's canvas saves when nothing was drawn yet.
const emptyFlow = `{"nodes":[],"edges":[],"viewport":{"x":0,"y":0,"zoom":1}}`

// Empty is a graph without nodes, to build a new flow on.
func Empty() *Graph {
	g, err := Decompile([]byte(emptyFlow))
	if err != nil {
		return &Graph{}
	}
	return g
}

// Decompile reads flowData. It asks only for JSON with lists of nodes and
// edges; what else may be wrong is for Validate. The graph keeps flowData,
// which must not be changed afterwards.
func Decompile(flowData []byte) (*Graph, error) {
	if err := checkJSON(flowData); err != nil {
		return nil, contracts.Invalid("the flowData is not valid", contracts.Fault{Message: err.Error()})
	}
	return read(flowData)
}

// read is Decompile for what is known to be JSON.
func read(flowData []byte) (*Graph, error) {
	g := &Graph{raw: flowData}
	nodes, edges, faults := topLevel(flowData)
	if len(faults) > 0 {
		return nil, contracts.Invalid("the flowData is not valid", faults...)
	}
	g.nodes = readList(flowData, nodes, readNode)
	g.edges = readList(flowData, edges, readEdge)
	return g, nil
}

// topLevel finds the two lists.
func topLevel(raw []byte) (nodes, edges span, faults []contracts.Fault) {
	if firstByte(raw) != '{' {
		return nodes, edges, []contracts.Fault{{Message: "must be an object with the lists nodes and edges"}}
	}
	all := members(raw)
	find := func(key string) span {
		for _, m := range slices.Backward(all) {
			if m.key != key {
				continue
			}
			if firstByte(raw[m.from:m.to]) != '[' {
				faults = append(faults, contracts.Fault{Pointer: "/" + key, Message: "must be a list"})
			}
			return span{m.from, m.to}
		}
		faults = append(faults, contracts.Fault{Pointer: "/" + key, Message: "is missing; it must be a list, which may be empty"})
		return span{}
	}
	nodes = find("nodes")
	edges = find("edges")
	return nodes, edges, faults
}

func firstByte(raw []byte) byte {
	s := scanner{src: raw}
	s.space()
	return s.peek()
}

func readList[T any](raw []byte, at span, read func([]byte) T) list[T] {
	array := raw[at.from:at.to]
	l := list[T]{at: at, tail: array[1:]}
	before := 1
	for i, s := range spans(array) {
		gap := array[before:s.from]
		if i == 0 {
			l.lead = gap
		}
		l.items = append(l.items, read(array[s.from:s.to]))
		l.gaps = append(l.gaps, gap)
		before = s.to
		l.tail = array[before:]
	}
	return l
}

func readNode(raw []byte) Node {
	n := Node{raw: raw}
	for _, m := range members(raw) {
		value := raw[m.from:m.to]
		switch m.key {
		case "id":
			n.id = unquoteText(value)
		case "parentNode":
			n.parent = unquoteText(value)
		case "position":
			n.box.at = Point{X: number(value, "x"), Y: number(value, "y")}
		case "width":
			n.box.width = number(value)
		case "height":
			n.box.height = number(value)
		case "data":
			n.name, n.category = textAt(value, "name"), textAt(value, "category")
		}
	}
	return n
}

func unquoteText(value []byte) string {
	if firstByte(value) != '"' {
		return ""
	}
	return unquote(value)
}

func readEdge(raw []byte) Edge {
	e := Edge{raw: raw}
	for _, m := range members(raw) {
		value := raw[m.from:m.to]
		switch m.key {
		case "id":
			e.ID = unquote(value)
		case "source":
			e.Source = unquote(value)
		case "sourceHandle":
			e.SourceHandle = unquote(value)
		case "target":
			e.Target = unquote(value)
		case "targetHandle":
			e.TargetHandle = unquote(value)
		}
	}
	return e
}

// textAt gives the string at a path, or "" where there is none.
func textAt(raw []byte, path ...string) string {
	value, _ := get(raw, path...)
	return unquoteText(value)
}

// FlowData gives the bytes that the graph stands for. They must not be
// changed.
func (g *Graph) FlowData() []byte { return g.raw }

// SHA256 is the hash of FlowData.
func (g *Graph) SHA256() string { return contracts.HashBytes(g.raw) }

// Nodes lists the nodes in their order. The list must not be changed.
func (g *Graph) Nodes() []Node { return g.nodes.items }

// Edges lists the edges in their order. The list must not be changed.
func (g *Graph) Edges() []Edge { return g.edges.items }

// Node gives the first node of an id.
func (g *Graph) Node(id string) (Node, bool) {
	for _, n := range g.nodes.items {
		if n.id == id {
			return n, true
		}
	}
	return Node{}, false
}

// with gives a graph with other nodes and edges; what is the same keeps its
// bytes and those between.
func (g *Graph) with(nodes []Node, edges []Edge) *Graph {
	out := &Graph{nodes: rearrange(g.nodes, nodes, rawNode), edges: rearrange(g.edges, edges, rawEdge)}
	nodesText, edgesText := out.nodes.render(rawNode), out.edges.render(rawEdge)
	first, second := &out.nodes.at, &out.edges.at
	firstText, secondText := nodesText, edgesText
	if first.from > second.from {
		first, second, firstText, secondText = second, first, edgesText, nodesText
	}
	old1, old2 := *first, *second
	*first = span{old1.from, old1.from + len(firstText)}
	shift := first.to - old1.to
	*second = span{old2.from + shift, old2.from + shift + len(secondText)}
	out.raw = slices.Concat(g.raw[:old1.from], firstText, g.raw[old1.to:old2.from], secondText, g.raw[old2.to:])
	return out
}

func rawNode(n Node) []byte { return n.raw }
func rawEdge(e Edge) []byte { return e.raw }

// rearrange gives a list with other items, each with what stands before it. An
// item is recognised by the place of its bytes, so it keeps the gap it had.
func rearrange[T any](old list[T], items []T, raw func(T) []byte) list[T] {
	known := make(map[*byte][]byte, len(old.items))
	for i, item := range old.items {
		if b := raw(item); len(b) > 0 && i > 0 {
			known[&b[0]] = old.gaps[i]
		}
	}
	out := list[T]{at: old.at, lead: old.lead, tail: old.tail, items: items, gaps: make([][]byte, len(items))}
	usual := append([]byte(","), old.lead...)
	for i, item := range items {
		gap, ok := known[&raw(item)[0]]
		switch {
		case i == 0:
			gap = old.lead
		case !ok:
			gap = usual
		}
		out.gaps[i] = gap
	}
	return out
}

func (l list[T]) render(raw func(T) []byte) []byte {
	var out bytes.Buffer
	out.WriteByte('[')
	for i, item := range l.items {
		out.Write(l.gaps[i])
		out.Write(raw(item))
	}
	out.Write(l.tail)
	return out.Bytes()
}
