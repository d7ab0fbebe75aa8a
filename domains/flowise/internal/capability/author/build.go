package author

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Reasons why a flow cannot be written yet.
const (
	failureOps        = "ops"
	failureSchema     = "schema_mismatch"
	failureStructural = "structural"
	failureDrift      = "schema_drift"
	failureProtected  = "protected"
)

// Recipe describes how to build a graph from another one.
type Recipe struct {
	FlowData  string   `json:"flow_data,omitempty" description:"The graph to begin with; none begins with an empty one"`
	Template  string   `json:"template,omitempty" max:"200" description:"Template of Flowise to begin with instead, with the credentials that it takes"`
	Type      string   `json:"type,omitempty" enum:"CHATFLOW,AGENTFLOW,MULTIAGENT" description:"Type of the flow; guessed from its nodes unless given"`
	Ops       Ops      `json:"ops" description:"Edits, in the form of the Patch IR"`
	Protected []string `json:"protected_nodes,omitempty" max:"200" description:"Ids of nodes that no op may touch"`
	// Fingerprint is the fingerprint of the definitions with which the ops were planned.
	Fingerprint string `json:"schema_fingerprint,omitempty" description:"Fingerprint of the node definitions that the ops were made with"`
}

// Compiled is a compiled graph, or why it could not be compiled.
type Compiled struct {
	OK         bool   `json:"ok"`
	SHA256     string `json:"sha256"`
	BaseSHA256 string `json:"base_sha256"`
	Type       string `json:"type"`
	OpCount    int    `json:"op_count"`
	NodeCount  int    `json:"node_count"`
	// Added are the ids of the new nodes, in the order of the ops.
	Added   []string        `json:"added"`
	Changes present.Changes `json:"changes"`
	// FlowSummary briefly describes the whole graph.
	FlowSummary      string            `json:"flow_summary,omitempty"`
	FailureType      string            `json:"failure_type,omitempty"`
	Faults           []contracts.Fault `json:"faults"`
	MissingNodeTypes []string          `json:"missing_node_types"`
	Fingerprint      string            `json:"schema_fingerprint"`
	Drift            string            `json:"drift,omitempty"`
}

// Summary reports the result.
func (c Compiled) Summary() string {
	if !c.OK {
		return fmt.Sprintf("does not compile: %s", firstFault(c.Faults))
	}
	return fmt.Sprintf("compiled %s into a %s with %s: %s", present.Count(c.OpCount, "op"), c.Type, present.Count(c.NodeCount, "node"), c.Changes.Line)
}

func firstFault(faults []contracts.Fault) string {
	if len(faults) == 0 {
		return "for no known reason"
	}
	text := faults[0].Message
	if len(faults) > 1 {
		text += fmt.Sprintf(" (and %d more)", len(faults)-1)
	}
	return text
}

// compileFlow applies ops to a graph. Faults are returned as facts, because the author of the ops
// can fix them.
func (a *Author) compileFlow(ctx context.Context, call domainkit.Call, in Recipe) (domainkit.Result[Compiled], error) {
	drift, err := a.rules.DriftOf(ctx, call.Instance, in.Fingerprint)
	if err != nil {
		return domainkit.Result[Compiled]{}, err
	}
	base := flow.Empty()
	switch {
	case in.FlowData != "" && in.Template != "":
		return domainkit.Result[Compiled]{}, domainkit.Refusef(contracts.ErrInvalidParameters, "a graph begins with one of flow_data and template")
	case in.FlowData != "":
		if base, err = flow.Decompile([]byte(in.FlowData)); err != nil {
			return domainkit.Result[Compiled]{}, site.Unreadable(err)
		}
	case in.Template != "":
		if base, err = a.fromTemplate(ctx, call, in.Template); err != nil {
			return domainkit.Result[Compiled]{}, err
		}
	}
	made, out, err := a.Compile(ctx, call, base, in.Ops, flow.Kind(in.Type))
	if err != nil {
		return domainkit.Result[Compiled]{}, err
	}
	if faults := touched(in.Ops, in.Protected); out.OK && len(faults) > 0 {
		out.OK, out.FailureType, out.Faults = false, failureProtected, faults
	}
	out.Drift = drift.Note
	if drift.Forbids {
		out.OK, out.FailureType = false, failureDrift
		out.Faults = append(out.Faults, contracts.Fault{Pointer: "/schema_fingerprint", Message: drift.Note})
	}
	if !out.OK {
		return domainkit.Result[Compiled]{Facts: out}, nil
	}
	return domainkit.Result[Compiled]{Facts: out, Artifacts: map[string]any{site.ArtifactFlow: string(made.FlowData)}}, nil
}

