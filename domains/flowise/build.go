package flowise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// Why a flow cannot be written yet.
const (
	failureOps        = "ops"
	failureSchema     = "schema_mismatch"
	failureStructural = "structural"
	failureDrift      = "schema_drift"
)

// Recipe says how to make a graph of another one.
type Recipe struct {
	FlowData string `json:"flow_data,omitempty" description:"The graph to begin with; none begins with an empty one"`
	Type     string `json:"type,omitempty" enum:"CHATFLOW,AGENTFLOW,MULTIAGENT" description:"Type of the flow; guessed from its nodes unless given"`
	Ops      Ops    `json:"ops" description:"Edits, in the form of the Patch IR"`
	// Fingerprint is that of the definitions that the ops were thought out with.
	Fingerprint string `json:"schema_fingerprint,omitempty" description:"Fingerprint of the node definitions that the ops were made with"`
}

// Compiled is a graph that was made, or why it could not be.
type Compiled struct {
	OK         bool   `json:"ok"`
	SHA256     string `json:"sha256"`
	BaseSHA256 string `json:"base_sha256"`
	Type       string `json:"type"`
	OpCount    int    `json:"op_count"`
	NodeCount  int    `json:"node_count"`
	// Added are the ids of the new nodes, in the order of the ops.
	Added            []string          `json:"added"`
	Changes          Changes           `json:"changes"`
	FailureType      string            `json:"failure_type,omitempty"`
	Faults           []contracts.Fault `json:"faults"`
	MissingNodeTypes []string          `json:"missing_node_types"`
	Fingerprint      string            `json:"schema_fingerprint"`
	Drift            string            `json:"drift,omitempty"`
}

// Summary says what was made.
func (c Compiled) Summary() string {
	if !c.OK {
		return fmt.Sprintf("does not compile: %s", firstFault(c.Faults))
	}
	return fmt.Sprintf("compiled %s into a %s with %s: %s", count(c.OpCount, "op"), c.Type, count(c.NodeCount, "node"), c.Changes.Line)
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

// Changes is a diff in few words.
type Changes struct {
	Line          string   `json:"line"`
	NodesAdded    []string `json:"nodes_added"`
	NodesRemoved  []string `json:"nodes_removed"`
	ParamsChanged []string `json:"params_changed"`
	EdgesAdded    []string `json:"edges_added"`
	EdgesRemoved  []string `json:"edges_removed"`
	Other         []string `json:"other"`
	More          int      `json:"more,omitempty"`
}

// maxChanges bounds each list of a diff.
const maxChanges = 20

func changesOf(d flow.Diff) Changes {
	var out Changes
	list := func(items []string) []string {
		kept := make([]string, 0, min(maxChanges, len(items)))
		for _, item := range items[:min(maxChanges, len(items))] {
			kept = append(kept, clip(item, 160))
		}
		out.More += len(items) - len(kept)
		return kept
	}
	var params []string
	for _, p := range d.Params {
		params = append(params, fmt.Sprintf("%s.%s: %s → %s", p.NodeID, p.Param, clip(p.Before, 50), clip(p.After, 50)))
	}
	other := append([]string{}, d.Other...)
	for _, r := range d.NodesRenamed {
		other = append(other, fmt.Sprintf("%s renamed from %s to %s", r.ID, r.Before, r.After))
	}
	for _, id := range d.Credentials {
		other = append(other, id+" uses another credential")
	}
	out.NodesAdded, out.NodesRemoved = list(refs(d.NodesAdded)), list(refs(d.NodesRemoved))
	out.ParamsChanged, out.EdgesAdded, out.EdgesRemoved = list(params), list(d.EdgesAdded), list(d.EdgesRemoved)
	out.Other = list(other)
	out.Line = changeLine(d, len(other)+len(d.NodesMoved))
	out.fit()
	return out
}

func refs(nodes []flow.NodeRef) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, fmt.Sprintf("%s (%s)", n.ID, n.Name))
	}
	return out
}

