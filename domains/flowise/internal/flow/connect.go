package flow

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

func (op *Connect) apply(d *draft) []contracts.Fault {
	source, faults := d.node("/source_node_id", op.SourceNodeID)
	target, more := d.node("/target_node_id", op.TargetNodeID)
	if source == nil || target == nil {
		return append(faults, more...)
	}
	switch {
	case source == target:
		return fault("/target_node_id", "%s cannot be connected with itself", op.TargetNodeID)
	case isNote(source.Name()):
		return fault("/source_node_id", "%s is a note; notes have no connections", op.SourceNodeID)
	case isNote(target.Name()):
		return fault("/target_node_id", "%s is a note; notes have no connections", op.TargetNodeID)
	case d.kind == Agentflow:
		return op.connectAgent(d, source, target)
	}
	out, in, faults := op.resolve(d, source, target)
	if len(faults) > 0 {
		return faults
	}
	if faults := op.check(d, source, out, in); len(faults) > 0 {
		return faults
	}
	if faults := op.choose(d, source, out); len(faults) > 0 {
		return faults
	}
	op.write(d, target, in)
	d.connect(source.id, out.text("id"), target.id, in.text("id"), `"buttonedge"`, nil)
	return nil
}

// connect adds an edge, with its keys in the order of the canvas.
func (d *draft) connect(source, sourceHandle, target, targetHandle, style string, more func(*objectBuilder)) {
	var b objectBuilder
	b.add("source", encode(source))
	b.add("sourceHandle", encode(sourceHandle))
	b.add("target", encode(target))
	b.add("targetHandle", encode(targetHandle))
	if more != nil {
		more(&b)
	}
	b.add("type", []byte(style))
	b.add("id", encode(edgeID(source, sourceHandle, target, targetHandle)))
	d.edges = append(d.edges, readEdge(b.bytes()))
}

// edgeID returns the id that the canvas gives an edge.
func edgeID(source, sourceHandle, target, targetHandle string) string {
	return strings.Join([]string{source, sourceHandle, target, targetHandle}, "-")
}

// resolve finds the two anchors by name or, if a name is missing, by compatibility.
func (op *Connect) resolve(d *draft, source, target *draftNode) (out, in field, faults []contracts.Fault) {
	outs, _ := source.outputs()
	if len(outs) == 0 {
		return nil, nil, fault("/source_node_id", "%s has no output", source.id)
	}
	ins := targets(target.Node)
	if op.SourceAnchor != "" {
		if out = pick(outs, op.SourceAnchor); out == nil {
			return nil, nil, fault("/source_anchor", "%s", unknown("output of "+source.id, op.SourceAnchor, names(outs)))
		}
		outs = []field{out}
	}
	if op.TargetAnchor != "" {
		if in = pick(ins, op.TargetAnchor); in == nil {
			return nil, nil, fault("/target_anchor", "%s", op.noTarget(target.Node, ins))
		}
		ins = []field{in}
	} else {
		ins = d.open(target, ins)
	}
	return op.match(source, target, outs, ins)
}

// pick finds a field by name or label, or the only one.
func pick(fields []field, name string) field {
	if f, ok := byName(fields, name); ok {
		return f
	}
	for _, f := range fields {
		if strings.EqualFold(f.text("label"), name) {
			return f
		}
	}
	if name == "output" && len(fields) == 1 {
		return fields[0]
	}
	return nil
}

// targets returns the inputs that accept an edge: anchors, and parameters that accept the value of
// another node.
func targets(n Node) []field {
	ins := n.anchors()
	for _, f := range n.params() {
		if f.flag("acceptVariable") {
			ins = append(ins, f)
		}
	}
	return ins
}

func (op *Connect) noTarget(n Node, ins []field) string {
	if _, ok := byName(n.params(), op.TargetAnchor); ok {
		return fmt.Sprintf("%s is a parameter of %s; use SetParam. Anchors are: %s", op.TargetAnchor, n.id, listed(names(ins)))
	}
	return unknown("anchor of "+n.id, op.TargetAnchor, names(ins))
}

// open returns the anchors that accept one more edge.
func (d *draft) open(target *draftNode, ins []field) []field {
	anchors := target.anchors()
	return slices.DeleteFunc(slices.Clone(ins), func(f field) bool {
		_, anchor := byID(anchors, f.text("id"))
		return !anchor || !f.flag("list") && d.taken(f.text("id"), target.id) != ""
	})
}

// taken returns the node that is connected to an anchor, or "".
func (d *draft) taken(handle, target string) string {
	for _, e := range d.edges {
		if e.Target == target && e.TargetHandle == handle {
			return e.Source
		}
	}
	return ""
}

// match finds the only compatible pair of anchors. If a node has several outputs, it tries the
// selected one first.
func (op *Connect) match(source, target *draftNode, outs, ins []field) (out, in field, faults []contracts.Fault) {
	selected := source.output()
	outs = slices.Clone(outs)
	sort.SliceStable(outs, func(i, j int) bool {
		return outs[i].text("name") == selected && outs[j].text("name") != selected
	})
	for _, o := range outs {
		var fits []field
		for _, i := range ins {
			if compatible(o.text("id"), i.text("id")) {
				fits = append(fits, i)
			}
		}
		if len(fits) == 1 {
			return o, fits[0], nil
		}
		if len(fits) > 1 {
			return nil, nil, fault("/target_anchor", "%s fits several anchors of %s; name one of: %s", source.id, target.id, listed(names(fits)))
		}
	}
	return nil, nil, op.mismatch(source, target, outs)
}

