package edit

import (
	"fmt"
	"path"
	"slices"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// Repairs returns the ops that fix findings and need no input: the only credential of a type, or a
// connection from the only suitable node. It also returns the findings that remain.
func (t Target) Repairs(findings []flow.Finding, credentials map[string][]string) (ops []flow.Op, left []flow.Finding) {
	done := map[string]bool{}
	for _, f := range findings {
		op := t.repair(f, credentials)
		if op == nil {
			left = append(left, f)
			continue
		}
		if key := fmt.Sprintf("%T %+v", op, op); !done[key] {
			done[key] = true
			ops = append(ops, op)
		}
	}
	return ops, left
}

// repair returns the op that fixes one finding, or nil.
func (t Target) repair(f flow.Finding, credentials map[string][]string) flow.Op {
	if f.Code == flow.CodeAnchorMissing {
		return t.connection(f)
	}
	if f.Category != flow.Credential {
		return nil
	}
	for _, place := range flow.CredentialPlaces(t.Graph, t.Defs) {
		if place.NodeID != f.NodeID || place.Optional {
			continue
		}
		var fits []string
		for _, kind := range place.Types {
			fits = append(fits, credentials[kind]...)
		}
		if len(fits) == 1 && place.Bound != fits[0] {
			return place.Bind(fits[0])
		}
	}
	return nil
}

// connection connects an empty anchor to the only suitable node, or returns nil.
func (t Target) connection(f flow.Finding) flow.Op {
	node, found := t.Graph.Find(f.NodeID)
	if !found {
		return nil
	}
	def, known := t.Defs.Node(node.Name())
	if !known {
		return nil
	}
	anchor, has := def.Input(path.Base(f.Pointer))
	if !has {
		return nil
	}
	givers := slices.DeleteFunc(t.giving(anchor.Type), func(id string) bool { return id == f.NodeID })
	if len(givers) != 1 {
		return nil
	}
	return &flow.Connect{OpType: flow.OpConnect, SourceNodeID: givers[0], TargetNodeID: f.NodeID, TargetAnchor: anchor.Name}
}
