package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// OpType describes what an op does; it stands in "op_type".
type OpType string

// The ops of the Patch IR.
const (
	OpAddNode        OpType = "AddNode"
	OpSetParam       OpType = "SetParam"
	OpConnect        OpType = "Connect"
	OpBindCredential OpType = "BindCredential"
	OpRemoveNode     OpType = "RemoveNode"
	OpDisconnect     OpType = "Disconnect"
	OpRenameNode     OpType = "RenameNode"
	OpMoveNode       OpType = "MoveNode"
	OpReplaceNode    OpType = "ReplaceNode"
)

// OpTypes lists every op.
func OpTypes() []OpType {
	return []OpType{
		OpAddNode, OpSetParam, OpConnect, OpBindCredential,
		OpRemoveNode, OpDisconnect, OpRenameNode, OpMoveNode, OpReplaceNode,
	}
}

// MaxOps bounds one patch.
const MaxOps = 1000

// Op is one edit of a graph. Nodes are named by id and anchors by name; ids of
// handles and edges are never written by hand.
type Op interface {
	// Type is the op's "op_type".
	Type() OpType
	apply(d *draft) []contracts.Fault
}

// AddNode adds a node of a kind that the server knows.
type AddNode struct {
	OpType OpType `json:"op_type"`
	// NodeName is the kind, such as chatOpenAI.
	NodeName string `json:"node_name"`
	// NodeID is what later ops call it; "" takes the lowest free <kind>_<n>.
	NodeID string `json:"node_id,omitempty"`
	Label  string `json:"label,omitempty"`
	// Params are values that differ from the defaults.
	Params map[string]json.RawMessage `json:"params,omitempty"`
	// Output is the one to give, of a node that offers several; connecting one
	// of them chooses it, too.
	Output string `json:"output,omitempty"`
	// Parent is the iteration to stand in.
	Parent string `json:"parent,omitempty"`
	// Position is for where the automatic layout does not do.
	Position *Point `json:"position,omitempty"`
}

// SetParam gives a parameter of a node a value; null gives it its default.
// ParamName may lead into a value: "agentTools[0].agentSelectedTool", and
// "agentTools[-]" is the next item, as in a JSON Pointer. The
// name "output" chooses the output of a node that offers several.
type SetParam struct {
	OpType    OpType          `json:"op_type"`
	NodeID    string          `json:"node_id"`
	ParamName string          `json:"param_name"`
	Value     json.RawMessage `json:"value"`
}

// Connect connects an output of a node with an input of another. An anchor may
// be left out where only one fits.
type Connect struct {
	OpType       OpType `json:"op_type"`
	SourceNodeID string `json:"source_node_id"`
	SourceAnchor string `json:"source_anchor,omitempty"`
	TargetNodeID string `json:"target_node_id"`
	TargetAnchor string `json:"target_anchor,omitempty"`
}

// BindCredential puts the id of a credential where the node looks for it.
type BindCredential struct {
	OpType       OpType `json:"op_type"`
	NodeID       string `json:"node_id"`
	CredentialID string `json:"credential_id"`
	// CredentialType is checked against what the node takes, if it is given.
	CredentialType string `json:"credential_type,omitempty"`
	// ParamName is the parameter whose chosen component needs it, such as
	// agentModel or agentTools[0].agentSelectedTool; needed only where a node
	// of an AGENTFLOW has several.
	ParamName string `json:"param_name,omitempty"`
}

// RemoveNode removes a node, its edges and what they wrote into other nodes; an
// iteration goes with the nodes in it.
type RemoveNode struct {
	OpType OpType `json:"op_type"`
	NodeID string `json:"node_id"`
}

// Disconnect removes a connection and what it wrote into its target. The
// anchors are needed only between nodes with several connections.
type Disconnect struct {
	OpType       OpType `json:"op_type"`
	SourceNodeID string `json:"source_node_id"`
	SourceAnchor string `json:"source_anchor,omitempty"`
	TargetNodeID string `json:"target_node_id"`
	TargetAnchor string `json:"target_anchor,omitempty"`
}

// RenameNode changes what people see; the id stays.
type RenameNode struct {
	OpType OpType `json:"op_type"`
	NodeID string `json:"node_id"`
	Label  string `json:"label"`
}

// MoveNode puts a node elsewhere on the canvas.
type MoveNode struct {
	OpType   OpType `json:"op_type"`
	NodeID   string `json:"node_id"`
	Position *Point `json:"position"`
}

// Point is a place on the canvas.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Type returns OpAddNode.
func (*AddNode) Type() OpType { return OpAddNode }

// Type returns OpSetParam.
func (*SetParam) Type() OpType { return OpSetParam }

// Type returns OpConnect.
func (*Connect) Type() OpType { return OpConnect }

// Type returns OpBindCredential.
func (*BindCredential) Type() OpType { return OpBindCredential }

// Type returns OpRemoveNode.
func (*RemoveNode) Type() OpType { return OpRemoveNode }