func changeLine(d flow.Diff, other int) string {
	var parts []string
	for _, p := range []struct {
		n          int
		what, done string
	}{
		{len(d.NodesAdded), "node", " added"},
		{len(d.NodesRemoved), "node", " removed"},
		{len(d.Params), "parameter", " changed"},
		{len(d.EdgesAdded), "connection", " added"},
		{len(d.EdgesRemoved), "connection", " removed"},
		{other, "other change", ""},
	} {
		if p.n > 0 {
			parts = append(parts, count(p.n, p.what)+p.done)
		}
	}
	if len(parts) == 0 {
		return "no changes"
	}
	return strings.Join(parts, ", ")
}

// compileFlow applies ops to a graph. What does not fit is told in the facts,
// because whoever wrote the ops can mend them.
func (d *domain) compileFlow(ctx context.Context, call domainkit.Call, in Recipe) (domainkit.Result[Compiled], error) {
	drift, err := d.driftOf(ctx, call.Instance, in.Fingerprint)
	if err != nil {
		return domainkit.Result[Compiled]{}, err
	}
	base := flow.Empty()
	if in.FlowData != "" {
		if base, err = flow.Decompile([]byte(in.FlowData)); err != nil {
			return domainkit.Result[Compiled]{}, unreadable(err)
		}
	}
	made, out, err := d.compile(ctx, call, base, in.Ops, flow.Kind(in.Type))
	if err != nil {
		return domainkit.Result[Compiled]{}, err
	}
	out.Drift = drift.note
	if drift.forbids {
		out.OK, out.FailureType = false, failureDrift
		out.Faults = append(out.Faults, contracts.Fault{Pointer: "/schema_fingerprint", Message: drift.note})
	}
	if !out.OK {
		return domainkit.Result[Compiled]{Facts: out}, nil
	}
	return domainkit.Result[Compiled]{Facts: out, Artifacts: map[string]any{artifactFlow: string(made.FlowData)}}, nil
}

// compile makes a graph and describes it; ops that do not fit are in the
// description.
func (d *domain) compile(ctx context.Context, call domainkit.Call, base *flow.Graph, ops Ops, kind flow.Kind) (flow.Result, Compiled, error) {
	defs, err := d.definitions(ctx, call.Instance)
	if err != nil {
		return flow.Result{}, Compiled{}, err
	}
	out := Compiled{BaseSHA256: base.SHA256(), Fingerprint: defs.Fingerprint(), Type: string(kind)}
	decoded, err := d.readOps(ctx, call.Instance, ops.raw())
	if err == nil {
		var made flow.Result
		out.OpCount = len(decoded)
		if made, err = flow.Compile(base, decoded, defs, flow.Options{Kind: kind}); err == nil {
			out.OK, out.SHA256, out.Type, out.NodeCount = true, made.SHA256, string(made.Kind), len(made.Graph.Nodes())
			out.Added, out.Changes = made.Added, changesOf(made.Diff)
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

// maxFaults bounds what is told at once.
const maxFaults = 15

func faultsOf(e *contracts.Error) []contracts.Fault {
	if len(e.Faults) == 0 {
		return []contracts.Fault{{Pointer: "", Message: e.Message}}
	}
	var out []contracts.Fault
	for _, f := range e.Faults[:min(maxFaults, len(e.Faults))] {
		out = append(out, contracts.Fault{Pointer: clip(f.Pointer, 200), Message: clip(f.Message, 400)})
	}
	return within(out, shareFaults)
}

// unknownTypes lists the kinds of nodes that ops add and nobody knows.
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

// readOps decodes ops. A credential may be named by its name or type instead
// of its id, as long as only one fits.
func (d *domain) readOps(ctx context.Context, instance string, raw json.RawMessage) ([]flow.Op, error) {
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
		all, _, err := d.credentials(ctx, instance)
		if err != nil {
			return nil, err
		}
		found, err := credentialOf(all, bind.CredentialID)
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
