package author

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// Graph is flowData with its type.
type Graph struct {
	FlowData string `json:"flow_data" description:"The graph of a flow, as JSON text"`
	Type     string `json:"type,omitempty" enum:"CHATFLOW,AGENTFLOW,MULTIAGENT" description:"Type of the flow; guessed from its nodes unless given"`
}

// summarizeFlow describes a graph.
func (a *Author) summarizeFlow(ctx context.Context, call domainkit.Call, in Graph) (present.Digest, error) {
	g, err := flow.Decompile([]byte(in.FlowData))
	if err != nil {
		return present.Digest{}, site.Unreadable(err)
	}
	defs, err := a.site.Definitions(ctx, call.Instance)
	if err != nil {
		return present.Digest{}, err
	}
	return present.DigestOf(g, flow.Kind(in.Type), defs), nil
}

// Checked is the result of a validation.
type Checked struct {
	OK     bool   `json:"ok"`
	SHA256 string `json:"sha256"`
	Type   string `json:"type"`
	// Authorized means that exactly these bytes may now be written once in this run.
	Authorized bool `json:"authorized"`
	Errors     int  `json:"errors"`
	Warnings   int  `json:"warnings"`
	// ErrorsBefore counts the errors that the base had already; they do not prevent a write.
	ErrorsBefore     int            `json:"errors_before,omitempty"`
	Findings         []flow.Finding `json:"findings"`
	FailureType      string         `json:"failure_type,omitempty"`
	MissingNodeTypes []string       `json:"missing_node_types"`
	Fingerprint      string         `json:"schema_fingerprint"`
}

// Summary reports the first error, if any.
func (c Checked) Summary() string {
	switch {
	case c.OK && c.ErrorsBefore > 0:
		return fmt.Sprintf("nothing new is wrong; the flow had %s already: %s", present.Count(c.ErrorsBefore, "error"), c.Findings[0].Message)
	case c.OK && c.Warnings == 0:
		return "the flow is valid"
	case c.OK:
		return fmt.Sprintf("the flow is valid, with %s: %s", present.Count(c.Warnings, "warning"), c.Findings[0].Message)
	}
	return fmt.Sprintf("the flow has %s: %s", present.Count(c.Errors, "error"), c.Findings[0].Message)
}

// maxFindings bounds the reported findings.
const maxFindings = 20

func (a *Author) validateFlow(ctx context.Context, call domainkit.Call, in Change) (domainkit.Result[Checked], error) {
	report, out, err := a.CheckChange(ctx, call.Instance, in.Base, in.FlowData, flow.Kind(in.Type))
	if err != nil {
		return domainkit.Result[Checked]{}, err
	}
	if out.OK && call.RunID != "" {
		if err := a.site.Data.Authorize(ctx, call.RunID, out.SHA256); err != nil {
			return domainkit.Result[Checked]{}, err
		}
		out.Authorized = true
	}
	return domainkit.Result[Checked]{Facts: out, Artifacts: map[string]any{"validation_report": report}}, nil
}

// Check validates a graph; errors are sorted before warnings.
func (a *Author) Check(ctx context.Context, instance, flowData string, kind flow.Kind) (flow.Report, Checked, error) {
	return a.CheckChange(ctx, instance, "", flowData, kind)
}

// CheckExport validates a graph from an export, which has no credentials and secrets: missing ones
// are warnings.
func (a *Author) CheckExport(ctx context.Context, instance, flowData string, kind flow.Kind) (flow.Report, Checked, error) {
	return a.check(ctx, instance, "", flowData, flow.Check{Kind: kind, Template: true})
}

// CheckChange validates a changed graph. Errors that the base had already are reported but do not
// make it invalid.
func (a *Author) CheckChange(ctx context.Context, instance, before, flowData string, kind flow.Kind) (flow.Report, Checked, error) {
	return a.check(ctx, instance, before, flowData, flow.Check{Kind: kind})
}