// Compile builds a graph and describes it; the description contains the faults of the ops.
func (a *Author) Compile(ctx context.Context, call domainkit.Call, base *flow.Graph, ops Ops, kind flow.Kind) (flow.Result, Compiled, error) {
	defs, err := a.site.Definitions(ctx, call.Instance)
	if err != nil {
		return flow.Result{}, Compiled{}, err
	}
	out := Compiled{BaseSHA256: base.SHA256(), Fingerprint: defs.Fingerprint(), Type: string(kind)}
	decoded, err := a.readOps(ctx, call.Instance, ops.raw())
	if err == nil {
		var made flow.Result
		out.OpCount = len(decoded)
		if made, err = flow.Compile(base, decoded, defs, flow.Options{Kind: kind}); err == nil {
			out.OK, out.SHA256, out.Type, out.NodeCount = true, made.SHA256, string(made.Kind), len(made.Graph.Nodes())
			out.Added, out.Changes = made.Added, present.ChangesOf(made.Diff)
			out.FlowSummary = present.DigestOf(made.Graph, made.Kind, defs).Summary()
			return made, out, nil
		}
	}
	wrong, ours := errors.AsType[*contracts.Error](err)
	if !ours || wrong.Code == contracts.CodeInternal {
		return flow.Result{}, Compiled{}, err
	}
	out.Faults, out.FailureType = faultsOf(wrong), failureOps
	if out.MissingNodeTypes = unknownTypes(decoded, defs); len(out.MissingNodeTypes) > 0 {
		out.FailureType = failureSchema
	}
	return flow.Result{}, out, nil
}

// touched returns a fault for each op that changes a protected node. Connecting such a node to
// another one is not a change of it.
func touched(ops Ops, protected []string) []contracts.Fault {
	var out []contracts.Fault
	for i, op := range ops {
		var about struct {
			OpType flow.OpType `json:"op_type"`
			NodeID string      `json:"node_id"`
		}
		if json.Unmarshal(op, &about) == nil && about.OpType != flow.OpAddNode && slices.Contains(protected, about.NodeID) {
			out = append(out, contracts.Fault{Pointer: fmt.Sprintf("/%d/node_id", i), Message: fmt.Sprintf("op %d %s: %s may not be touched", i, about.OpType, about.NodeID)})
		}
	}
	return out
}

// maxFaults bounds the reported faults.
const maxFaults = 15

func faultsOf(e *contracts.Error) []contracts.Fault {
	if len(e.Faults) == 0 {
		return []contracts.Fault{{Pointer: "", Message: e.Message}}
	}
	var out []contracts.Fault
	for _, f := range e.Faults[:min(maxFaults, len(e.Faults))] {
		out = append(out, contracts.Fault{Pointer: present.Clip(f.Pointer, 200), Message: present.Clip(f.Message, 400)})
	}
	return present.Within(out, present.ShareFaults)
}

// unknownTypes returns the unknown kinds of nodes that ops add.
func unknownTypes(ops []flow.Op, defs flow.Definitions) []string {
	var out []string
	for _, op := range ops {
		if add, is := op.(*flow.AddNode); is {
			if _, known := defs.Node(add.NodeName); !known {
				out = append(out, add.NodeName)
			}
		}
	}
	return out
}

var uuidPattern = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// readOps decodes ops. A credential may be given by name or type instead of id if that is
// unambiguous.
func (a *Author) readOps(ctx context.Context, instance string, raw json.RawMessage) ([]flow.Op, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	ops, err := flow.DecodeOps(raw)
	if err != nil {
		return nil, err
	}
	for i, op := range ops {
		bind, is := op.(*flow.BindCredential)
		if !is || uuidPattern.MatchString(bind.CredentialID) {
			continue
		}
		all, _, err := a.site.Credentials(ctx, instance)
		if err != nil {
			return nil, err
		}
		found, err := site.CredentialOf(all, bind.CredentialID)
		if err != nil {
			return ops, contracts.Invalid("the ops do not fit the flow", contracts.Fault{
				Pointer: fmt.Sprintf("/%d/credential_id", i), Message: fmt.Sprintf("op %d BindCredential: %s", i, plainReason(err)),
			})
		}
		bind.CredentialID = found.ID
	}
	return ops, nil
}

func plainReason(err error) string {
	if said, is := errors.AsType[*contracts.ToolError](err); is {
		return said.Message
	}
	return err.Error()
}
