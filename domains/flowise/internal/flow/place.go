package flow

import (
	"encoding/json"
	"slices"

	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Place is a node, or a component selected by a parameter of a node, whose parameters can be set.
type Place struct {
	Node Node
	// Path is the parameter that selects the component, for example agentModel. It is empty for the
	// node itself.
	Path string
	Def  *knowledge.Definition

	config []byte
}

// Places returns the nodes of a graph with a known kind, and their components.
func Places(g *Graph, defs Definitions) []Place {
	var out []Place
	for _, n := range g.Nodes() {
		if def, known := defs.Node(n.name); known {
			out = append(out, Place{Node: n, Def: def, config: n.part(partInputs)})
		}
		for _, c := range chosen(n, defs) {
			if c.def != nil {
				out = append(out, Place{Node: n, Path: c.path, Def: c.def, config: c.config})
			}
		}
	}
	return out
}

// Value returns the value of a parameter as JSON.
func (p Place) Value(param string) (json.RawMessage, bool) { return get(p.config, param) }

// Text returns the value of a parameter as text, or "" if there is none.
func (p Place) Text(param string) string {
	raw, ok := p.Value(param)
	if !ok || string(raw) == "null" {
		return ""
	}
	return unquoteText(raw)
}

// Param returns a parameter of the place by name.
func (p Place) Param(name string) (knowledge.Param, bool) {
	all := p.Params()
	if i := slices.IndexFunc(all, func(in knowledge.Param) bool { return in.Name == name }); i >= 0 {
		return all[i], true
	}
	return knowledge.Param{}, false
}

// Params returns the parameters of the place: those that a node describes itself, or those of a
// component's definition.
func (p Place) Params() []knowledge.Param {
	if p.Path == "" {
		return decodedAll(p.Node.params())
	}
	return slices.DeleteFunc(slices.Clone(p.Def.Inputs), func(in knowledge.Param) bool { return in.IsAnchor() })
}

// Anchors returns the inputs for edges by name and type. A component has none.
func (p Place) Anchors() []knowledge.Param {
	if p.Path != "" {
		return nil
	}
	return decodedAll(p.Node.anchors())
}

func decodedAll(fields []field) []knowledge.Param {
	out := make([]knowledge.Param, len(fields))
	for i, f := range fields {
		out[i] = f.decode()
	}
	return out
}

// Set returns the op that sets a parameter.
func (p Place) Set(param string, value json.RawMessage) *SetParam {
	name := param
	if p.Path != "" {
		name = p.Path + "Config." + param
	}
	return &SetParam{OpType: OpSetParam, NodeID: p.Node.id, ParamName: name, Value: value}
}

// Ends reports whether the node has no outgoing edge, that is, gives the flow's answer.
func (g *Graph) Ends(id string) bool {
	return !slices.ContainsFunc(g.Edges(), func(e Edge) bool { return e.Source == id })
}

// Into returns the nodes that are connected to an anchor of a node, or to any anchor if it is "".
func (g *Graph) Into(id, anchor string) []string {
	var out []string
	for _, e := range g.Edges() {
		if _, to := e.anchors(); e.Target == id && (anchor == "" || to == anchor) {
			out = append(out, e.Source)
		}
	}
	return out
}

// Find returns the node of an id.
func (g *Graph) Find(id string) (Node, bool) {
	for _, n := range g.Nodes() {
		if n.id == id {
			return n, true
		}
	}
	return Node{}, false
}
