package flow

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// ID is what edges and references call the node.
func (n Node) ID() string { return n.id }

// Name is the kind of the node, such as chatOpenAI.
func (n Node) Name() string { return n.name }

// Label is what people see.
func (n Node) Label() string { return textAt(n.raw, "data", "label") }

// Category is the group of the node's kind.
func (n Node) Category() string { return n.category }

// Parent is the iteration that the node stands in, or "".
func (n Node) Parent() string { return n.parent }

// Version is the version of the definition that the node was made from, or 0.
func (n Node) Version() float64 {
	var v float64
	if raw, ok := get(n.raw, "data", "version"); !ok || json.Unmarshal(raw, &v) != nil {
		return 0
	}
	return v
}

// Credential is the id of the credential that the node itself uses, or "".
func (n Node) Credential() string { return unquoteText(n.parts.credential) }

// Input gives one value of the node as JSON.
func (n Node) Input(name string) (json.RawMessage, bool) {
	return get(n.parts.inputs, name)
}

// output is the name of the selected output of a node that offers several.
func (n Node) output() string { return textAt(n.parts.outputs, "output") }

func (n Node) params() []field  { return fieldsOf(n.parts.inputParams) }
func (n Node) anchors() []field { return fieldsOf(n.parts.inputAnchors) }

// ends are the output anchors as they stand; see outputs.
func (n Node) ends() []field { return fieldsOf(n.parts.outputAnchors) }

func fieldsOf(array []byte) []field {
	items := elements(array)
	out := make([]field, len(items))
	for i, item := range items {
		out[i] = item
	}
	return out
}

// outputs lists what connections can begin at: the options of a node that
// offers several outputs, else its anchors. choice says that the node gives
// one of them at a time.
func (n Node) outputs() (fields []field, choice bool) {
	anchors := n.ends()
	if len(anchors) == 0 || anchors[0].text("type") != "options" {
		return anchors, false
	}
	raw, _ := get(anchors[0], "options")
	fields = fieldsOf(raw)
	choice = true
	for _, f := range fields {
		choice = choice && !f.flag("isAnchor")
	}
	return fields, choice
}

// field is one input or output that a node describes, as JSON. Nodes carry
// their own descriptions, which may be older than the server's.
type field []byte

// text gives a member as text. Outputs of conditions are numbers.
func (f field) text(key string) string {
	raw, ok := get(f, key)
	if !ok {
		return ""
	}
	if firstByte(raw) == '"' {
		return unquote(raw)
	}
	return string(raw)
}

func (f field) flag(key string) bool {
	raw, ok := get(f, key)
	return ok && string(raw) == "true"
}

// decode gives an input with all it says; one that cannot be read is empty.
func (f field) decode() knowledge.Param {
	var p knowledge.Param
	if json.Unmarshal(f, &p) != nil {
		return knowledge.Param{Name: f.text("name"), Type: f.text("type"), Optional: true}
	}
	return p
}

func byName(fields []field, name string) (field, bool) {
	for _, f := range fields {
		if f.text("name") == name {
			return f, true
		}
	}
	return nil, false
}

func byID(fields []field, id string) (field, bool) {
	for _, f := range fields {
		if f.text("id") == id {
			return f, true
		}
	}
	return nil, false
}

func names(fields []field) []string {
	out := make([]string, 0, len(fields))
	for _, f := range fields {
		out = append(out, f.text("name"))
	}
	return out
}

// reference is how an input names the node that is connected to it.
func reference(id string) string { return "{{" + id + ".data.instance}}" }

// compatible tells whether two handles have a type in common, as the canvas
// decides it: by what stands behind the last dash of each.
func compatible(sourceHandle, targetHandle string) bool {
	targets := typesOf(targetHandle)
	return slices.ContainsFunc(typesOf(sourceHandle), func(t string) bool { return slices.Contains(targets, t) })
}

func typesOf(handle string) []string {
	types := strings.Split(handle[strings.LastIndexByte(handle, '-')+1:], "|")
	for i, t := range types {
		types[i] = strings.TrimSpace(t)
	}
	return types
}
