package write

import (
	"context"
	"encoding/json"
	"errors"
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
	"github.com/manifold-run/manifold/domains/flowise/internal/transfer"
)

// Promotion are the parameters of a promotion: copying a flow to another server.
type Promotion struct {
	site.FlowRef
	policy.Base
	To string `json:"to" min:"1" max:"100" description:"The Flowise that it is taken to"`
}

// promotion plans that a flow becomes on another server what it is here.
func promotion(ctx context.Context, w *Writer, call domainkit.Call, in Promotion) (plan, error) {
	if in.To == call.Instance {
		return plan{}, domainkit.Refusef(contracts.ErrInvalidParameters, "it is on %s already; name the Flowise that it is taken to", in.To)
	}
	f, err := w.site.Flow(ctx, call, in.ChatflowID)
	if err != nil {
		return plan{}, err
	}
	file, err := site.FileOf(ctx, w.site, call.Instance, f)
	if err != nil {
		return plan{}, err
	}
	from := call.Instance
	call.Instance = in.To
	return carry(ctx, w, call, file, fmt.Sprintf("taken from %s to %s", from, in.To))
}

// carry plans that the server of the call gets the flow of a file, as a new flow or in place of the
// one with its name. Credentials and variables are matched by name; missing ones are refused by
// name.
func carry(ctx context.Context, w *Writer, call domainkit.Call, file transfer.File, did string) (plan, error) {
	client, err := w.site.Pool.Client(call.Instance)
	if err != nil {
		return plan{}, site.Failure(err)
	}
	if err := variablesThere(ctx, client, call.Instance, transfer.Variables(string(file.Flow))); err != nil {
		return plan{}, err
	}
	g, err := flow.Decompile(file.Flow)
	if err != nil {
		return plan{}, site.Unreadable(err)
	}
	ops, err := rebinding(ctx, w.site, call, g, file)
	if err != nil {
		return plan{}, err
	}
	now, err := calledSo(ctx, client, call.Instance, file.Name)
	if err != nil {
		return plan{}, err
	}
	next, err := withOps(ctx, w, call, g, ops, flow.Kind(file.Type))
	if err != nil {
		return plan{}, err
	}
	_, checked, err := w.author.CheckChange(ctx, call.Instance, now.FlowData, next, flow.Kind(file.Type))
	if err != nil {
		return plan{}, err
	}
	return placed(ctx, w, call, file, now, next, plan{did: did, checked: &checked})
}

// withOps applies ops to a graph; without ops it is unchanged.
func withOps(ctx context.Context, w *Writer, call domainkit.Call, g *flow.Graph, ops []json.RawMessage, kind flow.Kind) (string, error) {
	if len(ops) == 0 {
		return string(g.FlowData()), nil
	}
	made, compiled, err := w.author.Compile(ctx, call, g, ops, kind)
	if err != nil {
		return "", err
	}
	if !compiled.OK {
		return "", notCompiled(compiled)
	}
	return string(made.FlowData), nil
}

// placed plans that a graph becomes a new flow, or the graph of the flow with its name.
func placed(ctx context.Context, w *Writer, call domainkit.Call, file transfer.File, now api.Flow, next string, p plan) (plan, error) {
	p.at = call.Instance
	before := now.FlowData
	if now.ID == "" {
		before = `{"nodes":[],"edges":[]}`
		p.create = &api.NewFlow{Name: file.Name, Type: api.FlowType(file.Type), FlowData: next, ChatbotConfig: file.ChatbotConfig}
		if file.Category != "" {
			p.create.Category = &file.Category
		}
	} else {
		if string(now.Type) != file.Type {
			return plan{}, domainkit.Refusef(contracts.ErrPrecondition, "%s has a flow called %q already, which is a %s, and this is a %s; give it another name", call.Instance, present.Clip(file.Name, 80), now.Type, file.Type)
		}
		if next == now.FlowData {
			return plan{}, noChange(now, "is like this on "+call.Instance+" already")
		}
		p.flow, p.change = now, api.FlowChange{FlowData: &next}
	}
	diff, err := w.difference(ctx, call, before, next)
	p.diff = diff
	return p, err
}

// variablesThere refuses a graph that uses variables missing on a server.
func variablesThere(ctx context.Context, client *api.Client, instance string, wanted []string) error {
	if len(wanted) == 0 {
		return nil
	}
	all, err := client.Variables(ctx)
	if err != nil {
		return site.Failure(err)
	}
	missing := slices.DeleteFunc(slices.Clone(wanted), func(name string) bool {
		return slices.ContainsFunc(all, func(v api.Variable) bool { return v.Name == name })
	})
	if len(missing) == 0 {
		return nil
	}
	return domainkit.Refusef(contracts.ErrPrecondition, "%s has no variable %s; create it there first", instance, strings.Join(missing, ", "))
}

