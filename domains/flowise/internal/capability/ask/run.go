package ask

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// Run is a question to a flow that may act, bound to the reviewed graph.
type Run struct {
	Inquiry
	GraphSHA256 string `json:"graph_sha256,omitempty" pattern:"^[0-9a-f]{64}$" description:"Hash of the graph that is to run, as preview_run gives it"`
}

// RunPreview describes a run before it is approved.
type RunPreview struct {
	ChatflowID string `json:"chatflow_id"`
	Name       string `json:"name"`
	SHA256     string `json:"sha256"`
	// Acting are the nodes that may have effects outside Flowise.
	Acting []string `json:"acting_nodes"`
	// Matches holds the hash of the graph as the only choice.
	Matches []GraphChoice `json:"matches"`
}

// GraphChoice is the hash of a graph with a label for the approver.
type GraphChoice struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// Summary reports which nodes may act.
func (p RunPreview) Summary() string { return present.Clip(p.Name, 80) + ": " + p.Matches[0].Label }

// maxActing bounds the nodes that are named.
const maxActing = 20

// previewRun returns the hash that binds an approval to the graph. It refuses a run that is not
// possible, so that nobody is asked to approve it.
func (k *Asker) previewRun(ctx context.Context, call domainkit.Call, in Inquiry) (RunPreview, error) {
	f, g, err := k.site.GraphOf(ctx, call, in.ChatflowID)
	if err != nil {
		return RunPreview{}, err
	}
	if err := in.fits(f, g); err != nil {
		return RunPreview{}, err
	}
	defs, err := k.site.Definitions(ctx, call.Instance)
	if err != nil {
		return RunPreview{}, err
	}
	nodes := flow.Acting(g, defs)
	acts := "nothing in it is known to act"
	if len(nodes) > 0 {
		acts = "it may act by " + strings.Join(nodes[:min(5, len(nodes))], ", ")
		if len(nodes) > 5 {
			acts += fmt.Sprintf(" and %d more", len(nodes)-5)
		}
	}
	label := fmt.Sprintf("as changed %s, %s; %s", f.UpdatedDate.UTC().Format("2006-01-02 15:04:05"), present.Count(len(g.Nodes()), "node"), present.Clip(acts, 160))
	return RunPreview{
		ChatflowID: f.ID, Name: present.Clip(f.Name, 120), SHA256: g.SHA256(), Acting: nodes[:min(maxActing, len(nodes))],
		Matches: []GraphChoice{{g.SHA256(), label}},
	}, nil
}

// runChatflow asks a flow that may act, at most once per key. The chat id is derived from the key,
// and a question that was started is not sent again, whatever its outcome. A graph other than the
// reviewed one is refused.
func (k *Asker) runChatflow(ctx context.Context, call domainkit.Call, in Run) (domainkit.Result[Answer], error) {
	none := domainkit.Result[Answer]{}
	if in.GraphSHA256 == "" {
		return none, domainkit.Refusef(contracts.ErrInvalidParameters, "a run needs graph_sha256: the hash of the graph that was looked at, which preview_run gives")
	}
	client, err := k.site.Pool.Client(call.Instance)
	if err != nil {
		return none, site.Failure(err)
	}
	f, err := k.site.Flow(ctx, call, in.ChatflowID)
	if err != nil {
		return none, err
	}
	earlier, begun, err := k.lookForRun(ctx, client, call, in.ChatflowID, call.IdempotencyKey)
	switch {
	case err != nil:
		return none, err
	case earlier != nil:
		return domainkit.Result[Answer]{Facts: *earlier}, nil
	case begun:
		return none, domainkit.Failf(contracts.ErrUpstream, contracts.EffectUnknown,
			"the flow was asked before for this, and has not answered: it is still running, or it failed; look into its messages in Flowise")
	}
	if err := k.mayRun(f, in); err != nil {
		return none, err
	}
	if err := k.site.Data.Begin(ctx, store.Operation{
		Instance: call.Instance, Capability: site.OpRun, Key: call.IdempotencyKey, ChatflowID: in.ChatflowID,
	}); err != nil {
		return none, err
	}
	out, err := ask(ctx, client, in.Inquiry, runQuestion(call, in.Inquiry))
	if err != nil {
		return none, k.notRun(ctx, call, err)
	}
	return out, nil
}

