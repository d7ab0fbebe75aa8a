package write

import (
	"context"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// Written is a chatflow after a write.
type Written struct {
	// Instance is the server of the flow.
	Instance   string `json:"instance"`
	ChatflowID string `json:"chatflow_id"`
	Name       string `json:"name"`
	Type       string `json:"type"`
	// SHA256 is the hash of the graph as stored by the server.
	SHA256 string `json:"sha256"`
	// StateSHA256 is the hash of graph, name and settings.
	StateSHA256 string `json:"state_sha256,omitempty"`
	BaseSHA256  string `json:"base_sha256,omitempty"`
	// Version is the version after the write, PreviousVersion the one before.
	Version         string `json:"version"`
	PreviousVersion string `json:"previous_version"`
	PreviousName    string `json:"previous_name"`
	// The settings before the write, for its compensation.
	PreviousDeployed bool   `json:"previous_deployed"`
	PreviousCategory string `json:"previous_category"`
	NodeCount        int    `json:"node_count"`
	Change           string `json:"change"`
	// UnseenMS is the length of the time before the write, in ms, in which an edit in Flowise's UI
	// would be overwritten unnoticed, because Flowise has no conditional write. It is 0 if the
	// write does not overwrite such an edit.
	UnseenMS int64 `json:"unseen_ms,omitempty"`
	// Link is the URL of the flow in Flowise.
	Link string `json:"link,omitempty"`
}

// Summary describes the write.
func (w Written) Summary() string {
	text := fmt.Sprintf("%s: %s", present.Clip(w.Name, 80), w.Change)
	switch {
	case w.PreviousVersion == "" || w.PreviousVersion == w.Version:
	case w.Version == "":
		text += fmt.Sprintf("; version %s is kept and can be restored", w.PreviousVersion)
	default:
		text += fmt.Sprintf("; version %s, before %s", w.Version, w.PreviousVersion)
	}
	if w.UnseenMS > 0 {
		text += fmt.Sprintf("; what somebody saved in Flowise in the %d ms before is not in it", w.UnseenMS)
	}
	return text
}

// record stores the current state of a flow as a version.
func (w *Writer) record(ctx context.Context, call domainkit.Call, f api.Flow, reason, label string) (store.Version, error) {
	return w.site.Data.Record(ctx, store.Version{
		Instance: call.Instance, ChatflowID: f.ID, Label: label, Name: f.Name, Kind: string(f.Type),
		SHA256: site.HashOf(f.FlowData), Reason: reason, RunID: call.RunID,
	}, f.FlowData)
}

// written describes a flow after a write and stores it as a version.
func (w *Writer) written(ctx context.Context, call domainkit.Call, f api.Flow, reason, label string) (Written, error) {
	// The write is done; its version must be stored even after the timeout.
	v, err := w.record(context.WithoutCancel(ctx), call, f, reason, label)
	if err != nil {
		return Written{}, err
	}
	out := Written{
		Instance: call.Instance, ChatflowID: f.ID, Name: present.NameOf(f.Name), Type: string(f.Type), SHA256: v.SHA256, StateSHA256: site.StateHash(f),
		Version: v.Label, Change: reason, Link: w.site.Pool.Page(call.Instance, f),
	}
	if g, err := flow.Decompile([]byte(f.FlowData)); err == nil {
		out.NodeCount = len(g.Nodes())
	}
	return out, nil
}

// was adds the state before the write.
func (w Written) was(f api.Flow, version string) Written {
	w.BaseSHA256, w.PreviousVersion, w.PreviousName = site.HashOf(f.FlowData), version, f.Name
	if f.Deployed != nil {
		w.PreviousDeployed = *f.Deployed
	}
	if f.Category != nil {
		w.PreviousCategory = *f.Category
	}
	return w
}

// unseen sets UnseenMS.
func (w Written) unseen(took time.Duration) Written {
	w.UnseenMS = max(1, took.Milliseconds())
	return w
}

// deleted describes a deleted flow; its graph is stored.
func deleted(op store.Operation, f api.Flow, version string) Written {
	return Written{
		Instance: op.Instance, ChatflowID: op.ChatflowID, Name: present.NameOf(op.BeforeName), Type: string(f.Type), SHA256: site.HashOf(f.FlowData),
		PreviousVersion: version, PreviousName: op.BeforeName, Change: "deleted",
	}
}

// Sought are the parameters of find_write.
type Sought struct {
	Operation string `json:"operation" min:"1" max:"100" description:"Which write: the name of its capability"`
	Key       string `json:"key" min:"1" max:"255" description:"Its idempotency key"`
}

// Found is the outcome of a write. Applied is null if it is unknown.
type Found struct {
	Applied *bool `json:"applied"`
	*Written
	PatternID int64 `json:"pattern_id,omitempty"`
}

// Summary reports whether the write took place.
func (f Found) Summary() string {
	switch {
	case f.Applied == nil:
		return "it cannot be told whether the write took place"
	case *f.Applied:
		return "the write took place"
	}
	return "the write did not take place"
}

func (w *Writer) findWrite(ctx context.Context, call domainkit.Call, in Sought) (Found, error) {
	if in.Operation == site.OpPattern {
		return w.findSavedPattern(ctx, in.Key)
	}
	op, begun, err := w.site.Data.Operation(ctx, in.Operation, in.Key)
	if err != nil {
		return Found{}, err
	}
	if !begun {
		return w.neverBegun(ctx, call, in)
	}
	call.Instance = op.Instance
	client, err := w.site.Pool.Client(call.Instance)
	if err != nil {
		return Found{}, site.Failure(err)
	}
	f, err := client.GetFlow(ctx, op.ChatflowID)
	gone := api.IsKind(err, api.KindNotFound)
	if err != nil && !gone {
		return Found{}, site.Failure(err)
	}
	applied := became(op, f, gone)
	if applied == nil || !*applied {
		return Found{Applied: applied}, nil
	}
	return w.foundWritten(ctx, call, in.Operation, op, f, gone)
}

// neverBegun returns the outcome for a key without a stored operation. Only a persistent store can
// prove that there was none.
func (w *Writer) neverBegun(ctx context.Context, call domainkit.Call, in Sought) (Found, error) {
	no := false
	if w.site.Data.Durable() {
		return Found{Applied: &no}, nil
	}
	if in.Operation != site.OpCreate && in.Operation != site.OpDuplicate {
		return Found{}, nil
	}
	// Look for the id, which is derived from the key.
	client, err := w.site.Pool.Client(call.Instance)
	if err != nil {
		return Found{}, site.Failure(err)
	}
	f, err := client.GetFlow(ctx, site.KeyedID(in.Operation, call.Instance, in.Key))
	switch {
	case api.IsKind(err, api.KindNotFound):
		return Found{Applied: &no}, nil
	case err != nil:
		return Found{}, site.Failure(err)
	}
	return w.foundWritten(ctx, call, in.Operation, store.Operation{ChatflowID: f.ID}, f, false)
}

func (w *Writer) foundWritten(ctx context.Context, call domainkit.Call, operation string, op store.Operation, f api.Flow, gone bool) (Found, error) {
	yes := true
	if gone {
		out, err := w.goneSince(ctx, call, op)
		return Found{Applied: &yes, Written: &out}, err
	}
	out, err := w.written(ctx, call, f, "found after "+operation, "")
	if err != nil {
		return Found{}, err
	}
	out.BaseSHA256, out.PreviousName, out.PreviousVersion = op.BeforeSHA256, present.NameOf(op.BeforeName), label(op.PreviousVersion)
	return Found{Applied: &yes, Written: &out}, nil
}

// goneSince describes a deleted flow by its stored version.
func (w *Writer) goneSince(ctx context.Context, call domainkit.Call, op store.Operation) (Written, error) {
	v, body, err := w.site.Data.Version(ctx, call.Instance, op.ChatflowID, label(op.PreviousVersion))
	return deleted(op, api.Flow{Type: api.FlowType(v.Kind), FlowData: body}, label(op.PreviousVersion)), err
}

func label(version int) string {
	if version == 0 {
		return ""
	}
	return fmt.Sprintf("v%d", version)
}

// became reports from a flow whether an operation took place, or nil if the flow is neither in the
// state before nor in the one after.
func became(op store.Operation, f api.Flow, gone bool) *bool {
	yes, no := true, false
	is := func(sha256, name string) bool {
		return !gone && f.Name == name && (sha256 == site.HashOf(f.FlowData) || sha256 == site.StateHash(f))
	}
	switch {
	case gone && op.AfterSHA256 == "", is(op.AfterSHA256, op.AfterName):
		return &yes
	case gone && op.BeforeSHA256 == "", is(op.BeforeSHA256, op.BeforeName):
		return &no
	}
	return nil
}

// resolve is findWrite for an interrupted execution.
func (w *Writer) resolve(operation string) domainkit.Resolver {
	return domainkit.LookUp(func(ctx context.Context, call domainkit.Call, _ struct{}) (applied *bool, facts any, err error) {
		found, err := w.findWrite(ctx, call, Sought{Operation: operation, Key: call.IdempotencyKey})
		if err != nil || operation != site.OpPattern || found.Applied == nil || !*found.Applied {
			return found.Applied, found.Written, err
		}
		p, err := w.site.Data.PatternSavedBy(ctx, call.IdempotencyKey)
		return found.Applied, site.SavedPattern(p), err
	})
}
