package flowise

import (
	"context"
	"errors"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// Written is a chatflow after a write.
type Written struct {
	ChatflowID string `json:"chatflow_id"`
	Name       string `json:"name"`
	Type       string `json:"type"`
	// SHA256 is the hash of the graph as the server keeps it.
	SHA256     string `json:"sha256"`
	BaseSHA256 string `json:"base_sha256,omitempty"`
	// Version is what the flow is now, PreviousVersion what it was.
	Version         string `json:"version"`
	PreviousVersion string `json:"previous_version,omitempty"`
	PreviousName    string `json:"previous_name,omitempty"`
	NodeCount       int    `json:"node_count"`
	Change          string `json:"change"`
}

// Summary says what was done.
func (w Written) Summary() string {
	text := fmt.Sprintf("%s: %s", clip(w.Name, 80), w.Change)
	if w.PreviousVersion != "" && w.PreviousVersion != w.Version {
		text += fmt.Sprintf("; version %s, before %s", w.Version, w.PreviousVersion)
	}
	return text
}

// Names of the writes, as they are kept with what they were about to do.
const (
	opCreate    = "create_chatflow"
	opPatch     = "apply_patch"
	opRename    = "rename_chatflow"
	opDuplicate = "duplicate_chatflow"
	opRollback  = "rollback_chatflow"
	opDelete    = "delete_chatflow"
	opPattern   = "save_pattern"
	opRun       = "run_chatflow"
	// The two that undo a renaming and a rollback.
	opRestoreName    = "restore_name"
	opRestoreVersion = "restore_version"
)

// record keeps the present state of a flow as a version.
func (d *domain) record(ctx context.Context, call domainkit.Call, f api.Flow, reason, label string) (store.Version, error) {
	return d.data.Record(ctx, store.Version{
		Instance: call.Instance, ChatflowID: f.ID, Label: label, Name: f.Name, Kind: string(f.Type),
		SHA256: hashOf(f.FlowData), Reason: reason, RunID: call.RunID,
	}, f.FlowData)
}

// guarded writes bytes that passed validation in this run, once. What surely
// had no effect gives the permission back.
func (d *domain) guarded(ctx context.Context, call domainkit.Call, sha256 string, write func() (api.Flow, error)) (api.Flow, error) {
	permission, err := d.data.Consume(ctx, call.RunID, sha256, call.IdempotencyKey)
	if err != nil {
		return api.Flow{}, err
	}
	if permission != store.Granted {
		return api.Flow{}, domainkit.Refusef(contracts.ErrPrecondition, "%s", refusalWords(permission))
	}
	f, err := write()
	if e, is := api.AsError(err); is && e.Effect == contracts.EffectNone {
		// The permission must come back even when the caller has gone.
		err = errors.Join(err, d.data.Restore(context.WithoutCancel(ctx), call.RunID, sha256, call.IdempotencyKey))
	}
	return f, err
}

// passing validates bytes that this domain compiled itself and authorizes
// them; it refuses what has errors.
func (d *domain) passing(ctx context.Context, call domainkit.Call, flowData string, kind flow.Kind) error {
	_, checked, err := d.check(ctx, call.Instance, flowData, kind)
	if err != nil {
		return err
	}
	if !checked.OK {
		refusal := domainkit.Refusef(contracts.ErrPrecondition, "%s; %s", checked.Summary(), checked.Findings[0].Fix)
		refusal.Detail = map[string]any{"findings": checked.Findings}
		return refusal
	}
	return d.data.Authorize(ctx, call.RunID, checked.SHA256)
}

// written describes a flow after a write, and keeps it as a version.
func (d *domain) written(ctx context.Context, call domainkit.Call, f api.Flow, reason, label string) (Written, error) {
	// The write is done; what it was must not be lost because time is up.
	v, err := d.record(context.WithoutCancel(ctx), call, f, reason, label)
	if err != nil {
		return Written{}, err
	}
	out := Written{ChatflowID: f.ID, Name: nameOf(f.Name), Type: string(f.Type), SHA256: v.SHA256, Version: v.Label, Change: reason}
	if g, err := flow.Decompile([]byte(f.FlowData)); err == nil {
		out.NodeCount = len(g.Nodes())
	}
	return out, nil
}

// Sought is a write that was sent and whose answer is not known.
type Sought struct {
	Operation string `json:"operation" enum:"create_chatflow,apply_patch,rename_chatflow,duplicate_chatflow,rollback_chatflow,delete_chatflow,save_pattern,restore_name,restore_version" description:"Which write"`
	Key       string `json:"key" min:"1" max:"255" description:"Its idempotency key"`
}

// Found is what became of a write. Applied is null when that cannot be told.
type Found struct {
	Applied *bool `json:"applied"`
	*Written
	PatternID int64 `json:"pattern_id,omitempty"`
}

// Summary says whether it took place.
func (f Found) Summary() string {
	switch {
	case f.Applied == nil:
		return "it cannot be told whether the write took place"
	case *f.Applied:
		return "the write took place"
	}
	return "the write did not take place"
}

func (d *domain) findWrite(ctx context.Context, call domainkit.Call, in Sought) (Found, error) {
	if in.Operation == opPattern {
		return d.findSavedPattern(ctx, in.Key)
	}
	op, begun, err := d.data.Operation(ctx, call.Instance, in.Operation, in.Key)
	if err != nil {
		return Found{}, err
	}
	if !begun {
		return d.neverBegun(ctx, call, in)
	}
	client, err := d.pool.Client(call.Instance)
	if err != nil {
		return Found{}, failure(err)
	}
	f, err := client.GetFlow(ctx, op.ChatflowID)
	gone := api.IsKind(err, api.KindNotFound)
	if err != nil && !gone {
		return Found{}, failure(err)
	}
	applied := became(op, f, gone)
	if applied == nil || !*applied {
		return Found{Applied: applied}, nil
	}
	return d.foundWritten(ctx, call, in.Operation, op, f, gone)
}

// neverBegun answers for a key that no operation was kept of. Only a store that
// outlives the process can say that there was none.
func (d *domain) neverBegun(ctx context.Context, call domainkit.Call, in Sought) (Found, error) {
	no := false
	if d.data.Durable() {
		return Found{Applied: &no}, nil
	}
	if in.Operation != opCreate && in.Operation != opDuplicate {
		return Found{}, nil
	}
	// The id tells, because it is made of the key.
	client, err := d.pool.Client(call.Instance)
	if err != nil {
		return Found{}, failure(err)
	}
	f, err := client.GetFlow(ctx, keyedID(in.Operation, call.Instance, in.Key))
	switch {
	case api.IsKind(err, api.KindNotFound):
		return Found{Applied: &no}, nil
	case err != nil:
		return Found{}, failure(err)
	}
	return d.foundWritten(ctx, call, in.Operation, store.Operation{ChatflowID: f.ID}, f, false)
}

func (d *domain) foundWritten(ctx context.Context, call domainkit.Call, operation string, op store.Operation, f api.Flow, gone bool) (Found, error) {
	yes := true
	if gone {
		return Found{Applied: &yes, Written: &Written{ChatflowID: op.ChatflowID, Name: op.BeforeName, SHA256: op.BeforeSHA256, PreviousVersion: label(op.PreviousVersion), Change: "deleted"}}, nil
	}
	out, err := d.written(ctx, call, f, "found after "+operation, "")
	if err != nil {
		return Found{}, err
	}
	out.BaseSHA256, out.PreviousName, out.PreviousVersion = op.BeforeSHA256, nameOf(op.BeforeName), label(op.PreviousVersion)
	return Found{Applied: &yes, Written: &out}, nil
}

func label(version int) string {
	if version == 0 {
		return ""
	}
	return fmt.Sprintf("v%d", version)
}

// became tells from a flow whether an operation took place; nil when it is
// neither as before nor as it was to become.
func became(op store.Operation, f api.Flow, gone bool) *bool {
	yes, no := true, false
	hash := ""
	if !gone {
		hash = hashOf(f.FlowData)
	}
	switch {
	case gone && op.AfterSHA256 == "", !gone && hash == op.AfterSHA256 && f.Name == op.AfterName:
		return &yes
	case gone && op.BeforeSHA256 == "", !gone && hash == op.BeforeSHA256 && f.Name == op.BeforeName:
		return &no
	}
	return nil
}

// resolve is findWrite for an execution that was cut off.
func (d *domain) resolve(operation string) domainkit.Resolver {
	return domainkit.LookUp(func(ctx context.Context, call domainkit.Call, _ struct{}) (applied *bool, facts any, err error) {
		found, err := d.findWrite(ctx, call, Sought{Operation: operation, Key: call.IdempotencyKey})
		if err != nil || operation != opPattern || found.Applied == nil || !*found.Applied {
			return found.Applied, found.Written, err
		}
		p, err := d.data.PatternSavedBy(ctx, call.IdempotencyKey)
		return found.Applied, savedPattern(p), err
	})
}

// FlowPresence says whether there is a flow.
type FlowPresence struct {
	Found      bool   `json:"found"`
	ChatflowID string `json:"chatflow_id"`
	Name       string `json:"name,omitempty"`
	SHA256     string `json:"sha256,omitempty"`
}

// Summary says whether it is there.
func (f FlowPresence) Summary() string {
	if f.Found {
		return "there is the chatflow " + clip(f.Name, 80)
	}
	return "there is no such chatflow"
}

func (d *domain) findChatflow(ctx context.Context, call domainkit.Call, in FlowRef) (FlowPresence, error) {
	client, err := d.pool.Client(call.Instance)
	if err != nil {
		return FlowPresence{}, failure(err)
	}
	f, err := client.GetFlow(ctx, in.ChatflowID)
	switch {
	case api.IsKind(err, api.KindNotFound):
		return FlowPresence{ChatflowID: in.ChatflowID}, nil
	case err != nil:
		return FlowPresence{}, failure(err)
	}
	return FlowPresence{Found: true, ChatflowID: f.ID, Name: nameOf(f.Name), SHA256: hashOf(f.FlowData)}, nil
}

// keyedID makes an id of an idempotency key: of a new flow, or of a chat.
func keyedID(operation, instance, key string) string {
	return api.FlowID(operation+"/"+instance, key)
}