func (a *Author) check(ctx context.Context, instance, before, flowData string, how flow.Check) (flow.Report, Checked, error) {
	defs, err := a.site.Definitions(ctx, instance)
	if err != nil {
		return flow.Report{}, Checked{}, err
	}
	how.Credentials = a.site.CredentialTypes(ctx, instance, flowData)
	report := flow.Validate([]byte(flowData), defs, how)
	failed, warned := report.Errors(), report.Warnings()
	added, old := failed, []flow.Finding(nil)
	if before != "" {
		earlier := flow.Validate([]byte(before), defs, flow.Check{Kind: how.Kind, Credentials: a.site.CredentialTypes(ctx, instance, before)})
		added, old = report.Split(earlier)
	}
	out := Checked{
		OK: len(added) == 0, SHA256: report.SHA256, Type: string(report.Kind), Errors: len(failed), ErrorsBefore: len(old), Warnings: len(warned),
		MissingNodeTypes: flow.Report{Findings: added}.UnknownKinds(), Fingerprint: defs.Fingerprint(),
	}
	for _, f := range slices.Concat(added, old, warned) {
		f.Message, f.Fix, f.NodeID, f.Pointer = present.Clip(f.Message, 300), present.Clip(f.Fix, 200), present.Clip(f.NodeID, 100), present.Clip(f.Pointer, 200)
		if out.Findings = append(out.Findings, f); len(out.Findings) == maxFindings {
			break
		}
	}
	out.Findings, out.MissingNodeTypes = present.Within(out.Findings, present.ShareFindings), present.Within(out.MissingNodeTypes, present.ShareKinds)
	switch {
	case len(out.MissingNodeTypes) > 0:
		out.FailureType = failureSchema
	case !out.OK:
		out.FailureType = failureStructural
	}
	return report, out, nil
}

// Refusal returns the error for a graph that may not be written.
func (c Checked) Refusal() error {
	refusal := domainkit.Refusef(contracts.ErrPrecondition, "%s; %s", c.Summary(), c.Findings[0].Fix)
	refusal.Detail = map[string]any{"findings": c.Findings}
	return refusal
}

// Change is a graph to validate, with its base.
type Change struct {
	Graph
	Base string `json:"base,omitempty" description:"The graph that it was made of; what was wrong there already does not count"`
}

// Proposal is a change of a chatflow to preview.
type Proposal struct {
	site.FlowRef
	Ops Ops `json:"ops" min:"1" description:"Edits, in the form of the Patch IR"`
}

// Preview describes the effect of a proposal.
type Preview struct {
	Compiled
	ChatflowID string         `json:"chatflow_id"`
	Name       string         `json:"name"`
	Valid      bool           `json:"valid"`
	Findings   []flow.Finding `json:"findings"`
}

// Summary reports the changes.
func (p Preview) Summary() string {
	switch {
	case !p.OK:
		return p.Compiled.Summary()
	case !p.Valid:
		return fmt.Sprintf("%s: %s, but the result is not valid: %s", present.Clip(p.Name, 80), p.Changes.Line, p.Findings[0].Message)
	}
	return fmt.Sprintf("%s: %s", present.Clip(p.Name, 80), p.Changes.Line)
}

// previewChanges compiles ops against the current flow without writing anything.
func (a *Author) previewChanges(ctx context.Context, call domainkit.Call, in Proposal) (domainkit.Result[Preview], error) {
	f, base, err := a.site.GraphOf(ctx, call, in.ChatflowID)
	if err != nil {
		return domainkit.Result[Preview]{}, err
	}
	made, compiled, err := a.Compile(ctx, call, base, in.Ops, site.KindOf(f.Type))
	if err != nil {
		return domainkit.Result[Preview]{}, err
	}
	out := domainkit.Result[Preview]{Facts: Preview{Compiled: compiled, ChatflowID: f.ID, Name: present.NameOf(f.Name)}}
	if !compiled.OK {
		return out, nil
	}
	_, checked, err := a.CheckChange(ctx, call.Instance, f.FlowData, string(made.FlowData), made.Kind)
	if err != nil {
		return domainkit.Result[Preview]{}, err
	}
	out.Facts.Valid, out.Facts.Findings = checked.OK, checked.Findings[:min(8, len(checked.Findings))]
	out.Artifacts = map[string]any{site.ArtifactFlow: string(made.FlowData), "diff": made.Diff}
	return out, nil
}

