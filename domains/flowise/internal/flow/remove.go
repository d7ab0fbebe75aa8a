package flow

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

func (op *RemoveNode) apply(d *draft) []contracts.Fault {
	n, faults := d.node("/node_id", op.NodeID)
	if n == nil {
		return faults
	}
	gone := d.family(op.NodeID)
	before := d.edges
	d.edges = slices.DeleteFunc(slices.Clone(d.edges), func(e Edge) bool { return gone[e.Source] || gone[e.Target] })
	for _, e := range before {
		if gone[e.Source] && !gone[e.Target] {
			d.clear(e)
		}
	}
	d.nodes = slices.DeleteFunc(d.nodes, func(n *draftNode) bool { return gone[n.id] })
	for id := range gone {
		delete(d.times, id)
	}
	d.added = slices.DeleteFunc(d.added, func(id string) bool { return gone[id] })
	return nil
}

// family returns a node and all nodes inside it.
func (d *draft) family(id string) map[string]bool {
	children := map[string][]string{}
	for _, n := range d.nodes {
		if parent := n.Parent(); parent != "" {
			children[parent] = append(children[parent], n.id)
		}
	}
	out := map[string]bool{id: true}
	for queue := []string{id}; len(queue) > 0; queue = queue[1:] {
		for _, child := range children[queue[0]] {
			if !out[child] {
				out[child] = true
				queue = append(queue, child)
			}
		}
	}
	return out
}

func (op *Disconnect) apply(d *draft) []contracts.Fault {
	source, faults := d.node("/source_node_id", op.SourceNodeID)
	target, more := d.node("/target_node_id", op.TargetNodeID)
	if source == nil || target == nil {
		return append(faults, more...)
	}
	var found []int
	var there []string
	for i, e := range d.edges {
		if e.Source != op.SourceNodeID || e.Target != op.TargetNodeID {
			continue
		}
		from, to := e.anchors()
		there = append(there, from+" -> "+to)
		if op.names(source, op.SourceAnchor, from) && op.names(target, op.TargetAnchor, to) {
			found = append(found, i)
		}
	}
	switch {
	case len(there) == 0:
		return fault("/target_node_id", "there is no connection from %s to %s%s", op.SourceNodeID, op.TargetNodeID, d.neighbours(op.SourceNodeID))
	case len(found) == 0:
		return fault("/source_anchor", "no connection from %s to %s has these anchors; there are: %s", op.SourceNodeID, op.TargetNodeID, listed(there))
	case len(found) > 1:
		return fault("/target_anchor", "there are several connections from %s to %s; name the anchors of one: %s", op.SourceNodeID, op.TargetNodeID, listed(there))
	}
	e := d.edges[found[0]]
	d.edges = slices.Delete(slices.Clone(d.edges), found[0], found[0]+1)
	d.clear(e)
	return nil
}

// names reports whether an op's anchor refers to the name in a handle. For outputs of condition
// nodes, handles have numbers, and people use names.
func (op *Disconnect) names(n *draftNode, anchor, name string) bool {
	if anchor == "" || anchor == name || anchor == n.id {
		return true
	}
	if outs := n.ends(); n.Category() == categoryAgentflow && len(outs) > 1 {
		i := slices.Index(agentOutputNames(n.Name(), len(outs)), anchor)
		return i >= 0 && strconv.Itoa(i) == name
	}
	return false
}

func (d *draft) neighbours(id string) string {
	var out []string
	for _, e := range d.edges {
		if e.Source == id {
			out = append(out, e.Target)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "; it leads to " + listed(out)
}

// anchors returns the names in the handles, which have the form "<id>-output-<name>-<type>" and
// "<id>-input-<name>-<type>".
func (e Edge) anchors() (from, to string) {
	return anchorIn(e.SourceHandle, e.Source+"-output-"), anchorIn(e.TargetHandle, e.Target+"-input-")
}

// anchorIn returns the anchor in a handle. A handle with another prefix, such as that of an older
// node, is split into its parts.
func anchorIn(handle, prefix string) string {
	if rest, is := strings.CutPrefix(handle, prefix); is {
		name, _, _ := strings.Cut(rest, "-")
		return name
	}
	parts := strings.SplitN(handle, "-", 4)
	if len(parts) < 3 {
		return handle
	}
	return parts[2]
}

// joined returns the number of edges from a node to an anchor.
func (d *draft) joined(source, target, handle string) (count int) {
	for _, e := range d.edges {
		if e.Source == source && e.Target == target && e.TargetHandle == handle {
			count++
		}
	}
	return count
}

// clear removes from the target what a removed edge wrote into it, but not what other edges between
// the nodes wrote.
func (d *draft) clear(e Edge) {
	if d.kind == Agentflow {
		return
	}
	_, name := e.anchors()
	ref, left := encode(reference(e.Source)), d.joined(e.Source, e.Target, e.TargetHandle)
	for _, n := range d.nodes {
		if n.id != e.Target {
			continue
		}
		old, ok := n.Input(name)
		if !ok {
			continue
		}
		switch old = unescaped(old); firstByte(old) {
		case '[':
			n.set(withoutRef(old, ref, left), "data", "inputs", name)
		case '"':
			if left == 0 {
				n.set(bytes.ReplaceAll(old, ref[1:len(ref)-1], nil), "data", "inputs", name)
			}
		}
	}
}

// withoutRef removes a reference from a list, except for as many occurrences as edges are left. It
// also removes it from within a longer text.
func withoutRef(list, ref []byte, left int) []byte {
	var kept [][]byte
	for _, item := range elements(list) {
		switch {
		case left > 0 && bytes.Contains(item, ref[1:len(ref)-1]):
			left--
		case bytes.Equal(item, ref):
			continue
		case firstByte(item) == '"':
			item = bytes.ReplaceAll(item, ref[1:len(ref)-1], nil)
		}
		kept = append(kept, item)
	}
	return joinArray(kept)
}

func (op *RenameNode) apply(d *draft) []contracts.Fault {
	n, faults := d.node("/node_id", op.NodeID)
	if n == nil {
		return faults
	}
	label := strings.TrimSpace(op.Label)
	if label == "" {
		return fault("/label", "must not be empty")
	}
	n.set(encode(label), "data", "label")
	return nil
}

func (op *MoveNode) apply(d *draft) []contracts.Fault {
	n, faults := d.node("/node_id", op.NodeID)
	if n == nil {
		return faults
	}
	if op.Position == nil {
		return fault("/position", "is required")
	}
	n.added = false
	n.place(*op.Position, *op.Position)
	return nil
}

// place sets the position, and the absolute position if the node has one.
func (n *draftNode) place(at, absolute Point) {
	n.box.at = at
	n.set(encode(at), "position")
	if _, ok := get(n.raw, "positionAbsolute"); ok {
		n.set(encode(absolute), "positionAbsolute")
	}
}
