package flow

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Definitions are the node definitions of a server. They may be the built-in snapshot or refreshed
// ones.
type Definitions interface {
	Node(name string) (*knowledge.Definition, bool)
	Names() []string
}

var _ Definitions = (*knowledge.Snapshot)(nil)

// Graph is decoded flowData. It is immutable, so it may be shared between goroutines. It keeps the
// bytes from which it was read.
type Graph struct {
	raw   []byte
	nodes list[Node]
	edges list[Edge]
}

// Node is one node of a graph. The zero value means no node.
type Node struct {
	raw []byte
	id  string
	// These do not change.
	name, category, parent string
	box                    box
	parts                  parts
}

// parts are the positions of the frequently read members of a node's data. A span with end 0 means
// that the member is absent.
type parts [partCount]span

const (
	partData = iota
	partID
	partCredential
	partInputs
	partInputParams
	partInputAnchors
	partOutputAnchors
	partOutputs
	partCount
)

// partKeys are the keys of the parts.
var partKeys = [partCount]string{
	partID: "id", partCredential: "credential", partInputs: "inputs", partInputParams: "inputParams",
	partInputAnchors: "inputAnchors", partOutputAnchors: "outputAnchors", partOutputs: "outputs",
}

// part returns the bytes of a part, or nil.
func (n Node) part(which int) []byte {
	at := n.parts[which]
	if at.to == 0 {
		return nil
	}
	return n.raw[at.from:at.to:at.to]
}

// Edge is one edge of a graph.
type Edge struct {
	raw          []byte
	ID           string
	Source       string
	SourceHandle string
	Target       string
	TargetHandle string
}

// list is an array of flowData with the bytes between its elements.
type list[T any] struct {
	at    span
	lead  []byte
	tail  []byte
	items []T
	// gaps[i] are the bytes before items[i], from the end of the item before.
	gaps [][]byte
}

// emptyFlow is what the canvas saves for an empty drawing.
const emptyFlow = `{"nodes":[],"edges":[],"viewport":{"x":0,"y":0,"zoom":1}}`

// Empty returns a graph without nodes.
func Empty() *Graph {
	g, err := Decompile([]byte(emptyFlow))
	if err != nil {
		return &Graph{}
	}
	return g
}

// Decompile reads flowData. It only requires JSON with lists of nodes and edges; Validate finds
// other faults. The graph keeps flowData, which the caller must not change afterwards.
func Decompile(flowData []byte) (*Graph, error) {
	if err := checkJSON(flowData); err != nil {
		return nil, contracts.Invalid("the flowData is not valid", contracts.Fault{Message: err.Error()})
	}
	return read(flowData)
}

// read is Decompile for valid JSON.
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

// topLevel finds the lists of nodes and edges.
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
	for c := over(raw); c.next(); {
		switch {
		case c.is("id"):
			n.id = unquoteText(c.value())
		case c.is("parentNode"):
			n.parent = unquoteText(c.value())
		case c.is("position"):
			n.box.at = Point{X: number(c.value(), "x"), Y: number(c.value(), "y")}
		case c.is("width"):
			n.box.width = number(c.value())
		case c.is("height"):
			n.box.height = number(c.value())
		case c.is("data"):
			readData(&n, span{c.from, c.to})
		}
	}
	return n
}

// readData finds the parts in the data of a node.
func readData(n *Node, data span) {
	n.parts, n.name, n.category = parts{partData: data}, "", "" // if data occurs twice, the last one counts
	for c := over(n.raw[data.from:data.to]); c.next(); {
		switch {
		case c.is("name"):
			n.name = unquoteText(c.value())
		case c.is("category"):
			n.category = unquoteText(c.value())
		}
		for which, key := range partKeys {
			if key != "" && c.is(key) {
				n.parts[which] = span{data.from + c.from, data.from + c.to}
			}
		}
	}
}

func unquoteText(value []byte) string {
	if firstByte(value) != '"' {
		return ""
	}
	return unquote(value)
}

func readEdge(raw []byte) Edge {
	e := Edge{raw: raw}
	for c := over(raw); c.next(); {
		switch {
		case c.is("id"):
			e.ID = unquote(c.value())
		case c.is("source"):
			e.Source = unquote(c.value())
		case c.is("sourceHandle"):
			e.SourceHandle = unquote(c.value())
		case c.is("target"):
			e.Target = unquote(c.value())
		case c.is("targetHandle"):
			e.TargetHandle = unquote(c.value())
		}
	}
	return e
}

// textAt returns the string at a path, or "".
func textAt(raw []byte, path ...string) string {
	value, _ := get(raw, path...)
	return unquoteText(value)
}

// FlowData returns the bytes of the graph. The caller must not change them.
func (g *Graph) FlowData() []byte { return g.raw }

// SHA256 returns the hash of FlowData.
func (g *Graph) SHA256() string { return contracts.HashBytes(g.raw) }

// Nodes returns the nodes in order. The caller must not change the slice.
func (g *Graph) Nodes() []Node { return g.nodes.items }

// Edges returns the edges in order. The caller must not change the slice.
func (g *Graph) Edges() []Edge { return g.edges.items }

// Node returns the first node with an id.
func (g *Graph) Node(id string) (Node, bool) {
	for _, n := range g.nodes.items {
		if n.id == id {
			return n, true
		}
	}
	return Node{}, false
}

// with returns a graph with other nodes and edges. Unchanged items keep their bytes and the gaps
// between them.
func (g *Graph) with(nodes []Node, edges []Edge) *Graph {
	out := &Graph{nodes: rearrange(g.nodes, nodes, rawNode), edges: rearrange(g.edges, edges, rawEdge)}
	size := len(g.raw)
	for i := range nodes {
		size += len(nodes[i].raw) + len(out.nodes.gaps[i])
	}
	for i := range edges {
		size += len(edges[i].raw) + len(out.edges.gaps[i])
	}
	size -= out.nodes.at.to - out.nodes.at.from + out.edges.at.to - out.edges.at.from
	raw := make([]byte, 0, size+len(out.nodes.tail)+len(out.edges.tail)+2)
	if g.nodes.at.from < g.edges.at.from {
		raw = out.nodes.render(append(raw, g.raw[:g.nodes.at.from]...), rawNode)
		raw = out.edges.render(append(raw, g.raw[g.nodes.at.to:g.edges.at.from]...), rawEdge)
		out.raw = append(raw, g.raw[g.edges.at.to:]...)
	} else {
		raw = out.edges.render(append(raw, g.raw[:g.edges.at.from]...), rawEdge)
		raw = out.nodes.render(append(raw, g.raw[g.edges.at.to:g.nodes.at.from]...), rawNode)
		out.raw = append(raw, g.raw[g.nodes.at.to:]...)
	}
	return out
}

func rawNode(n Node) []byte { return n.raw }
func rawEdge(e Edge) []byte { return e.raw }

// rearrange returns a list with other items, each with the gap before it. Items are matched by the
// address of their bytes.
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

// render appends the list to out and updates its position.
func (l *list[T]) render(out []byte, raw func(T) []byte) []byte {
	l.at.from = len(out)
	out = append(out, '[')
	for i, item := range l.items {
		out = append(append(out, l.gaps[i]...), raw(item)...)
	}
	out = append(out, l.tail...)
	l.at.to = len(out)
	return out
}
