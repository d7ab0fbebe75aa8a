package edit

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// attach connects a node of a kind to a single anchor and replaces the existing one; "" removes it.
func (t Target) attach(at Spot, kind string) ([]flow.Op, error) {
	there := t.Graph.Into(at.Node.ID(), at.Param)
	switch {
	case kind == "" && len(there) == 0:
		return nil, refuse("%s has none", at.Label())
	case kind == "":
		return t.detach(there[0], at), nil
	}
	if _, known := t.Defs.Node(kind); !known {
		return nil, refuse("there is no kind of node %q", kind)
	}
	if len(there) > 0 {
		if was, _ := t.Graph.Find(there[0]); was.Name() == kind {
			return nil, refuse("nothing would change: %s is a %s already", there[0], kind)
		}
		return t.instead(there[0], kind), nil
	}
	id := t.free(kind)
	ops := []flow.Op{
		&flow.AddNode{OpType: flow.OpAddNode, NodeName: kind, NodeID: id},
		&flow.Connect{OpType: flow.OpConnect, SourceNodeID: id, TargetNodeID: at.Node.ID(), TargetAnchor: at.Param},
	}
	return append(ops, t.supply(id, kind, "")...), nil
}

// instead replaces a node by one of another kind.
func (t Target) instead(old, kind string) []flow.Op {
	id := t.free(kind)
	ops := []flow.Op{&flow.ReplaceNode{OpType: flow.OpReplaceNode, NodeID: old, NodeName: kind, NewNodeID: id}}
	return append(ops, t.supply(id, kind, old)...)
}

// supply connects the required anchors of a new node if the flow has exactly one suitable node: a
// summary memory needs a model. The new node may replace old, whose connections it gets.
func (t Target) supply(id, kind, old string) []flow.Op {
	def, known := t.Defs.Node(kind)
	if !known {
		return nil
	}
	var ops []flow.Op
	for _, in := range def.Inputs {
		if !in.IsAnchor() || in.Optional || old != "" && len(t.Graph.Into(old, in.Name)) > 0 {
			continue
		}
		givers := slices.DeleteFunc(t.giving(in.Type), func(giver string) bool { return giver == old })
		if len(givers) == 1 {
			ops = append(ops, &flow.Connect{OpType: flow.OpConnect, SourceNodeID: givers[0], TargetNodeID: id, TargetAnchor: in.Name})
		}
	}
	return ops
}

// giving returns the nodes of the flow that an anchor accepts: those of one of the classes in its
// type.
func (t Target) giving(class string) []string {
	takes := strings.FieldsFunc(class, func(r rune) bool { return r == '|' || r == ' ' })
	var out []string
	for _, n := range t.Graph.Nodes() {
		def, known := t.Defs.Node(n.Name())
		if !known {
			continue
		}
		gives := def.BaseClasses
		for _, o := range def.Outputs {
			gives = append(slices.Clip(gives), o.BaseClasses...)
		}
		if slices.ContainsFunc(gives, func(c string) bool { return slices.Contains(takes, c) }) {
			out = append(out, n.ID())
		}
	}
	return out
}

// withParam sets a parameter of the node that ops add.
func withParam(ops []flow.Op, name, value string) []flow.Op {
	params := map[string]json.RawMessage{name: text(value)}
	for _, op := range ops {
		switch op := op.(type) {
		case *flow.AddNode:
			op.Params = params
		case *flow.ReplaceNode:
			op.Params = params
		}
	}
	return ops
}

// bound binds a credential, if given, to the node that ops add.
func bound(ops []flow.Op, credential string) []flow.Op {
	if credential == "" {
		return ops
	}
	id := ""
	switch op := ops[0].(type) {
	case *flow.AddNode:
		id = op.NodeID
	case *flow.ReplaceNode:
		id = op.NewNodeID
	}
	return append(ops, &flow.BindCredential{OpType: flow.OpBindCredential, NodeID: id, CredentialID: credential})
}
