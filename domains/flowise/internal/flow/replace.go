package flow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// ReplaceNode replaces a node by one of another kind. The new node gets the position, the edges,
// and the values of the parameters that both kinds have. An edge without a matching anchor is
// dropped, unless another node needs it.
type ReplaceNode struct {
	OpType OpType `json:"op_type"`
	NodeID string `json:"node_id"`
	// NodeName is the new kind, for example chatAnthropic.
	NodeName string `json:"node_name"`
	// NewNodeID is the id for later ops; "" takes the lowest free <kind>_<n>.
	NewNodeID string `json:"new_node_id,omitempty"`
	// Params are values in addition to those that are carried over.
	Params map[string]json.RawMessage `json:"params,omitempty"`
}

// Type returns OpReplaceNode.
func (*ReplaceNode) Type() OpType { return OpReplaceNode }

func (op *ReplaceNode) apply(d *draft) []contracts.Fault {
	old, faults := d.node("/node_id", op.NodeID)
	if old == nil {
		return faults
	}
	def, known := d.defs.Node(op.NodeName)
	if !known {
		return fault("/node_name", "%s", unknown("kind of node", op.NodeName, d.similar(op.NodeName)))
	}
	if old.name == op.NodeName {
		return fault("/node_name", "%s is a %s already", old.id, op.NodeName)
	}
	was, edges := *old, slices.Clone(d.edges)
	id := op.NewNodeID
	if id == "" {
		id = d.freeID(def.Name)
	}
	add := &AddNode{OpType: OpAddNode, NodeName: op.NodeName, NodeID: id, Parent: was.Parent(), Params: op.carried(was.Node, def), Position: positionOf(was.Node)}
	if faults := add.apply(d); len(faults) > 0 {
		return faults
	}
	d.added = slices.DeleteFunc(d.added, func(added string) bool { return added == id })
	if faults := (&RemoveNode{OpType: OpRemoveNode, NodeID: op.NodeID}).apply(d); len(faults) > 0 {
		return faults
	}
	d.added = append(d.added, id)
	return op.reconnect(d, was.Node, id, edges)
}

// carried returns the values of parameters that both kinds have, if they are valid and used for the
// new kind.
func (op *ReplaceNode) carried(was Node, def *knowledge.Definition) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, f := range was.params() {
		old := f.decode()
		now, has := def.Input(old.Name)
		value, held := was.Input(old.Name)
		if !has || !held || now.IsAnchor() || now.Type != old.Type || falsy(value) || string(value) == string(old.Default) || now.Type == "asyncOptions" ||
			now.LoadConfig || checkValue(now, value) != "" {
			continue
		}
		out[old.Name] = value
	}
	maps.Copy(out, op.Params)
	return out
}

func positionOf(n Node) *Point {
	raw, ok := get(n.raw, "position")
	var p Point
	if !ok || json.Unmarshal(raw, &p) != nil {
		return nil
	}
	return &p
}

// reconnect connects the old node's edges to the new node.
func (op *ReplaceNode) reconnect(d *draft, was Node, id string, edges []Edge) []contracts.Fault {
	now, faults := d.node("/node_id", id)
	if now == nil {
		return faults
	}
	for _, e := range edges {
		from, to := e.anchors()
		link := &Connect{OpType: OpConnect, SourceNodeID: e.Source, SourceAnchor: from, TargetNodeID: e.Target, TargetAnchor: to}
		switch was.id {
		case e.Source:
			link.SourceNodeID, link.SourceAnchor = id, ""
			if outs, choice := now.outputs(); choice && pick(outs, from) != nil {
				link.SourceAnchor = from
			}
		case e.Target:
			if d.kind != Agentflow && pick(targets(now.Node), to) == nil {
				continue // the new kind has no such anchor
			}
			link.TargetNodeID = id
		default:
			continue
		}
		if d.kind == Agentflow {
			link.SourceAnchor, link.TargetAnchor = agentAnchor(e), ""
		}
		for _, f := range link.apply(d) {
			faults = append(faults, contracts.Fault{Pointer: "/node_name", Message: fmt.Sprintf("%s cannot take the place of %s: %s", op.NodeName, was.id, f.Message)})
		}
	}
	return faults
}

// agentAnchor returns the number of the AGENTFLOW output at which an edge starts, or "" if it has
// none.
func agentAnchor(e Edge) string {
	at := strings.LastIndexByte(e.SourceHandle, '-')
	last := e.SourceHandle[at+1:]
	if last != "" && strings.Trim(last, "0123456789") == "" {
		return last
	}
	return ""
}
