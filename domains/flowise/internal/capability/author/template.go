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

// fromTemplate returns the runnable graph of a template of Flowise's marketplace.
func (a *Author) fromTemplate(ctx context.Context, call domainkit.Call, name string) (*flow.Graph, error) {
	template, err := a.site.Template(ctx, call.Instance, name)
	if err != nil {
		return nil, err
	}
	ready, err := a.Ready(ctx, call, template)
	return ready.Graph, err
}

// Ready returns a template with credentials bound, the newest of each type. It refuses a template
// that needs more than that to run.
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
