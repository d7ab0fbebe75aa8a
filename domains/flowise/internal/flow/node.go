package flow

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
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
func (n Node) Credential() string { return unquoteText(n.part(partCredential)) }

// Input returns one value of the node as JSON.
func (n Node) Input(name string) (json.RawMessage, bool) {
	return get(n.part(partInputs), name)
}

// output is the name of the selected output of a node that offers several.
func (n Node) output() string { return textAt(n.part(partOutputs), "output") }

func (n Node) params() []field  { return fieldsOf(n.part(partInputParams)) }
func (n Node) anchors() []field { return fieldsOf(n.part(partInputAnchors)) }

// ends are the output anchors as they stand; see outputs.
func (n Node) ends() []field { return fieldsOf(n.part(partOutputAnchors)) }

func fieldsOf(array []byte) []field {
	places := spans(array)
	out := make([]field, len(places))
	for i, at := range places {
		out[i] = array[at.from:at.to]
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

// text returns a member as text. Outputs of conditions are numbers.
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

// says reports whether a member is this text.
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

// reference is how an input names the node that is connected to it.
func reference(id string) string { return "{{" + id + ".data.instance}}" }

// compatible reports whether two handles have a type in common, as the canvas
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
