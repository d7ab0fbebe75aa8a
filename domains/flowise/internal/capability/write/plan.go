package write

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/author"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// plan is a planned write of one flow. Planning has no effect: a proposal shows the plan, and the
// write plans again.
type plan struct {
	// flow is the current flow; it has no id if it does not exist yet.
	flow api.Flow
	// change is the change of the flow, create the new flow; gone means a deletion.
	change api.FlowChange
	create *api.NewFlow
	gone   bool
	// did describes the write; label is the label of the new version.
	did, label string
	diff       present.Changes
	// checked is the validation of a graph compiled here. If nil, the graph must have been
	// validated before, or there is none.
	checked *author.Checked
	// known means that the graph was live before and needs no validation.
	known bool
	// at is the target server if it is not that of the call.
	at string
	// tests is the result of the flow's tests, if it has any.
	tests string
	// pattern is the id of the pattern of a new flow, or 0.
	pattern int64
}

// after returns the flow after the write.
func (p plan) after() api.Flow {
	f := p.flow
	if p.create != nil {
		return api.Flow{ID: p.create.ID, Name: p.create.Name, Type: p.create.Type, FlowData: p.create.FlowData}
	}
	p.change.Apply(&f)
	return f
}

// makesGraph reports whether a graph is written.
func (p plan) makesGraph() bool { return p.create != nil || p.change.FlowData != nil }

// base returns the hash that binds the write to what it changes. For a new graph that is the hash
// of the graph only, so that a rename meanwhile does not matter.
func (p plan) base() string {
	if p.change.FlowData != nil {
		return site.HashOf(p.flow.FlowData)
	}
	return site.StateHash(p.flow)
}

// planner plans one kind of write.
type planner func(ctx context.Context, call domainkit.Call, parameters json.RawMessage) (plan, error)

// Wish are the parameters of propose.
type Wish struct {
	site.Place
	Write      string         `json:"write" description:"Which write: the name of its capability"`
	Parameters map[string]any `json:"parameters" description:"Its parameters, without graph_sha256; with base_sha256, a flow that is another by now is refused"`
}

// Proposal describes a planned write. It compiles and is valid; otherwise it is refused, so that
// nobody is asked to approve it.
type Proposal struct {
	Write      string `json:"write"`
	ChatflowID string `json:"chatflow_id,omitempty"`
	Name       string `json:"name"`
	Type       string `json:"type"`
	Does       string `json:"does"`
	// BaseSHA256 is the hash of the flow before the write, GraphSHA256 that of the graph after it.
	BaseSHA256  string          `json:"base_sha256,omitempty"`
	GraphSHA256 string          `json:"graph_sha256,omitempty"`
	Changes     present.Changes `json:"changes"`
	// Tests is the result of the tests stored for the flow.
	Tests string `json:"tests,omitempty"`
	// Findings are warnings, and errors of the base.
	Findings []flow.Finding `json:"findings"`
	// Base and Graph hold the two hashes, each as the only choice.
	Base  []Choice `json:"base"`
	Graph []Choice `json:"graph"`
}

// Choice is a hash with a label for the approver.
type Choice struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// Summary describes the write.
func (p Proposal) Summary() string { return present.Clip(p.Name, 80) + ": " + p.Does }

// propose plans a write without sending it.
func (w *Writer) propose(ctx context.Context, call domainkit.Call, in Wish) (domainkit.Result[Proposal], error) {
	none := domainkit.Result[Proposal]{}
	make, known := w.planners[in.Write]
	if !known {
		return none, domainkit.Refusef(contracts.ErrInvalidParameters, "there is no write %q of a flow; there are %s", in.Write, strings.Join(w.writes(), ", "))
	}
	raw, err := json.Marshal(in.Parameters)
	if err != nil {
		return none, fmt.Errorf("parameters of %s: %w", in.Write, err)
	}
	p, err := make(ctx, call, raw)
	if err != nil {
		return none, err
	}
	if err := p.mayBeWritten(); err != nil {
		return none, err
	}
	if p.flow.ID != "" && !p.gone {
		call.Instance = cmp.Or(p.at, call.Instance)
		if p.tests, err = w.trial(ctx, call, p.flow, p.after().FlowData); err != nil {
			return none, err
		}
	}
	out := domainkit.Result[Proposal]{Facts: p.proposal(in.Write)}
	if p.makesGraph() {
		out.Artifacts = map[string]any{site.ArtifactFlow: p.after().FlowData}
	}
	return out, nil
}

// proposal describes a plan.
func (p plan) proposal(name string) Proposal {
	now := p.after()
	out := Proposal{
		Write: name, ChatflowID: p.flow.ID, Name: present.NameOf(now.Name), Type: string(now.Type), Does: p.did, Changes: p.diff,
		Tests: p.tests, Findings: []flow.Finding{}, Base: []Choice{}, Graph: []Choice{},
	}
	if p.checked != nil {
		out.Findings = p.checked.Findings[:min(8, len(p.checked.Findings))]
	}
	switch {
	case p.flow.ID != "":
		out.BaseSHA256 = p.base()
		out.Base = []Choice{{out.BaseSHA256, p.looked()}}
	case p.create != nil:
		out.Base = []Choice{{"", "a new flow"}}
	}
	if p.makesGraph() {
		out.GraphSHA256 = site.HashOf(now.FlowData)
		out.Graph = []Choice{{out.GraphSHA256, present.Clip(p.differs(), 290)}}
	}
	return out
}

// looked describes the reviewed flow. For a write without a graph it also describes the write,
// because no other label does.
func (p plan) looked() string {
	text := fmt.Sprintf("%s as changed %s", present.Clip(p.flow.Name, 60), p.flow.UpdatedDate.UTC().Format("2006-01-02 15:04:05"))
	if p.tests != "" {
		text = p.tests + "; " + text
	}
	if !p.makesGraph() {
		return present.Clip(p.did+"; "+text, 290)
	}
	return present.Clip(text, 290)
}

// differs describes the changes of the graph.
func (p plan) differs() string {
	text := p.did
	if lines := p.diff.Lines(); len(lines) > 0 {
		text = p.did + ": " + strings.Join(lines, "; ")
	}
	if p.checked != nil && p.checked.Errors > 0 {
		text += "; wrong already: " + p.checked.Findings[0].Message
	}
	return text
}

// mayBeWritten refuses a plan whose changes add errors.
func (p plan) mayBeWritten() error {
	if p.checked == nil || p.checked.OK {
		return nil
	}
	return p.checked.Refusal()
}

// compiled plans a new graph of a flow by ops.
func (w *Writer) compiled(ctx context.Context, call domainkit.Call, f api.Flow, ops author.Ops) (plan, error) {
	old, err := flow.Decompile([]byte(f.FlowData))
	if err != nil {
		return plan{}, site.Unreadable(err)
	}
	made, compiled, err := w.author.Compile(ctx, call, old, ops, site.KindOf(f.Type))
	if err != nil {
		return plan{}, err
	}
	if !compiled.OK {
		return plan{}, notCompiled(compiled)
	}
	_, checked, err := w.author.CheckChange(ctx, call.Instance, f.FlowData, string(made.FlowData), made.Kind)
	if err != nil {
		return plan{}, err
	}
	next := string(made.FlowData)
	return plan{flow: f, change: api.FlowChange{FlowData: &next}, did: compiled.Changes.Line, diff: compiled.Changes, checked: &checked}, nil
}
