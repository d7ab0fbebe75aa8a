package flow

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// ID returns the id by which edges and references refer to the node.
func (n Node) ID() string { return n.id }

// Name returns the kind of the node, for example chatOpenAI.
func (n Node) Name() string { return n.name }

// Label returns the displayed name.
func (n Node) Label() string { return textAt(n.raw, "data", "label") }

// Category returns the category of the node's kind.
func (n Node) Category() string { return n.category }

// Parent returns the id of the iteration that contains the node, or "".
func (n Node) Parent() string { return n.parent }

// Version returns the version of the definition from which the node was created, or 0.
func (n Node) Version() float64 {
	var v float64
	if raw, ok := get(n.raw, "data", "version"); !ok || json.Unmarshal(raw, &v) != nil {
		return 0
	}
	return v
}

// Credential returns the id of the credential of the node itself, or "".
func (n Node) Credential() string { return unquoteText(n.part(partCredential)) }

// Input returns one value of the node as JSON.
func (n Node) Input(name string) (json.RawMessage, bool) {
	return get(n.part(partInputs), name)
}

// output returns the name of the selected output of a node with several.
func (n Node) output() string { return textAt(n.part(partOutputs), "output") }

func (n Node) params() []field  { return fieldsOf(n.part(partInputParams)) }
func (n Node) anchors() []field { return fieldsOf(n.part(partInputAnchors)) }

// ends returns the output anchors; see outputs.
func (n Node) ends() []field { return fieldsOf(n.part(partOutputAnchors)) }

func fieldsOf(array []byte) []field {
	places := spans(array)
	out := make([]field, len(places))
	for i, at := range places {
		out[i] = array[at.from:at.to]
	}
	return out
}

// outputs returns the outputs for edges: the options of a node with a selectable output, else its
// anchors. choice reports that the node has one output at a time.
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

// field is the JSON description of one input or output of a node. Nodes carry their own
// descriptions, which may be older than the server's.
type field []byte

// text returns a member as text. Outputs of condition nodes are numbers.
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

// says reports whether a member equals a text.
func (f field) says(key, text string) bool {
	raw, ok := get(f, key)
	if ok && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1:len(raw)-1]) == text
	}
	return f.text(key) == text
}

func (f field) flag(key string) bool {
	raw, ok := get(f, key)
	return ok && string(raw) == "true"
}

func byName(fields []field, name string) (field, bool) {
	for _, f := range fields {
		if f.says("name", name) {
			return f, true
		}
	}
	return nil, false
}

func byID(fields []field, id string) (field, bool) {
	for _, f := range fields {
		if f.says("id", id) {
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

// reference returns how an input refers to a connected node.
func reference(id string) string { return "{{" + id + ".data.instance}}" }

// compatible reports whether two handles have a type in common. Like the canvas, it compares the
// parts after the last dash.
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
