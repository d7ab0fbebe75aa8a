package flow

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Complete fills in what is missing in a flow that was not saved by the canvas: the node members
// that the server and the canvas read, from the current definition of the kind, and the handles of
// edges that only name two nodes. Existing values stay, and a complete flow keeps its bytes. Edges
// that fit no anchor are removed and returned as faults. An empty kind is derived from the nodes.
func Complete(g *Graph, defs Definitions, kind Kind) (*Graph, Kind, []contracts.Fault) {
	if kind == "" {
		kind = kindBy(g, defs)
	}
	d := newDraft(g, defs, kind)
	for _, n := range d.nodes {
		data, has := get(n.raw, "data")
		def, known := defs.Node(n.name)
		if has && known && firstByte(data) == '{' && n.id != "" && !isNote(n.name) {
			d.complete(n, def)
		}
	}
	faults := d.completeEdges()
	d.layOut()
	return d.result(g).Graph, kind, faults
}

// kindBy is like KindOf for nodes that may lack their category.
func kindBy(g *Graph, defs Definitions) Kind {
	kind := KindOf(g)
	for _, n := range g.Nodes() {
		def, known := defs.Node(n.name)
		switch {
		case !known || kind == Agentflow:
		case def.Category == categoryAgentflow:
			return Agentflow
		case def.Category == categoryMultiagent || def.Category == categorySequential:
			kind = Multiagent
		}
	}
	return kind
}

func (d *draft) complete(n *draftNode, def *knowledge.Definition) {
	params, anchors, inputs := buildInputs(def, n.id)
	ends, outputs := buildOutputs(def, n.id, d.kind == Agentflow)
	for _, part := range []struct {
		key   string
		value []byte
	}{
		{"id", encode(n.id)},
		{"label", encode(def.Label)},
		{"version", encode(def.Version)},
		{"type", encode(def.Type)},
		{"baseClasses", encode(orEmpty(def.BaseClasses))},
		{"category", encode(def.Category)},
		{"inputParams", params},
		{"inputAnchors", anchors},
		{"inputs", inputs},
		{"outputAnchors", ends},
		{"outputs", outputs},
	} {
		now, has := get(n.raw, "data", part.key)
		if !has || typeOf(now) != typeOf(part.value) || isEmptyList(now) && !isEmptyList(part.value) {
			n.set(part.value, "data", part.key)
		}
	}
	n.category = def.Category
	for _, f := range n.params() {
		p := f.decode()
		read := d.kind != Agentflow && !falsy(p.Default) || p.Name == "agentTools" // the server reads these unconditionally
		if _, has := n.Input(p.Name); !has && read {
			n.set(defaultOf(&p), "data", "inputs", p.Name)
		}
	}
	d.completePlace(n)
}

// typeOf returns the first byte of a JSON value as its type, the same for all numbers.
func typeOf(value []byte) byte {
	if b := firstByte(value); b < '0' || b > '9' {
		return b
	}
	return '0'
}

func isEmptyList(value []byte) bool { return string(compact(value)) == "[]" }

// completePlace adds the members with which the canvas draws a node.
func (d *draft) completePlace(n *draftNode) {
	if _, has := get(n.raw, "position"); !has {
		n.set(encode(Point{}), "position")
		n.added = true
	}
	style := "customNode"
	if d.kind == Agentflow {
		style = "agentFlow"
	}
	if n.name == nodeIteration {
		style = "iteration"
	}
	if now := textAt(n.raw, "type"); !slices.Contains([]string{"customNode", "agentFlow", "iteration", "stickyNote"}, now) {
		n.set(encode(style), "type")
	}
}

// completeEdges connects edges without handles again.
func (d *draft) completeEdges() []contracts.Fault {
	var faults []contracts.Fault
	for _, e := range slices.Clone(d.edges) {
		if e.SourceHandle != "" && e.TargetHandle != "" || !d.has(e.Source) || !d.has(e.Target) {
			continue
		}
		d.edges = slices.DeleteFunc(d.edges, func(o Edge) bool { return &o.raw[0] == &e.raw[0] })
		link := &Connect{OpType: OpConnect, SourceNodeID: e.Source, TargetNodeID: e.Target}
		faults = append(faults, link.apply(d)...)
	}
	return faults
}