func (op *Connect) mismatch(source, target *draftNode, outs []field) []contracts.Fault {
	var gives, fits []string
	for _, o := range outs {
		gives = append(gives, strings.Join(typesOf(o.text("id")), " | "))
		for _, i := range targets(target.Node) {
			if compatible(o.text("id"), i.text("id")) {
				fits = append(fits, i.text("name"))
			}
		}
	}
	place, what := "/target_anchor", "no free anchor of "+target.id
	if op.TargetAnchor != "" {
		f := pick(targets(target.Node), op.TargetAnchor)
		what = fmt.Sprintf("%s.%s, which takes %s", target.id, op.TargetAnchor, f.text("type"))
	}
	hint := "; nothing on that node fits"
	if len(fits) > 0 {
		hint = "; it fits " + listed(fits)
	}
	return fault(place, "%s gives %s, which does not fit %s%s", source.id, strings.Join(gives, " or "), what, hint)
}

// check rejects a second edge to a single anchor, a duplicate edge and a cycle.
func (op *Connect) check(d *draft, source *draftNode, out, in field) []contracts.Fault {
	handle := in.text("id")
	for _, e := range d.edges {
		if e.Source == source.id && e.SourceHandle == out.text("id") && e.Target == op.TargetNodeID && e.TargetHandle == handle {
			return fault("/target_anchor", "%s is connected to %s.%s already", source.id, op.TargetNodeID, in.text("name"))
		}
	}
	if other := d.taken(handle, op.TargetNodeID); other != "" && !in.flag("list") {
		return fault("/target_anchor", "%s.%s takes one connection and has %s; Disconnect that first", op.TargetNodeID, in.text("name"), other)
	}
	if d.reaches(op.TargetNodeID, source.id) {
		return fault("/target_node_id", "the connection would close a circle: %s leads to %s already", op.TargetNodeID, source.id)
	}
	return nil
}

// reaches reports whether a path of edges leads from one node to another.
func (d *draft) reaches(from, to string) bool {
	next := make(map[string][]string, len(d.edges))
	for _, e := range d.edges {
		next[e.Source] = append(next[e.Source], e.Target)
	}
	seen := map[string]bool{from: true}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == to {
			return true
		}
		for _, target := range next[queue[0]] {
			if !seen[target] {
				seen[target] = true
				queue = append(queue, target)
			}
		}
	}
	return false
}

// choose selects the output of a node that has one output at a time.
func (op *Connect) choose(d *draft, source *draftNode, out field) []contracts.Fault {
	if _, one := source.outputs(); !one {
		return nil
	}
	return d.chooseOutput(source, out.text("name"), "/source_anchor")
}

// chooseOutput selects an output, unless another one is connected.
func (d *draft) chooseOutput(n *draftNode, name, place string) []contracts.Fault {
	outs, one := n.outputs()
	if !one {
		return fault(place, "%s does not let one choose its output", n.id)
	}
	if _, ok := byName(outs, name); !ok {
		return fault(place, "%s", unknown("output of "+n.id, name, names(outs)))
	}
	if n.output() == name {
		return nil
	}
	for _, e := range d.edges {
		if e.Source == n.id {
			return fault(place, "%s gives one output at a time, and %q is connected to %s; add a second %s for %q",
				n.id, n.output(), e.Target, n.Name(), name)
		}
	}
	n.set(encode(name), "data", "outputs", "output")
	return nil
}

// write stores the reference in the input. The text of a parameter that accepts variables is kept,
// because it contains the reference itself.
func (op *Connect) write(d *draft, target *draftNode, in field) {
	name, ref := in.text("name"), encode(reference(op.SourceNodeID))
	_, anchor := byID(target.anchors(), in.text("id"))
	switch {
	case !anchor:
		return
	case !in.flag("list"):
		target.set(ref, "data", "inputs", name)
		return
	}
	old, _ := target.Input(name)
	old = unescaped(old)
	items := elements(old)
	if firstByte(old) == '"' && !falsy(old) {
		items = [][]byte{old}
	}
	named := 0
	for _, item := range items {
		if bytes.Equal(item, ref) {
			named++
		}
	}
	if named > d.joined(op.SourceNodeID, target.id, in.text("id")) {
		return // it contains the reference already
	}
	items = append(items, ref)
	if name == "tools" {
		sort.SliceStable(items, func(i, j int) bool { return toolRank(items[i]) < toolRank(items[j]) })
	}
	target.set(joinArray(items), "data", "inputs", name)
}

// toolRank is the canvas's order of tools: readers, writers, others.
func toolRank(item []byte) int {
	text := string(item)
	switch {
	case strings.Contains(text, "requestsGet"), strings.Contains(text, "readFile"):
		return 0
	case strings.Contains(text, "requestsPost"), strings.Contains(text, "writeFile"):
		return 1
	default:
		return 2
	}
}
