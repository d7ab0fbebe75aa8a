package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// OpType is the type of an op, the value of "op_type".
type OpType string

// The op types of the Patch IR.
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

// OpTypes returns every op type.
func OpTypes() []OpType {
	return []OpType{
		OpAddNode, OpSetParam, OpConnect, OpBindCredential,
		OpRemoveNode, OpDisconnect, OpRenameNode, OpMoveNode, OpReplaceNode,
	}
}

// MaxOps is the maximum number of ops in one patch.
const MaxOps = 1000

// Op is one edit of a graph. It refers to nodes by id and to anchors by name, never by the ids of
// handles or edges.
type Op interface {
	// Type returns the op's "op_type".
	Type() OpType
	apply(d *draft) []contracts.Fault
}

// AddNode adds a node of a known kind.
type AddNode struct {
	OpType OpType `json:"op_type"`
	// NodeName is the kind, for example chatOpenAI.
	NodeName string `json:"node_name"`
	// NodeID is the id for later ops; "" takes the lowest free <kind>_<n>.
	NodeID string `json:"node_id,omitempty"`
	Label  string `json:"label,omitempty"`
	// Params are values that differ from the defaults.
	Params map[string]json.RawMessage `json:"params,omitempty"`
	// Output is the selected output of a node with several. Connecting an output also selects it.
	Output string `json:"output,omitempty"`
	// Parent is the iteration to which the node is added.
	Parent string `json:"parent,omitempty"`
	// Position overrides the automatic layout.
	Position *Point `json:"position,omitempty"`
}

// SetParam sets a parameter of a node; null resets it to its default. ParamName may be a path into
// a value: "agentTools[0].agentSelectedTool"; "agentTools[-]" is the next item, as in a JSON
// Pointer. The name "output" selects the output of a node with several.
type SetParam struct {
	OpType    OpType          `json:"op_type"`
	NodeID    string          `json:"node_id"`
	ParamName string          `json:"param_name"`
	Value     json.RawMessage `json:"value"`
}

// Connect connects an output of a node to an input of another. An anchor may be omitted if only one
// fits.
type Connect struct {
	OpType       OpType `json:"op_type"`
	SourceNodeID string `json:"source_node_id"`
	SourceAnchor string `json:"source_anchor,omitempty"`
	TargetNodeID string `json:"target_node_id"`
	TargetAnchor string `json:"target_anchor,omitempty"`
}

// BindCredential stores the id of a credential where the node reads it.
type BindCredential struct {
	OpType       OpType `json:"op_type"`
	NodeID       string `json:"node_id"`
	CredentialID string `json:"credential_id"`
	// CredentialType, if set, is checked against the types that the node accepts.
	CredentialType string `json:"credential_type,omitempty"`
	// ParamName is the parameter whose selected component needs the credential, for example
	// agentModel or agentTools[0].agentSelectedTool. It is required only if an AGENTFLOW node has
	// several such components.
	ParamName string `json:"param_name,omitempty"`
}

// RemoveNode removes a node, its edges and what they wrote into other nodes. An iteration is
// removed with the nodes in it.
type RemoveNode struct {
	OpType OpType `json:"op_type"`
	NodeID string `json:"node_id"`
}

// Disconnect removes an edge and what it wrote into its target. The anchors are required only if
// several edges connect the nodes.
type Disconnect struct {
	OpType       OpType `json:"op_type"`
	SourceNodeID string `json:"source_node_id"`
	SourceAnchor string `json:"source_anchor,omitempty"`
	TargetNodeID string `json:"target_node_id"`
	TargetAnchor string `json:"target_anchor,omitempty"`
}

// RenameNode changes the label of a node; the id stays.
type RenameNode struct {
	OpType OpType `json:"op_type"`
	NodeID string `json:"node_id"`
	Label  string `json:"label"`
}

// MoveNode moves a node on the canvas.
type MoveNode struct {
	OpType   OpType `json:"op_type"`
	NodeID   string `json:"node_id"`
	Position *Point `json:"position"`
}

// Point is a position on the canvas.
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

// DecodeOps decodes a list of ops strictly: an unknown key, a wrong type or a missing value is an
// error with its pointer. A Markdown code fence around the list, as language models write it, is
// removed.
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

// missing returns the required members that an op lacks.
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

// unknown returns a message that a name is unknown, with the closest known one.
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
