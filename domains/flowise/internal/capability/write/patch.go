package write

import (
	"context"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/author"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// Patch is a change of a chatflow: ops, which are compiled and validated here,
// or a graph that validate_flow passed in this run.
type Patch struct {
	site.FlowRef
	Ops      author.Ops `json:"ops,omitempty" description:"Edits, in the form of the Patch IR"`
	FlowData string     `json:"flow_data,omitempty" description:"The whole new graph, which validate_flow must have passed in this run"`
	// BaseSHA256 is what the change was made for; another flow by now is a conflict.
	BaseSHA256 string `json:"base_sha256,omitempty" pattern:"^[0-9a-f]{64}$" description:"Hash of the graph that the change was made for"`
	Label      string `json:"label,omitempty" max:"60" description:"Label of the new version"`
}

// applyPatch is the one way to change a flow. The state before is kept first;
// an edit that somebody made in Flowise meanwhile is a conflict, never
// overwritten.
func (w *Writer) applyPatch(ctx context.Context, call domainkit.Call, in Patch) (Written, error) {
	if (len(in.Ops) > 0) == (in.FlowData != "") {
		return Written{}, domainkit.Refusef(contracts.ErrInvalidParameters, "a patch has either ops or flow_data")
	}
	if in.FlowData != "" && in.BaseSHA256 == "" {
		return Written{}, domainkit.Refusef(contracts.ErrInvalidParameters, "flow_data needs base_sha256: the hash of the graph that it replaces")
	}
	f, err := w.site.Flow(ctx, call, in.ChatflowID)
	if err != nil {
		return Written{}, err
	}
	if in.BaseSHA256 != "" {
		if err := policy.Unchanged(f, in.BaseSHA256); err != nil {
			return Written{}, err
		}
	}
	next, line, err := w.nextGraph(ctx, call, f, in)
	if err != nil {
		return Written{}, err
	}
	return w.update(ctx, call, f, next, line, in.Label)
}

// nextGraph gives the graph that a patch makes of a flow.
func (w *Writer) nextGraph(ctx context.Context, call domainkit.Call, f api.Flow, in Patch) (next, line string, err error) {
	old, err := flow.Decompile([]byte(f.FlowData))
	if err != nil {
		return "", "", site.Unreadable(err)
	}
	if in.FlowData != "" {
		g, err := flow.Decompile([]byte(in.FlowData))
		if err != nil {
			return "", "", site.Unreadable(err)
		}
		defs, err := w.site.Definitions(ctx, call.Instance)
		if err != nil {
			return "", "", err
		}
		return in.FlowData, present.ChangesOf(flow.Compare(old, g, defs)).Line, nil
	}
	made, compiled, err := w.author.Compile(ctx, call, old, in.Ops, site.KindOf(f.Type))
	if err != nil {
		return "", "", err
	}
	if !compiled.OK {
		return "", "", notCompiled(compiled)
	}
	return string(made.FlowData), compiled.Changes.Line, w.author.Passing(ctx, call, string(made.FlowData), made.Kind)
}

// update replaces the graph of a flow that was just read.
func (w *Writer) update(ctx context.Context, call domainkit.Call, f api.Flow, next, reason, versionLabel string) (Written, error) {
	client, err := w.site.Pool.Client(call.Instance)
	if err != nil {
		return Written{}, site.Failure(err)
	}
	before, sha := site.HashOf(f.FlowData), site.HashOf(next)
	previous, err := w.record(ctx, call, f, "found before "+call.Capability, "")
	if err != nil {
		return Written{}, err
	}
	if err := w.site.Data.Begin(ctx, store.Operation{
		Instance: call.Instance, Capability: call.Capability, Key: call.IdempotencyKey, ChatflowID: f.ID, BeforeSHA256: before, AfterSHA256: sha,
		BeforeName: f.Name, AfterName: f.Name, PreviousVersion: previous.Number,
	}); err != nil {
		return Written{}, err
	}
	now, err := w.rules.Guarded(ctx, call, sha, func() (api.Flow, error) {
		return client.UpdateFlow(ctx, f.ID, api.FlowChange{FlowData: &next})
	})
	if err != nil {
		return Written{}, site.Failure(err)
	}
	out, err := w.written(ctx, call, now, reason, versionLabel)
	out.BaseSHA256, out.PreviousVersion, out.PreviousName = before, previous.Label, present.NameOf(f.Name)
	return out, err
}

// Renaming is a new name of a chatflow.
type Renaming struct {
	site.FlowRef
	Name string `json:"name" min:"1" max:"200" description:"The new name"`
}

func (w *Writer) renameChatflow(ctx context.Context, call domainkit.Call, in Renaming) (Written, error) {
	f, err := w.site.Flow(ctx, call, in.ChatflowID)
	if err != nil {
		return Written{}, err
	}
	client, err := w.site.Pool.Client(call.Instance)
	if err != nil {
		return Written{}, site.Failure(err)
	}
	previous, err := w.record(ctx, call, f, "found before "+call.Capability, "")
	if err != nil {
		return Written{}, err
	}
	sha := site.HashOf(f.FlowData)
	if err := w.site.Data.Begin(ctx, store.Operation{
		Instance: call.Instance, Capability: call.Capability, Key: call.IdempotencyKey, ChatflowID: f.ID, BeforeSHA256: sha, AfterSHA256: sha,
		BeforeName: f.Name, AfterName: in.Name, PreviousVersion: previous.Number,
	}); err != nil {
		return Written{}, err
	}
	now, err := client.UpdateFlow(ctx, f.ID, api.FlowChange{Name: &in.Name})
	if err != nil {
		return Written{}, site.Failure(err)
	}
	out, err := w.written(ctx, call, now, fmt.Sprintf("renamed from %s", present.Clip(f.Name, 80)), "")
	out.PreviousName, out.PreviousVersion = present.NameOf(f.Name), previous.Label
	return out, err
}

// deleteChatflow deletes a flow; its graph stays among its versions, its
// messages are lost.
func (w *Writer) deleteChatflow(ctx context.Context, call domainkit.Call, in site.FlowRef) (Written, error) {
	f, err := w.site.Flow(ctx, call, in.ChatflowID)
	if err != nil {
		return Written{}, err
	}
	client, err := w.site.Pool.Client(call.Instance)
	if err != nil {
		return Written{}, site.Failure(err)
	}
	previous, err := w.record(ctx, call, f, "found before "+site.OpDelete, "")
	if err != nil {
		return Written{}, err
	}
	if err := w.site.Data.Begin(ctx, store.Operation{
		Instance: call.Instance, Capability: site.OpDelete, Key: call.IdempotencyKey, ChatflowID: f.ID,
		BeforeSHA256: previous.SHA256, BeforeName: f.Name, PreviousVersion: previous.Number,
	}); err != nil {
		return Written{}, err
	}
	if err := client.DeleteFlow(ctx, f.ID); err != nil {
		return Written{}, site.Failure(err)
	}
	return Written{
		ChatflowID: f.ID, Name: present.NameOf(f.Name), Type: string(f.Type), SHA256: previous.SHA256, BaseSHA256: previous.SHA256,
		PreviousVersion: previous.Label, PreviousName: present.NameOf(f.Name), Change: "deleted",
	}, nil
}
