package write

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/edit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// spoken is the model of a new flow: the kind of its node, the parameter for its name, and its
// credential type, or "" if it needs none.
type spoken struct {
	kind, param, credential string
	name                    json.RawMessage
}

// modelOf parses a model from find_model; "" is the default of the starters.
func modelOf(ctx context.Context, s *site.Site, call domainkit.Call, model string) (spoken, error) {
	if model == "" {
		return spoken{kind: defaultModel, credential: defaultCredential}, nil
	}
	kind, name, named := strings.Cut(model, ":")
	defs, err := s.Definitions(ctx, call.Instance)
	if err != nil {
		return spoken{}, err
	}
	def, known := defs.Node(kind)
	if !named || !known {
		return spoken{}, domainkit.Refusef(contracts.ErrInvalidParameters, "%q is no model of a kind of node that Flowise has; find_model gives one", model)
	}
	out := spoken{kind: kind}
	for _, p := range []string{"model", "modelName"} {
		if _, has := def.Input(p); has {
			out.param = p
		}
	}
	if out.param == "" {
		return spoken{}, domainkit.Refusef(contracts.ErrInvalidParameters, "%s does not take the name of a model", def.Label)
	}
	if def.Credential != nil && !def.Credential.Optional && len(def.Credential.CredentialNames) > 0 {
		out.credential = def.Credential.CredentialNames[0]
	}
	if out.name, err = json.Marshal(name); err != nil {
		return spoken{}, fmt.Errorf("name the model: %w", err)
	}
	return out, nil
}

// speaking returns the base with another model; "" keeps it.
func speaking(ctx context.Context, s *site.Site, call domainkit.Call, begin base, model, credential string) (base, error) {
	if model == "" {
		return begin, nil
	}
	g, err := flow.Decompile([]byte(begin.flowData))
	if err != nil {
		return base{}, site.Unreadable(err)
	}
	defs, err := s.Definitions(ctx, call.Instance)
	if err != nil {
		return base{}, err
	}
	target := edit.Target{Graph: g, Kind: begin.kind, Defs: defs}
	at, err := target.Spot(edit.RoleModel, "")
	if err != nil {
		return base{}, domainkit.Refusef(contracts.ErrPrecondition, "%s: %s", begin.how, site.Reason(err))
	}
	kind, name, _ := strings.Cut(model, ":")
	ops, err := target.Model(at, kind, name, credential)
	if err != nil {
		return base{}, domainkit.Refusef(contracts.ErrPrecondition, "%s: %s", begin.how, site.Reason(err))
	}
	for _, op := range ops {
		raw, err := json.Marshal(op)
		if err != nil {
			return base{}, fmt.Errorf("op %s: %w", op.Type(), err)
		}
		begin.ops = append(begin.ops, raw)
	}
	return begin, nil
}
