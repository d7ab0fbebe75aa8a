package author

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// UseTemplate names a template of Flowise's marketplace to begin a new flow with.
type UseTemplate struct {
	site.Place
	Template string `json:"template" min:"1" max:"200" description:"Name of the template"`
}

// TemplateFacts describes a template without its graph.
type TemplateFacts struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	NodeTypes []string `json:"node_types"`
	SHA256    string   `json:"sha256"`
}

// Summary names the template.
func (t TemplateFacts) Summary() string { return "template " + present.Clip(t.Name, 80) }

// useTemplate gives the graph of a template, as the base of a new flow.
func (a *Author) useTemplate(ctx context.Context, call domainkit.Call, in UseTemplate) (domainkit.Result[TemplateFacts], error) {
	none := domainkit.Result[TemplateFacts]{}
	template, err := a.site.Template(ctx, call.Instance, in.Template)
	if err != nil {
		return none, err
	}
	ready, err := a.Ready(ctx, call, template)
	if err != nil {
		return none, err
	}
	g := ready.Graph
	facts := TemplateFacts{Name: present.NameOf(template.Name), Type: string(ready.Kind), NodeTypes: present.SortedKeys(present.Histogram(g)), SHA256: g.SHA256()}
	facts.NodeTypes = facts.NodeTypes[:min(20, len(facts.NodeTypes))]
	return domainkit.Result[TemplateFacts]{Facts: facts, Artifacts: map[string]any{site.ArtifactFlow: string(g.FlowData())}}, nil
}

// Ready gives a template with the credentials that it takes, the newest of each type; one
// that wants more than that to run is refused.
func (a *Author) Ready(ctx context.Context, call domainkit.Call, template api.Template) (ready Target, err error) {
	target, err := a.Target(ctx, call.Instance, api.Flow{FlowData: template.FlowData})
	if err != nil {
		return Target{}, err
	}
	mender, err := a.Mender(ctx, call, target)
	if err != nil {
		return Target{}, err
	}
	mender.choose()
	ops, left := mender.Mend(mender.Errors()...)
	if len(left) > 0 {
		return Target{}, domainkit.Refusef(contracts.ErrPrecondition, "the template %s cannot be begun with: %s; %s", present.Clip(template.Name, 80), present.Clip(left[0].Message, 200), left[0].Fix)
	}
	made, err := flow.Compile(target.Graph, ops, target.Defs, flow.Options{Kind: target.Kind})
	if err != nil {
		return Target{}, site.Unreadable(err)
	}
	if target.Graph, err = flow.Decompile(made.FlowData); err != nil {
		return Target{}, site.Unreadable(err)
	}
	return target, nil
}
