package flowise

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// runChatflow asks a flow that may act on the world, at most once for a key: the
// question goes under a chat id that is made of the key, and is not sent again
// once it was begun, whatever became of it.
func (d *domain) runChatflow(ctx context.Context, call domainkit.Call, in Question) (domainkit.Result[Answer], error) {
	none := domainkit.Result[Answer]{}
	client, err := d.pool.Client(call.Instance)
	if err != nil {
		return none, failure(err)
	}
	if _, err := d.flow(ctx, call, in.ChatflowID); err != nil {
		return none, err
	}
	earlier, begun, err := d.lookForRun(ctx, client, call, in.ChatflowID, call.IdempotencyKey)
	switch {
	case err != nil:
		return none, err
	case earlier != nil:
		return domainkit.Result[Answer]{Facts: *earlier}, nil
	case begun:
		return none, domainkit.Failf(contracts.ErrUpstream, contracts.EffectUnknown,
			"the flow was asked before for this, and has not answered: it is still running, or it failed; look into its messages in Flowise")
	}
	if err := d.data.Begin(ctx, store.Operation{
		Instance: call.Instance, Capability: opRun, Key: call.IdempotencyKey, ChatflowID: in.ChatflowID,
	}); err != nil {
		return none, err
	}
	out, err := ask(ctx, client, in, runQuestion(call, in))
	if err != nil {
		return none, d.notRun(ctx, call, err)
	}
	return out, nil
}

// runQuestion puts the question into the conversation that is wished, under a
// chat id of its own.
func runQuestion(call domainkit.Call, in Question) api.Question {
	q := api.Question{Question: in.Question, ChatID: keyedID(opRun, call.Instance, call.IdempotencyKey), Override: in.Override}
	if in.SessionID != "" {
		q.Override = map[string]any{}
		maps.Copy(q.Override, in.Override)
		q.Override["sessionId"] = in.SessionID
	}
	return q
}

// notRun frees the key when the flow was surely not reached. A flow that failed
// by its own account was run, and is not run again for the same key.
func (d *domain) notRun(ctx context.Context, call domainkit.Call, err error) error {
	out := notAnswered(err)
	e, is := api.AsError(err)
	switch {
	case is && e.Effect == contracts.EffectNone:
		// The key must be freed even when the caller has gone.
		return errors.Join(out, d.data.Forget(context.WithoutCancel(ctx), call.Instance, opRun, call.IdempotencyKey))
	case is && e.Kind == api.KindFailed:
		if said, ok := errors.AsType[*contracts.ToolError](out); ok {
			said.Effect, said.Retryable = contracts.EffectApplied, false
			said.Message += "; what its tools did before that stays done"
		}
	}
	return out
}

// SoughtRun is a run of a flow whose answer is not known.
type SoughtRun struct {
	FlowRef
	Key string `json:"key" min:"1" max:"255" description:"Idempotency key of the run"`
}

// FoundRun is what became of a run. Applied is null when that cannot be told:
// Flowise keeps nothing of a flow that is running or has failed.
type FoundRun struct {
	Applied *bool `json:"applied"`
	*Answer
}

// Summary says whether the flow was run.
func (f FoundRun) Summary() string {
	switch {
	case f.Applied == nil:
		return "it cannot be told whether the flow was run"
	case *f.Applied:
		return "the flow was run and answered: " + f.Answer.Summary()
	}
	return "the flow was not run"
}

func (d *domain) findRun(ctx context.Context, call domainkit.Call, in SoughtRun) (FoundRun, error) {
	client, err := d.pool.Client(call.Instance)
	if err != nil {
		return FoundRun{}, failure(err)
	}
	answer, begun, err := d.lookForRun(ctx, client, call, in.ChatflowID, in.Key)
	switch {
	case err != nil:
		return FoundRun{}, err
	case answer != nil:
		return FoundRun{new(true), answer}, nil
	case !begun && d.data.Durable():
		// Only a store that outlives the process can say that nothing was begun.
		return FoundRun{Applied: new(false)}, nil
	}
	return FoundRun{}, nil
}

// lookForRun gives the answer to a run from the flow's history, if there is one,
// and tells whether the run was begun.
func (d *domain) lookForRun(ctx context.Context, client *api.Client, call domainkit.Call, id, key string) (answer *Answer, begun bool, err error) {
	_, begun, err = d.data.Operation(ctx, call.Instance, opRun, key)
	if err != nil {
		return nil, false, err
	}
	rows, err := client.History(ctx, id, keyedID(opRun, call.Instance, key))
	if err != nil && !api.IsKind(err, api.KindNotFound) { // a flow that was deleted took its history along
		return nil, false, failure(err)
	}
	for _, row := range rows {
		if row.Role == api.RoleFlow {
			return &Answer{
				ChatflowID: id, Answer: clipLong(row.Content, maxAnswer), SessionID: row.SessionID, MessageID: row.ID, Tools: row.Tools(),
			}, true, nil
		}
	}
	return nil, begun, nil
}

// resolveRun is findRun for an execution that was cut off.
func (d *domain) resolveRun(ctx context.Context, call domainkit.Call, parameters json.RawMessage) (domainkit.Resolution, error) {
	var in Question
	if err := json.Unmarshal(parameters, &in); err != nil {
		return domainkit.Resolution{}, err
	}
	found, err := d.findRun(ctx, call, SoughtRun{in.FlowRef, call.IdempotencyKey})
	switch {
	case err != nil:
		return domainkit.Resolution{}, err
	case found.Applied == nil:
		return domainkit.Resolution{Effect: contracts.EffectUnknown}, nil
	case !*found.Applied:
		return domainkit.Resolution{Effect: contracts.EffectNone}, nil
	}
	return domainkit.Resolution{Effect: contracts.EffectApplied, Facts: *found.Answer}, nil
}