// Plan is a write about to be requested.
type Plan struct {
	SHA256      string `json:"sha256" pattern:"^[0-9a-f]{64}$" description:"Hash of the graph to be written"`
	OpCount     int    `json:"op_count" min:"0" description:"How many ops it took"`
	MaxOps      int    `json:"max_ops" default:"20" min:"1" max:"1000" description:"How many it may take"`
	MaxRepairs  int    `json:"max_repairs" default:"2" min:"0" max:"10" description:"How many definitions may be repaired in a run"`
	Retries     int    `json:"retries" default:"0" min:"0" description:"How often it was tried again"`
	MaxRetries  int    `json:"max_retries" default:"1" min:"0" max:"10" description:"How often it may be tried again"`
	Fingerprint string `json:"schema_fingerprint,omitempty" description:"Fingerprint of the node definitions that it was made with"`
}

// Cleared says whether the write may be requested.
type Cleared struct {
	OK       bool     `json:"ok"`
	Problems []string `json:"problems"`
	Repairs  int      `json:"repairs"`
	Drift    string   `json:"drift,omitempty"`
	// Changed are the kinds of nodes whose definition on the server differs from the stored one.
	Changed []string `json:"changed_node_types"`
}

// Summary reports what prevents the write.
func (c Cleared) Summary() string {
	if c.OK {
		return "ready to be written"
	}
	return "not ready to be written: " + strings.Join(c.Problems, "; ")
}

func (a *Author) preflightFlow(ctx context.Context, call domainkit.Call, in Plan) (Cleared, error) {
	repairs, err := a.site.Data.Repairs(ctx, call.Instance, call.RunID)
	if err != nil {
		return Cleared{}, err
	}
	permission, err := a.site.Data.Authorized(ctx, call.RunID, in.SHA256)
	if err != nil {
		return Cleared{}, err
	}
	moved, err := a.rules.DriftOf(ctx, call.Instance, in.Fingerprint)
	if err != nil {
		return Cleared{}, err
	}
	live, err := a.rules.LiveDrift(ctx, call.Instance)
	if err != nil {
		return Cleared{}, err
	}
	out := Cleared{
		Problems: []string{}, Repairs: repairs, Drift: cmp.Or(live.Note, moved.Note), Changed: live.Nodes[:min(policy.MaxDriftNodes, len(live.Nodes))],
	}
	for _, p := range []struct {
		fails bool
		says  string
	}{
		{in.OpCount > in.MaxOps, fmt.Sprintf("%d ops are more than the %d of the budget", in.OpCount, in.MaxOps)},
		{repairs > in.MaxRepairs, fmt.Sprintf("%d repaired definitions are more than the %d of the budget", repairs, in.MaxRepairs)},
		{in.Retries > in.MaxRetries, fmt.Sprintf("%d retries are more than the %d of the budget", in.Retries, in.MaxRetries)},
		{permission != store.Granted, policy.RefusalWords(permission)},
		{moved.Forbids, moved.Note},
		{live.Forbids, live.Note},
	} {
		if p.fails {
			out.Problems = append(out.Problems, p.says)
		}
	}
	out.OK = len(out.Problems) == 0
	return out, nil
}

// Suspects are kinds of nodes whose definitions may be missing or outdated.
type Suspects struct {
	NodeTypes []string `json:"node_types" min:"1" max:"10" description:"Kinds of nodes whose definitions to ask the server for"`
	Budget    int      `json:"budget" default:"10" min:"1" max:"10" description:"How many definitions may be asked for in a run"`
}

// Repaired is the result of repair_schema.
type Repaired struct {
	Repaired    []string       `json:"repaired_node_types"`
	Results     []RepairResult `json:"results"`
	Count       int            `json:"count"`
	Fingerprint string         `json:"schema_fingerprint"`
}

