package flow

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// idPattern matches the ids that references, handles and the canvas can process: these split at
// dashes and dots.
var idPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,79}$`)

func (op *AddNode) apply(d *draft) []contracts.Fault {
	faults := op.add(d)
	if len(faults) > 0 && op.NodeID != "" && !d.has(op.NodeID) {
		d.failed[op.NodeID] = true
	}
	if len(faults) > 0 && op.NodeID == "" {
		d.failed[d.freeID(op.NodeName)] = true
	}
	return faults
}

func (op *AddNode) add(d *draft) []contracts.Fault {
	def, ok := d.defs.Node(op.NodeName)
	if !ok {
		return fault("/node_name", "%s", unknown("kind of node", op.NodeName, d.similar(op.NodeName)))
	}
	if problem := d.refuses(def); problem != "" {
		return fault("/node_name", "%s", problem)
	}
	id := op.NodeID
	switch {
	case id == "":
		id = d.freeID(def.Name)
	case !idPattern.MatchString(id):
		return fault("/node_id", "the id %q must be letters, digits and underscores and begin with a letter, such as %s", id, d.freeID(def.Name))
	case d.has(id):
		return fault("/node_id", "there is a node %s already; %s is free", id, d.freeID(def.Name))
	}
	if faults := op.checkParent(d, def); len(faults) > 0 {
		return faults
	}
	n := &draftNode{Node: readNode(op.build(d, def, id)), added: op.Position == nil}
	var faults []contracts.Fault
	for _, name := range op.order(def) {
		for _, f := range d.setParam(n, name, op.Params[name]) {
			faults = append(faults, contracts.Fault{Pointer: "/params" + pointerTo(name), Message: f.Message})
		}
	}
	if op.Output != "" {
		faults = append(faults, d.chooseOutput(n, op.Output, "/output")...)
	}
	if len(faults) > 0 {
		return faults
	}
	d.put(n)
	d.added = append(d.added, id)
	return nil
}

// order returns the names of the values. If two parameters share a name, the other values decide
// which one is meant, so these names come last.
func (op *AddNode) order(def *knowledge.Definition) []string {
	times := map[string]int{}
	for i := range def.Inputs {
		times[def.Inputs[i].Name]++
	}
	names := slices.Sorted(maps.Keys(op.Params))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(min(times[a], 2), min(times[b], 2)) })
	return names
}

func pointerTo(name string) string {
	return "/" + contracts.EscapeToken(name)
}

// similar returns the known kinds closest to a wrong name.
func (d *draft) similar(name string) []string {
	all := d.defs.Names()
	plain := plainName(name)
	var out []string
	for _, known := range all {
		candidate := plainName(known)
		if len(plain) > 2 && (strings.Contains(candidate, plain) || strings.Contains(plain, candidate)) {
			out = append(out, known)
		}
	}
	if near := nearest(name, all); near != "" && !slices.Contains(out, near) {
		out = append([]string{near}, out...)
	}
	if len(out) == 0 {
		return all
	}
	return out
}

// refuses returns why a flow of this kind cannot contain a node, or "".
func (d *draft) refuses(def *knowledge.Definition) string {
	agent := def.Category == categoryAgentflow
	switch {
	case agent && d.kind != Agentflow:
		return fmt.Sprintf("%s stands only in an AGENTFLOW, and this is a %s", def.Name, d.kind)
	case !agent && d.kind == Agentflow && !isNote(def.Name):
		return fmt.Sprintf("%s does not stand in an AGENTFLOW by itself; choose it in a parameter of an agent, LLM or tool node", def.Name)
	case def.Name == nodeStart && slices.ContainsFunc(d.nodes, func(n *draftNode) bool { return n.Name() == nodeStart }):
		return "an AGENTFLOW has one start node, and there is one already"
	}
	return ""
}

func (op *AddNode) checkParent(d *draft, def *knowledge.Definition) []contracts.Fault {
	if op.Parent == "" {
		return nil
	}
	parent, faults := d.node("/parent", op.Parent)
	switch {
	case parent == nil:
		return faults
	case parent.Name() != nodeIteration:
		return fault("/parent", "%s is no iteration; only an %s holds other nodes", op.Parent, nodeIteration)
	case def.Name == nodeStart || def.Name == nodeIteration || def.Name == nodeHuman:
		return fault("/parent", "%s cannot stand in an iteration", def.Name)
	}
	return nil
}

func (d *draft) freeID(name string) string {
	for i := 0; ; i++ {
		if id := name + "_" + strconv.Itoa(i); !d.has(id) {
			return id
		}
	}
}

// build encodes a node like the canvas does when a node is dropped on it.
func (op *AddNode) build(d *draft, def *knowledge.Definition, id string) []byte {
	size, style := Point{300, 100}, "customNode"
	switch {
	case isNote(def.Name):
		style = "stickyNote"
	case def.Name == nodeIteration:
		size, style = Point{300, 250}, "iteration"
	case d.kind == Agentflow:
		size, style = Point{175, 70}, "agentFlow"
	default:
		size.Y = heightOf(def)
	}
	at := Point{}
	if op.Position != nil {
		at = *op.Position
	}
	var b objectBuilder
	b.add("id", encode(id))
	b.add("position", encode(at))
	b.add("type", encode(style))
	if op.Parent != "" {
		b.add("parentNode", encode(op.Parent))
		b.add("extent", []byte(`"parent"`))
	}
	b.add("data", buildData(def, id, op.label(d, def, id), d.kind == Agentflow))
	b.add("width", encode(size.X))
	b.add("height", encode(size.Y))
	b.add("selected", []byte("false"))
	b.add("positionAbsolute", encode(at))
	b.add("dragging", []byte("false"))
	return b.bytes()
}

// label follows the canvas: AGENTFLOW nodes are numbered.
func (op *AddNode) label(d *draft, def *knowledge.Definition, id string) string {
	number, numbered := strings.CutPrefix(id, def.Name+"_")
	switch {
	case op.Label != "":
		return op.Label
	case d.kind == Agentflow && numbered && def.Name != nodeStart && !isNote(def.Name):
		return def.Label + " " + number
	default:
		return def.Label
	}
}

func buildData(def *knowledge.Definition, id, label string, agent bool) []byte {
	var b objectBuilder
	b.add("id", encode(id))
	b.add("label", encode(label))
	b.add("version", encode(def.Version))
	b.add("name", encode(def.Name))
	b.add("type", encode(def.Type))
	if def.Color != "" {
		b.add("color", encode(def.Color))
	}
	if def.HideInput {
		b.add("hideInput", []byte("true"))
	}
	if def.HideOutput {
		b.add("hideOutput", []byte("true"))
	}
	b.add("baseClasses", encode(orEmpty(def.BaseClasses)))
	if len(def.Tags) > 0 {
		b.add("tags", encode(def.Tags))
	}
	b.add("category", encode(def.Category))
	params, anchors, inputs := buildInputs(def, id)
	b.add("inputParams", params)
	b.add("inputAnchors", anchors)
	b.add("inputs", inputs)
	anchorsOut, outputs := buildOutputs(def, id, agent)
	b.add("outputAnchors", anchorsOut)
	b.add("outputs", outputs)
	b.add("selected", []byte("false"))
	return b.bytes()
}

func orEmpty(items []string) []string {
	if items == nil {
		return []string{}
	}
	return items
}

// buildInputs splits the inputs into parameters and anchors and assigns their ids; the values are
// the defaults.
func buildInputs(def *knowledge.Definition, id string) (params, anchors, inputs []byte) {
	values := defaults(def)
	tree := values.tree()
	var listed, ends [][]byte
	if def.Credential != nil {
		listed = append(listed, buildField(def.Credential, id, true))
	}
	for i := range def.Inputs {
		p := &def.Inputs[i]
		one := buildField(p, id, displayed(p, tree, noIndex))
		if p.IsAnchor() {
			ends = append(ends, one)
		} else {
			listed = append(listed, one)
		}
	}
	return joinArray(listed), joinArray(ends), values.bytes()
}

func buildField(p *knowledge.Param, id string, display bool) []byte {
	tail := fmt.Sprintf(`,"id":%s,"display":%t}`, encode(id+"-input-"+p.Name+"-"+p.Type), display)
	raw := bytes.TrimSpace(p.Raw)
	if len(raw) < 3 {
		raw = encode(map[string]string{"label": p.Label, "name": p.Name, "type": p.Type})
	}
	return append(slices.Clone(raw[:len(raw)-1]), tail...)
}

func joinArray(items [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]"))
}

// buildOutputs encodes the output anchors and the selected output.
func buildOutputs(def *knowledge.Definition, id string, agent bool) (anchors, outputs []byte) {
	switch {
	case def.HideOutput:
		return []byte("[]"), []byte("{}")
	case agent:
		return buildAgentOutputs(def, id)
	case len(def.Outputs) == 0:
		one := buildOutput(id, def.Name, def.Type, def.BaseClasses)
		return joinArray([][]byte{one.bytes()}), []byte("{}")
	}
	options := make([][]byte, 0, len(def.Outputs))
	for _, out := range def.Outputs {
		one := buildOutput(id, out.Name, out.Label, out.BaseClasses)
		if out.Anchor != nil {
			one.add("isAnchor", encode(*out.Anchor))
		}
		if out.Hidden {
			one.add("hidden", []byte("true"))
		}
		options = append(options, one.bytes())
	}
	var anchor objectBuilder
	anchor.add("name", []byte(`"output"`))
	anchor.add("label", []byte(`"Output"`))
	anchor.add("type", []byte(`"options"`))
	anchor.add("description", []byte(`""`))
	anchor.add("options", joinArray(options))
	anchor.add("default", encode(def.Outputs[0].Name))
	return joinArray([][]byte{anchor.bytes()}), encode(map[string]string{"output": def.Outputs[0].Name})
}

func buildOutput(id, name, label string, classes []string) *objectBuilder {
	b := &objectBuilder{}
	b.add("id", encode(id+"-output-"+name+"-"+strings.Join(classes, "|")))
	b.add("name", encode(name))
	b.add("label", encode(label))
	b.add("description", []byte(`""`))
	b.add("type", encode(strings.Join(classes, " | ")))
	return b
}

func buildAgentOutputs(def *knowledge.Definition, id string) (anchors, outputs []byte) {
	suffixes, chosen := []string{def.Name}, []byte("{}")
	if len(def.Outputs) > 0 {
		suffixes, chosen = nil, encode(map[string]string{def.Name: ""})
		for i := range def.Outputs {
			suffixes = append(suffixes, strconv.Itoa(i))
		}
	}
	items := make([][]byte, 0, len(suffixes))
	for _, suffix := range suffixes {
		var b objectBuilder
		b.add("id", encode(id+"-output-"+suffix))
		b.add("label", encode(def.Label))
		b.add("name", encode(def.Name))
		items = append(items, b.bytes())
	}
	return joinArray(items), chosen
}