// Type returns OpDisconnect.
func (*Disconnect) Type() OpType { return OpDisconnect }

// Type returns OpRenameNode.
func (*RenameNode) Type() OpType { return OpRenameNode }

// Type returns OpMoveNode.
func (*MoveNode) Type() OpType { return OpMoveNode }

// DecodeOps reads a list of ops strictly: an unknown key, a wrong type or a
// missing value is refused with its pointer. A Markdown fence around the list,
// as language models write it, is taken off.
func DecodeOps(data []byte) ([]Op, error) {
	data = unfence(data)
	if err := checkJSON(data); err != nil {
		return nil, contracts.Invalid("the ops are not valid", contracts.Fault{Message: err.Error()})
	}
	if firstByte(data) != '[' {
		return nil, contracts.Invalid("the ops are not valid", contracts.Fault{Message: "must be a list of ops"})
	}
	items := elements(data)
	if len(items) > MaxOps {
		return nil, contracts.Errorf(contracts.CodeTooLarge, "%d ops are too many; %d are allowed", len(items), MaxOps)
	}
	ops := make([]Op, 0, len(items))
	var faults []contracts.Fault
	for i, item := range items {
		op, found := decodeOp(item)
		for _, f := range found {
			faults = append(faults, contracts.Fault{Pointer: fmt.Sprintf("/%d%s", i, f.Pointer), Message: f.Message})
		}
		ops = append(ops, op)
	}
	if len(faults) > 0 {
		return nil, contracts.Invalid("the ops are not valid", faults...)
	}
	return ops, nil
}

func unfence(data []byte) []byte {
	data = bytes.TrimSpace(data)
	if !bytes.HasPrefix(data, []byte("```")) {
		return data
	}
	_, data, _ = bytes.Cut(data, []byte("\n"))
	return bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(data), []byte("```")))
}

func newOp(t OpType) Op {
	switch t {
	case OpAddNode:
		return &AddNode{}
	case OpSetParam:
		return &SetParam{}
	case OpConnect:
		return &Connect{}
	case OpBindCredential:
		return &BindCredential{}
	case OpRemoveNode:
		return &RemoveNode{}
	case OpDisconnect:
		return &Disconnect{}
	case OpRenameNode:
		return &RenameNode{}
	case OpMoveNode:
		return &MoveNode{}
	case OpReplaceNode:
		return &ReplaceNode{}
	}
	return nil
}

func decodeOp(raw []byte) (Op, []contracts.Fault) {
	if firstByte(raw) != '{' {
		return nil, []contracts.Fault{{Message: "must be an object"}}
	}
	name := textAt(raw, "op_type")
	op := newOp(OpType(name))
	if op == nil {
		known := make([]string, 0, len(OpTypes()))
		for _, t := range OpTypes() {
			known = append(known, string(t))
		}
		return nil, []contracts.Fault{{Pointer: "/op_type", Message: unknown("op", name, known)}}
	}
	if err := contracts.DecodeStrict(raw, op); err != nil {
		return nil, faultsOf(err)
	}
	return op, missing(raw, op)
}

// missing finds what an op of its type cannot do without.
func missing(raw []byte, op Op) []contracts.Fault {
	required := map[OpType][]string{
		OpAddNode: {"node_name"}, OpSetParam: {"node_id", "param_name", "value"},
		OpConnect: {"source_node_id", "target_node_id"}, OpBindCredential: {"node_id", "credential_id"},
		OpRemoveNode: {"node_id"}, OpDisconnect: {"source_node_id", "target_node_id"},
		OpRenameNode: {"node_id", "label"}, OpMoveNode: {"node_id", "position"},
		OpReplaceNode: {"node_id", "node_name"},
	}
	var faults []contracts.Fault
	for _, key := range required[op.Type()] {
		value, ok := get(raw, key)
		empty := string(value) == `""` || string(value) == "null"
		if !ok || empty && key != "value" {
			faults = append(faults, contracts.Fault{Pointer: "/" + key, Message: "is required"})
		}
	}
	return faults
}

func faultsOf(err error) []contracts.Fault {
	if e, ok := asError(err); ok && len(e.Faults) > 0 {
		return e.Faults
	}
	return []contracts.Fault{{Message: err.Error()}}
}

// unknown says that a name is not among the known ones, and which is nearest.
func unknown(what, name string, known []string) string {
	if len(known) == 0 {
		return fmt.Sprintf("there is no %s %q, and no other", what, name)
	}
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf("there is no %s %q; did you mean %s? There are: %s", what, name, near, listed(known))
	}
	return fmt.Sprintf("there is no %s %q; there are: %s", what, name, listed(known))
}

const maxListed = 20

func listed(known []string) string {
	if len(known) <= maxListed {
		return strings.Join(known, ", ")
	}
	known = slices.Clone(known[:maxListed])
	return strings.Join(known, ", ") + ", …"
}