// rebinding returns the ops that bind the credentials with the same names and types on another
// server.
func rebinding(ctx context.Context, s *site.Site, call domainkit.Call, g *flow.Graph, file transfer.File) ([]json.RawMessage, error) {
	defs, err := s.Definitions(ctx, call.Instance)
	if err != nil {
		return nil, err
	}
	var ops []json.RawMessage
	var all []knowledge.Credential
	for _, place := range flow.CredentialPlaces(g, defs) {
		if place.Bound == "" {
			continue
		}
		if all == nil {
			if all, _, err = s.Credentials(ctx, call.Instance); err != nil {
				return nil, err
			}
		}
		named := file.Credentials[place.Bound]
		at := slices.IndexFunc(all, func(c knowledge.Credential) bool { return c.Name == named.Name && c.Type == named.Type })
		switch {
		case named.Name == "":
			return nil, domainkit.Refusef(contracts.ErrPrecondition, "%s uses a credential that is not there any more; bind another first", place.NodeID)
		case at < 0:
			return nil, domainkit.Refusef(contracts.ErrPrecondition, "%s has no credential %q of type %s, which %s needs; create it there under this name first", call.Instance, named.Name, named.Type, place.NodeID)
		case all[at].ID == place.Bound:
			continue
		}
		op, err := json.Marshal(place.Bind(all[at].ID))
		if err != nil {
			return nil, fmt.Errorf("bind the credential to %s: %w", place.NodeID, err)
		}
		ops = append(ops, op)
	}
	return ops, nil
}

// calledSo returns the flow of a server with this name, or a flow without an id if there is none.
// It refuses several.
func calledSo(ctx context.Context, client *api.Client, instance, name string) (api.Flow, error) {
	all, _, err := site.AllFlows(ctx, client, "")
	if err != nil {
		return api.Flow{}, err
	}
	same := slices.DeleteFunc(all, func(f api.Flow) bool { return f.Name != name })
	switch len(same) {
	case 0:
		return api.Flow{}, nil
	case 1:
		f, err := client.GetFlow(ctx, same[0].ID)
		if err != nil {
			return api.Flow{}, site.Failure(err)
		}
		return f, nil
	}
	return api.Flow{}, domainkit.Refusef(contracts.ErrPrecondition, "%s has %d flows called %q; rename all but one of them first", instance, len(same), name)
}

// carrying is implemented by the parameters of both.
type carrying interface{ Bound() policy.Base }

// addCarrying adds a write that creates a flow, or changes the one with its name, on the server
// that to returns.
func addCarrying[In carrying](w *Writer, svc *domainkit.Service, name string, schema json.RawMessage, md contracts.Metadata, thought func(context.Context, *Writer, domainkit.Call, In) (plan, error), to func(In, domainkit.Call) string) error {
	think := func(ctx context.Context, call domainkit.Call, in In) (plan, error) { return thought(ctx, w, call, in) }
	w.planners[name] = planOf(func(ctx context.Context, call domainkit.Call, in In) (plan, error) {
		p, err := think(ctx, call, in)
		if err == nil {
			err = in.Bound().Still(p.flow)
		}
		return p, err
	})
	return site.Add(svc, w.site, domainkit.Capability{Name: name, Schema: schema, Metadata: md, Resolve: w.resolve(name)}, func(ctx context.Context, call domainkit.Call, in In) (Written, error) {
		if done, err := w.doneBefore(ctx, call); done != nil || err != nil {
			return deref(done), err
		}
		p, err := think(ctx, call, in)
		if err != nil {
			return Written{}, err
		}
		switch bound := in.Bound(); {
		case p.flow.ID != "":
			err = bound.Unchanged(p.flow)
		case bound.BaseSHA256 != "":
			err = domainkit.Refusef(policy.ErrConcurrentEdit, "the flow that was to be changed is gone; look again before going on")
		}
		if err != nil {
			return Written{}, err
		}
		call.Instance = to(in, call)
		return w.send(ctx, call, p, in.Bound())
	})
}

// Withdrawal are the parameters of the compensation of a promotion or import.
type Withdrawal struct {
	site.FlowRef
	policy.Base
	Version string `json:"version,omitempty" max:"60" description:"The version that was there before; without one, the flow was new and goes"`
}

func (w *Writer) withdraw(ctx context.Context, call domainkit.Call, f api.Flow, in Withdrawal) (plan, error) {
	if in.Version == "" {
		return plan{flow: f, gone: true, did: "deleted; it had been new here"}, nil
	}
	return w.rollback(ctx, call, f, Rollback(in))
}

// registerCarrying adds promotion, import and their compensation.
func registerCarrying(w *Writer, svc *domainkit.Service) error {
	var ids []string
	for _, in := range w.site.Pool.Instances() {
		ids = append(ids, in.ID)
	}
	to, err := json.Marshal(map[string]any{"properties": map[string]any{"to": map[string]any{"enum": ids}}})
	if err != nil {
		return fmt.Errorf("the servers: %w", err)
	}
	promote := policy.Carrying[Promotion](site.OpPromote, true)
	promote.Examples = []contracts.CallExample{{Parameters: map[string]any{"chatflow_id": "7d4f0c1e-2b3a-4c5d-8e6f-0a1b2c3d4e5f", "to": ids[0]}}}
	back := policy.Changing[Withdrawal](site.OpWithdraw, true)
	back.Flow, back.Present, back.Compensation = nil, nil, nil
	back.SideEffectClass = contracts.ClassWriteIrreversible
	return errors.Join(
		addCarrying(w, svc, site.OpPromote, to, promote, promotion, func(in Promotion, _ domainkit.Call) string { return in.To }),
		addCarrying(w, svc, site.OpImport, nil, policy.Carrying[Importing](site.OpImport, false), importing, func(_ Importing, call domainkit.Call) string { return call.Instance }),
		addChange(w, svc, site.OpWithdraw, back, w.withdraw),
	)
}