// RepairResult is the result for one kind, with the reason.
type RepairResult struct {
	NodeType string `json:"node_type"`
	Action   string `json:"action"`
	Reason   string `json:"reason"`
}

// Summary reports the repaired kinds.
func (r Repaired) Summary() string {
	if len(r.Repaired) == 0 {
		return "no definition was repaired"
	}
	return "repaired the definitions of " + strings.Join(r.Repaired, ", ")
}

// Actions of a repair.
const (
	repairAdded     = "added"
	repairUpdated   = "updated"
	repairUnchanged = "unchanged"
	repairUnknown   = "unknown"
	repairSkipped   = "skipped"
)

// repairSchema reads definitions from the server one by one, and stores those that are new or have
// changed.
func (a *Author) repairSchema(ctx context.Context, call domainkit.Call, in Suspects) (Repaired, error) {
	defs, err := a.site.Definitions(ctx, call.Instance)
	if err != nil {
		return Repaired{}, err
	}
	spent, err := a.site.Data.Repairs(ctx, call.Instance, call.RunID)
	if err != nil {
		return Repaired{}, err
	}
	out, before := Repaired{Repaired: []string{}}, defs.Fingerprint()
	for _, name := range in.NodeTypes {
		result := RepairResult{name, repairSkipped, "the budget of repairs is used up"}
		if spent < in.Budget {
			if defs, result, err = a.repairOne(ctx, call, defs, name); err != nil {
				return Repaired{}, err
			}
		}
		if result.Action == repairAdded || result.Action == repairUpdated {
			spent++
			out.Repaired = append(out.Repaired, name)
		}
		out.Results = append(out.Results, result)
	}
	out.Count, out.Fingerprint = spent, defs.Fingerprint()
	if defs.Fingerprint() != before {
		return out, a.site.KeepDefinitions(ctx, call.Instance, defs)
	}
	return out, nil
}

func (a *Author) repairOne(ctx context.Context, call domainkit.Call, defs *knowledge.Snapshot, name string) (*knowledge.Snapshot, RepairResult, error) {
	client, err := a.site.Pool.Client(call.Instance)
	if err != nil {
		return nil, RepairResult{}, site.Failure(err)
	}
	client.Forget() // the cached definitions may be the cause
	raw, err := client.Node(ctx, name)
	if api.IsKind(err, api.KindNotFound) {
		return defs, RepairResult{name, repairUnknown, "the server does not know it either"}, nil
	}
	if err != nil {
		return nil, RepairResult{}, site.Failure(err)
	}
	fresh, err := knowledge.DeriveNode(raw)
	if err != nil {
		return nil, RepairResult{}, site.Failure(err)
	}
	result := gate(defs, fresh)
	if result.Action == repairUnchanged {
		return defs, result, nil
	}
	if defs, err = defs.With(fresh); err != nil {
		return nil, RepairResult{}, err
	}
	return defs, result, a.site.Data.AddRepair(ctx, store.Repair{Instance: call.Instance, RunID: call.RunID, Node: name, Action: result.Action, Reason: result.Reason})
}

// gate decides by version and hash whether a definition is stored.
func gate(defs *knowledge.Snapshot, fresh *knowledge.Definition) RepairResult {
	old, known := defs.Node(fresh.Name)
	switch {
	case !known:
		return RepairResult{fresh.Name, repairAdded, fmt.Sprintf("it was not known; the server has version %v", fresh.Version)}
	case old.Hash == fresh.Hash:
		return RepairResult{fresh.Name, repairUnchanged, fmt.Sprintf("version %v and hash are those of the server", old.Version)}
	case old.Version == fresh.Version:
		return RepairResult{fresh.Name, repairUpdated, fmt.Sprintf("version %v is the same, but its definition is another", old.Version)}
	default:
		return RepairResult{fresh.Name, repairUpdated, fmt.Sprintf("the server has version %v, known was %v", fresh.Version, old.Version)}
	}
}
