package write

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/author"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// changing is implemented by the parameters of a write of an existing flow.
type changing interface {
	Flow() string
	Bound() policy.Base
}

// addChange adds a write of an existing flow. think plans it from the current flow. It is bound to
// the reviewed flow and sent once; propose shows the same plan.
func addChange[In changing](w *Writer, svc *domainkit.Service, name string, md contracts.Metadata, think func(context.Context, domainkit.Call, api.Flow, In) (plan, error)) error {
	w.planners[name] = planOf(func(ctx context.Context, call domainkit.Call, in In) (plan, error) {
		f, err := w.site.Flow(ctx, call, in.Flow())
		if err == nil {
			err = in.Bound().Still(f)
		}
		if err != nil {
			return plan{}, err
		}
		return think(ctx, call, f, in)
	})
	return site.Add(svc, w.site, domainkit.Capability{Name: name, Metadata: md, Resolve: w.resolve(name)}, func(ctx context.Context, call domainkit.Call, in In) (Written, error) {
		if done, err := w.doneBefore(ctx, call); done != nil || err != nil {
			return deref(done), err
		}
		f, err := w.site.Flow(ctx, call, in.Flow())
		if err == nil {
			err = in.Bound().Unchanged(f)
		}
		if err != nil {
			return Written{}, err
		}
		p, err := think(ctx, call, f, in)
		if err != nil {
			return Written{}, err
		}
		return w.send(ctx, call, p, in.Bound())
	})
}

// AddChange adds a write that changes a flow by ops, for packages that compute the ops.
func AddChange[In changing](w *Writer, svc *domainkit.Service, name string, md contracts.Metadata, ops func(context.Context, domainkit.Call, api.Flow, In) (author.Ops, error)) error {
	return addChange(w, svc, name, md, func(ctx context.Context, call domainkit.Call, f api.Flow, in In) (plan, error) {
		list, err := ops(ctx, call, f, in)
		if err != nil {
			return plan{}, err
		}
		p, err := w.compiled(ctx, call, f, list)
		if err == nil && *p.change.FlowData == f.FlowData {
			return plan{}, noChange(f, "is like this already")
		}
		return p, err
	})
}

// making is implemented by the parameters of a write of a new flow.
type making interface{ Bound() policy.Base }

// addNew adds a write that creates a flow; after is called on success.
func addNew[In making](w *Writer, svc *domainkit.Service, name string, md contracts.Metadata, think func(context.Context, domainkit.Call, In) (plan, error), after func(context.Context, plan)) error {
	w.planners[name] = planOf(think)
	return site.Add(svc, w.site, domainkit.Capability{Name: name, Metadata: md, Resolve: w.resolve(name)}, func(ctx context.Context, call domainkit.Call, in In) (Written, error) {
		if done, err := w.doneBefore(ctx, call); done != nil || err != nil {
			return deref(done), err
		}
		p, err := think(ctx, call, in)
		if err != nil {
			return Written{}, err
		}
		out, err := w.send(ctx, call, p, in.Bound())
		if err == nil && after != nil {
			after(ctx, p)
		}
		return out, err
	})
}

// planOf returns a planner for JSON parameters; like the write itself, it refuses unknown ones.
func planOf[In any](planned func(context.Context, domainkit.Call, In) (plan, error)) planner {
	return func(ctx context.Context, call domainkit.Call, parameters json.RawMessage) (plan, error) {
		var in In
		decoder := json.NewDecoder(bytes.NewReader(parameters))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&in); err != nil {
			return plan{}, domainkit.Refusef(contracts.ErrInvalidParameters, "the parameters cannot be read: %s", present.Clip(err.Error(), 200))
		}
		return planned(ctx, call, in)
	}
}

func deref(out *Written) Written {
	if out == nil {
		return Written{}
	}
	return *out
}

// doneBefore returns the result of an earlier write with this key, even if the key was lost from
// the key store.
func (w *Writer) doneBefore(ctx context.Context, call domainkit.Call) (*Written, error) {
	if _, begun, err := w.site.Data.Operation(ctx, call.Capability, call.IdempotencyKey); err != nil || !begun {
		return nil, err
	}
	found, err := w.findWrite(ctx, call, Sought{Operation: call.Capability, Key: call.IdempotencyKey})
	if err != nil || found.Applied == nil || !*found.Applied {
		return nil, err
	}
	return found.Written, nil
}

// send performs a plan: it stores the current state and the operation, writes, and stores the new
// state. It refuses a plan for a graph other than the approved one.
func (w *Writer) send(ctx context.Context, call domainkit.Call, p plan, bound policy.Base) (Written, error) {
	if err := p.mayBeWritten(); err != nil {
		return Written{}, err
	}
	after := p.after()
	sha := site.HashOf(after.FlowData)
	if bound.GraphSHA256 != "" && bound.GraphSHA256 != sha {
		refusal := domainkit.Refusef(policy.ErrConcurrentEdit, "this would make another graph of %s by now than the one that was shown; look at it again before going on", present.Clip(p.flow.Name, 80))
		refusal.Detail = map[string]any{"expected_sha256": bound.GraphSHA256, "found_sha256": sha}
		return Written{}, refusal
	}
	if p.makesGraph() && (p.known || p.checked != nil) {
		if err := w.site.Data.Authorize(ctx, call.RunID, sha); err != nil {
			return Written{}, err
		}
	}
	if p.create != nil {
		return w.sendNew(ctx, call, p)
	}
	return w.sendChange(ctx, call, p, after)
}

