package flow

import "strings"

// Excerpt describes one node for a prompt: its values and connections, without its schema or the
// rest of the flow.
type Excerpt struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Label  string `json:"label,omitempty"`
	Output string `json:"output,omitempty"`
	Parent string `json:"parent,omitempty"`
	// Credential means that a credential is bound.
	Credential bool `json:"credential,omitempty"`
	// Params are all non-empty values, as "name=value".
	Params []string `json:"params"`
	Edges  []string `json:"edges"`
}

// maxExcerptValue bounds the length of one value in an excerpt.
const maxExcerptValue = 400

// ExcerptOf describes one node of a graph, without secrets. It reports false if there is no such
// node.
func ExcerptOf(g *Graph, id string, defs Definitions) (Excerpt, bool) {
	n, ok := g.Node(id)
	if !ok {
		return Excerpt{}, false
	}
	out := Excerpt{
		ID: n.id, Name: n.Name(), Label: clip(n.Label()), Output: n.output(), Parent: n.Parent(), Credential: n.Credential() != "",
		Params: []string{}, Edges: []string{},
	}
	anchors, secrets := n.anchors(), maskerOf(n, defs)
	for c := over(n.part(partInputs)); c.next(); {
		name := unquote(c.key)
		if _, wired := byName(anchors, name); wired || falsy(c.value()) || string(c.value()) == "[]" || name == nestedCredential {
			continue
		}
		out.Params = append(out.Params, name+"="+clipTo(secrets.show(name, c.value()), maxExcerptValue))
	}
	for _, e := range g.Edges() {
		if e.Source == id || e.Target == id {
			out.Edges = append(out.Edges, e.String())
		}
	}
	return out, true
}

func clipTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Nearest returns a message that an id is not in the graph, with the closest one.
func (g *Graph) Nearest(id string) string {
	ids := make([]string, 0, len(g.Nodes()))
	for i := range g.Nodes() {
		ids = append(ids, g.Nodes()[i].id)
	}
	return unknown("node", id, ids)
}