// mayRun refuses a graph that differs from the reviewed one.
func (*Asker) mayRun(f api.Flow, in Run) error {
	if err := policy.Unchanged(f, in.GraphSHA256); err != nil {
		return err
	}
	g, err := flow.Decompile([]byte(f.FlowData))
	if err != nil {
		return site.Unreadable(err)
	}
	return in.fits(f, g)
}

// runQuestion returns the question with a chat id of its own, in the requested conversation.
func runQuestion(call domainkit.Call, in Inquiry) api.Question {
	q := api.Question{Question: in.Question, Form: in.Form, ChatID: site.KeyedID(site.OpRun, call.Instance, call.IdempotencyKey), Override: in.Override}
	if in.SessionID != "" {
		q.Override = map[string]any{}
		maps.Copy(q.Override, in.Override)
		q.Override["sessionId"] = in.SessionID
	}
	return q
}

// notRun releases the key if the flow was certainly not reached. A flow that reports a failure
// itself did run, and is not run again for the same key.
func (k *Asker) notRun(ctx context.Context, call domainkit.Call, err error) error {
	out := notAnswered(err)
	e, is := api.AsError(err)
	switch {
	case is && e.Effect == contracts.EffectNone:
		// Release the key even if the caller is gone.
		return errors.Join(out, k.site.Data.Forget(context.WithoutCancel(ctx), call.Instance, site.OpRun, call.IdempotencyKey))
	case is && e.Kind == api.KindFailed:
		if said, ok := errors.AsType[*contracts.ToolError](out); ok {
			said.Effect, said.Retryable = contracts.EffectApplied, false
			said.Message += "; what its tools did before that stays done"
		}
	}
	return out
}

// SoughtRun are the parameters of find_run.
type SoughtRun struct {
	site.FlowRef
	Key string `json:"key" min:"1" max:"255" description:"Idempotency key of the run"`
}

// FoundRun is the outcome of a run. Applied is null if it is unknown: Flowise stores nothing about
// a flow that is running or has failed.
type FoundRun struct {
	Applied *bool `json:"applied"`
	*Answer
}

// Summary reports whether the flow was run.
func (f FoundRun) Summary() string {
	switch {
	case f.Applied == nil:
		return "it cannot be told whether the flow was run"
	case *f.Applied:
		return "the flow was run and answered: " + f.Answer.Summary()
	}
	return "the flow was not run"
}

func (k *Asker) findRun(ctx context.Context, call domainkit.Call, in SoughtRun) (FoundRun, error) {
	client, err := k.site.Pool.Client(call.Instance)
	if err != nil {
		return FoundRun{}, site.Failure(err)
	}
	answer, begun, err := k.lookForRun(ctx, client, call, in.ChatflowID, in.Key)
	switch {
	case err != nil:
		return FoundRun{}, err
	case answer != nil:
		return FoundRun{new(true), answer}, nil
	case !begun && k.site.Data.Durable():
		// Only a persistent store can prove that no run was started.
		return FoundRun{Applied: new(false)}, nil
	}
	return FoundRun{}, nil
}

// lookForRun returns the answer of a run from the flow's history, if there is one, and reports
// whether the run was started.
func (k *Asker) lookForRun(ctx context.Context, client *api.Client, call domainkit.Call, id, key string) (answer *Answer, begun bool, err error) {
	_, begun, err = k.site.Data.Operation(ctx, site.OpRun, key)
	if err != nil {
		return nil, false, err
	}
	rows, err := client.History(ctx, id, site.KeyedID(site.OpRun, call.Instance, key))
	if err != nil && !api.IsKind(err, api.KindNotFound) { // a deleted flow has no history
		return nil, false, site.Failure(err)
	}
	for _, row := range rows {
		if row.Role == api.RoleFlow {
			return &Answer{
				ChatflowID: id, Answer: present.ClipLong(row.Content, maxAnswer), SessionID: row.SessionID, MessageID: row.ID, Tools: row.Tools(),
			}, true, nil
		}
	}
	return nil, begun, nil
}

// resolveRun is findRun for an interrupted execution.
func (k *Asker) resolveRun(ctx context.Context, call domainkit.Call, in Run) (applied *bool, facts any, err error) {
	found, err := k.findRun(ctx, call, SoughtRun{in.FlowRef, call.IdempotencyKey})
	return found.Applied, found.Answer, err
}