func (w *Writer) sendChange(ctx context.Context, call domainkit.Call, p plan, after api.Flow) (Written, error) {
	client, err := w.site.Pool.Client(call.Instance)
	if err != nil {
		return Written{}, site.Failure(err)
	}
	previous, err := w.record(ctx, call, p.flow, "found before "+call.Capability, "")
	if err != nil {
		return Written{}, err
	}
	op := store.Operation{
		Instance: call.Instance, Capability: call.Capability, Key: call.IdempotencyKey, ChatflowID: p.flow.ID, BeforeSHA256: p.base(),
		BeforeName: p.flow.Name, PreviousVersion: previous.Number,
	}
	switch {
	case p.makesGraph():
		op.AfterSHA256, op.AfterName = site.HashOf(after.FlowData), after.Name
	case !p.gone:
		op.AfterSHA256, op.AfterName = site.StateHash(after), after.Name
	}
	if err := w.site.Data.Begin(ctx, op); err != nil {
		return Written{}, err
	}
	// Planning takes a while, so the flow is checked once more directly before the write.
	looked := time.Now()
	if err := stillThere(ctx, w.site, client, call, p.flow); err != nil {
		return Written{}, err
	}
	if p.gone {
		if err := client.DeleteFlow(ctx, p.flow.ID); err != nil {
			return Written{}, site.Failure(err)
		}
		return deleted(op, p.flow, previous.Label).unseen(time.Since(looked)), nil
	}
	update := func() (api.Flow, error) { return client.UpdateFlow(ctx, p.flow.ID, p.change) }
	var now api.Flow
	if p.makesGraph() {
		now, err = w.rules.Guarded(ctx, call, op.AfterSHA256, update)
	} else {
		now, err = update()
	}
	took := time.Since(looked)
	if err != nil {
		return Written{}, site.Failure(err)
	}
	out, err := changed(ctx, w, call, p, now, previous)
	if p.makesGraph() {
		out = out.unseen(took)
	}
	return out, err
}

// changed describes a flow after a change. If somebody saved the graph between the last check and a
// write that does not change the graph, that graph is kept, stored as a version of its own, and
// reported.
func changed(ctx context.Context, w *Writer, call domainkit.Call, p plan, now api.Flow, previous store.Version) (Written, error) {
	met := !p.makesGraph() && now.FlowData != p.flow.FlowData
	if met {
		theirs := p.flow
		theirs.FlowData = now.FlowData
		var err error
		if previous, err = w.record(context.WithoutCancel(ctx), call, theirs, site.EditedInFlowise, ""); err != nil {
			return Written{}, err
		}
	}
	out, err := w.written(ctx, call, now, p.did, p.label)
	if met {
		out.Change += fmt.Sprintf("; somebody edited it in Flowise in the same moment, which stays and is version %s", previous.Label)
	}
	return out.was(p.flow, previous.Label), err
}

// stillThere refuses a write of a flow that was edited since it was planned, and removes the stored
// operation.
func stillThere(ctx context.Context, s *site.Site, client *api.Client, call domainkit.Call, planned api.Flow) error {
	now, err := client.GetFlow(ctx, planned.ID)
	if err == nil {
		err = policy.Unchanged(now, site.StateHash(planned))
	}
	if err == nil {
		return nil
	}
	if forgetErr := s.Data.Forget(ctx, call.Instance, call.Capability, call.IdempotencyKey); forgetErr != nil {
		return forgetErr
	}
	return site.Failure(err)
}

func (w *Writer) sendNew(ctx context.Context, call domainkit.Call, p plan) (Written, error) {
	client, err := w.site.Pool.Client(call.Instance)
	if err != nil {
		return Written{}, site.Failure(err)
	}
	f := *p.create
	if f.ID == "" {
		f.ID = site.KeyedID(call.Capability, call.Instance, call.IdempotencyKey)
	}
	sha := site.HashOf(f.FlowData)
	if err := w.site.Data.Begin(ctx, store.Operation{
		Instance: call.Instance, Capability: call.Capability, Key: call.IdempotencyKey, ChatflowID: f.ID, AfterSHA256: sha, AfterName: f.Name,
	}); err != nil {
		return Written{}, err
	}
	made, err := w.rules.Guarded(ctx, call, sha, func() (api.Flow, error) { return client.CreateFlow(ctx, f) })
	if err != nil {
		return Written{}, site.Failure(err)
	}
	return w.written(ctx, call, made, p.did, "")
}

// writes returns the names of all writes that can be proposed.
func (w *Writer) writes() []string { return slices.Sorted(maps.Keys(w.planners)) }

// noChange refuses a write without effect.
func noChange(f api.Flow, why string) error {
	return domainkit.Refusef(contracts.ErrPrecondition, "nothing would change: %s %s", present.Clip(f.Name, 80), why)
}
