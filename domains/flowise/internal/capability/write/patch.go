package write

import (
	"context"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/author"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Patch are the parameters of apply_patch: ops, which are compiled and validated, or a graph that
// validate_flow accepted in this run.
type Patch struct {
	site.FlowRef
	policy.Base
	Ops      author.Ops `json:"ops,omitempty" description:"Edits, in the form of the Patch IR"`
	FlowData string     `json:"flow_data,omitempty" description:"The whole new graph, which validate_flow must have passed in this run"`
	Label    string     `json:"label,omitempty" max:"60" description:"Label of the new version"`
}

// patch plans a change by ops or by a whole graph.
func (w *Writer) patch(ctx context.Context, call domainkit.Call, f api.Flow, in Patch) (plan, error) {
	if (len(in.Ops) > 0) == (in.FlowData != "") {
		return plan{}, domainkit.Refusef(contracts.ErrInvalidParameters, "a patch has either ops or flow_data")
	}
	if in.FlowData != "" {
		p, err := w.replaced(ctx, call, f, in.FlowData)
		p.label = in.Label
		return p, err
	}
	p, err := w.compiled(ctx, call, f, in.Ops)
	p.label = in.Label
	return p, err
}

// replaced plans a whole new graph.
func (w *Writer) replaced(ctx context.Context, call domainkit.Call, f api.Flow, next string) (plan, error) {
	diff, err := w.difference(ctx, call, f.FlowData, next)
	return plan{flow: f, change: api.FlowChange{FlowData: &next}, did: diff.Line, diff: diff}, err
}

// difference describes the changes between two graphs.
func (w *Writer) difference(ctx context.Context, call domainkit.Call, before, after string) (present.Changes, error) {
	defs, err := w.site.Definitions(ctx, call.Instance)
	if err != nil {
		return present.Changes{}, err
	}
	var graphs [2]*flow.Graph
	for i, flowData := range []string{before, after} {
		if graphs[i], err = flow.Decompile([]byte(flowData)); err != nil {
			return present.Changes{}, site.Unreadable(err)
		}
	}
	return present.ChangesOf(flow.Compare(graphs[0], graphs[1], defs)), nil
}

// Renaming are the parameters of rename_chatflow.
type Renaming struct {
	site.FlowRef
	policy.Base
	Name string `json:"name" min:"1" max:"200" description:"The new name"`
}

func (*Writer) rename(_ context.Context, _ domainkit.Call, f api.Flow, in Renaming) (plan, error) {
	if in.Name == f.Name {
		return plan{}, noChange(f, "has this name already")
	}
	return plan{flow: f, change: api.FlowChange{Name: &in.Name}, did: fmt.Sprintf("renamed from %s to %s", present.Clip(f.Name, 80), present.Clip(in.Name, 80))}, nil
}

// Deployment are the parameters of setting whether a chatflow is deployed.
type Deployment struct {
	site.FlowRef
	policy.Base
	Deployed *bool `json:"deployed,omitempty" description:"Whether it is to be deployed: marked as ready for use in Flowise; true unless given"`
}

func (*Writer) deploy(_ context.Context, _ domainkit.Call, f api.Flow, in Deployment) (plan, error) {
	wanted := in.Deployed == nil || *in.Deployed
	did, state := "marked as deployed", "is deployed already"
	if !wanted {
		did, state = "marked as not deployed", "is not deployed"
	}
	if wanted == (f.Deployed != nil && *f.Deployed) {
		return plan{}, noChange(f, state)
	}
	return plan{flow: f, change: api.FlowChange{Deployed: &wanted}, did: did}, nil
}

// Filing are the parameters of setting a chatflow's categories, which Flowise has instead of
// folders.
type Filing struct {
	site.FlowRef
	policy.Base
	Category string `json:"category" max:"200" description:"Category of the flow; several are separated by semicolons, and nothing takes it out of all"`
}

func (*Writer) file(_ context.Context, _ domainkit.Call, f api.Flow, in Filing) (plan, error) {
	was := ""
	if f.Category != nil {
		was = *f.Category
	}
	if strings.TrimSpace(in.Category) == was {
		return plan{}, noChange(f, "is in this category already")
	}
	wanted := strings.TrimSpace(in.Category)
	did := fmt.Sprintf("category %q instead of %q", wanted, was)
	return plan{flow: f, change: api.FlowChange{Category: &wanted}, did: did}, nil
}

// Deletion are the parameters of delete_chatflow.
type Deletion struct {
	site.FlowRef
	policy.Base
}

// delete plans a deletion. The graph stays stored as a version; the messages are lost.
func (*Writer) delete(_ context.Context, _ domainkit.Call, f api.Flow, _ Deletion) (plan, error) {
	return plan{flow: f, gone: true, did: "deleted with its messages; its graph is kept"}, nil
}
