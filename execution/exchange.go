package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// task says what an exchange is for.
type task int

const (
	taskCall      task = iota // the node's own call
	taskReconcile             // did the write take effect?
	taskVerify                // read-back after a write
	taskRefresh               // fetch the manifest again
)

// callsKey is the limit on all exchanges of this replica; lockKey is not a
// limit but the place of nodes that wait for a lock; writeKey of those that
// wait for another write of the run.
const (
	callsKey = "calls"
	lockKey  = "lock"
	writeKey = "write"
)

// batch is the present batch of a chunked capability.
type batch struct{ started, running int }

// admit takes a place under every limit that a call of the capability meets,
// or lets the node wait for the one that is full.
func (l *loop) admit(n *node, p contracts.Policy, tool string) bool {
	if key, ok := l.roomInRun(n, p, tool); !ok {
		l.deferUntilRoom(n, key, "other calls of this run")
		return false
	}
	var held []string
	giveBack := func() {
		for _, key := range held {
			l.r.limits.release(key)
		}
	}
	for _, s := range l.shares(p, tool) {
		if !l.acquire(s.key, s.limit) {
			giveBack()
			l.deferUntilRoom(n, s.key, s.reason)
			return false
		}
		held = append(held, s.key)
	}
	rate := rateKey(tool)
	if wait := l.r.limits.allow(rate, p.RateLimitPerMin, l.r.cfg.Now()); wait > 0 {
		giveBack()
		if !l.timed[rate] { // one timer lets one after the other try
			l.timed[rate] = true
			l.timers.addKey(l.r.cfg.Now().Add(wait), rate)
		}
		l.deferUntilRoom(n, rate, "the rate limit of "+tool)
		return false
	}
	l.occupy(n, p, tool)
	n.held = held
	for _, key := range held {
		l.undefer(key) // whoever else waits tries too, or waits anew
	}
	l.undefer(rate)
	if key, room := l.roomInRun(n, p, tool); room {
		l.undefer(key)
	}
	return true
}

// share is a limit that calls of all runs have together.
type share struct {
	key    string
	limit  int
	reason string
}

// shares are the limits of all runs that a call meets. A domain gets at most
// half of all calls, so that one that is slow leaves room for the others.
func (l *loop) shares(p contracts.Policy, tool string) []share {
	return []share{
		{capKey(tool), p.MaxConcurrency, "room at " + tool},
		{domainKey(tool), max(l.r.cfg.MaxCalls/2, 1), "room at its domain"},
		{callsKey, l.r.cfg.MaxCalls, "room for one more call"},
	}
}

func (l *loop) acquire(key string, limit int) bool {
	return l.r.limits.acquire(key, limit, l.stored.ID, func() { l.inbox.put(message{kind: msgFreed, key: key}) })
}

// roomInRun checks the limits that hold inside one run: the array rule's, and
// what the execution mode says.
func (l *loop) roomInRun(n *node, p contracts.Policy, tool string) (string, bool) {
	group, mode := groupKey(n), modeKey(tool)
	if g := n.v.spec.GroupLimit; g > 0 && l.places[group] >= g {
		return group, false
	}
	switch p.ExecutionMode {
	case contracts.ModeSequential:
		return mode, l.places[mode] == 0
	case contracts.ModeParallelChunked:
		b := l.batches[mode]
		return mode, b == nil || b.started < p.ChunkSize
	default:
		return "", true
	}
}

func (l *loop) occupy(n *node, p contracts.Policy, tool string) {
	l.places[groupKey(n)]++
	l.places[modeKey(tool)]++
	if p.ExecutionMode != contracts.ModeParallelChunked {
		return
	}
	b := l.batches[modeKey(tool)]
	if b == nil {
		b = &batch{}
		l.batches[modeKey(tool)] = b
	}
	b.started++
	b.running++
}

// vacate gives all places of an exchange back.
func (l *loop) vacate(n *node, tool string) {
	for _, key := range n.held {
		l.r.limits.release(key)
	}
	n.held = nil
	l.places[groupKey(n)]--
	l.places[modeKey(tool)]--
	l.undefer(groupKey(n))
	mode := modeKey(tool)
	b := l.batches[mode]
	if b == nil {
		l.undefer(mode)
		return
	}
	if b.running--; b.running == 0 { // the next batch begins when the last has ended
		delete(l.batches, mode)
		l.undefer(mode)
	}
}

func groupKey(n *node) string    { return "group:" + n.v.spec.Group }
func modeKey(tool string) string { return "mode:" + tool }
func capKey(tool string) string  { return "cap:" + tool }
func rateKey(tool string) string { return "rate:" + tool }
func domainKey(tool string) string {
	domain, _, _ := strings.Cut(tool, ".")
	return "domain:" + domain
}
func attemptText(n int) string   { return "attempt " + strconv.Itoa(n) }
func (r NodeRecord) nth() string { return strconv.Itoa(max(r.Writes, 1)) }
func (r NodeRecord) key(runID string) string {
	if r.Writes == 0 {
		return ""
	}
	return runID + "/" + r.NodeID + "/" + r.nth()
}

func (l *loop) newCall(n *node, entry *contracts.CapabilityEntry, params map[string]any) Call {
	return Call{
		Entry: entry, Parameters: params,
		Context: contracts.ExecuteContext{
			RunID: l.stored.ID, NodeID: n.rec.NodeID, Attempt: max(n.rec.Attempts, 1),
			TimeoutMS: entry.Policy.TimeoutMS, Phase: n.v.spec.Phase, Instance: l.instance(n, entry),
			CapabilityDigest: entry.Digest, Principal: l.stored.Plan.Owner,
		},
		Timeout: min(entry.Policy.Timeout(), contracts.MaxExchange),
	}
}

// instance is the node's own for its own domain, else what the plan chose for
// the other domain.
func (l *loop) instance(n *node, entry *contracts.CapabilityEntry) string {
	if n.entry != nil && n.entry.Domain == entry.Domain && n.v.spec.Instance != "" {
		return n.v.spec.Instance
	}
	return l.stored.Plan.Instances[entry.Domain]
}

// exchange runs one call beside the loop; its completion comes by the inbox,
// panics included. A write outlives the cancelling of the run and the stop of
// the process as long as it can, and records what it observed under its nonce.
func (l *loop) exchange(n *node, t task, c Call) {
	ctx := l.ctx
	if n.intent != nil && t == taskCall {
		ctx = context.WithoutCancel(ctx) // cancelling must not turn a known outcome into an unknown one
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout+time.Second)
	n.inflight, n.cancel = true, cancel
	l.inflight++
	intent, id, started := n.intent, n.rec.NodeID, l.r.cfg.Now()
	doubtful, idempotency := n.rec.Doubtful, n.policy.Idempotency
	l.group.Go(func() error {
		defer cancel()
		reply := l.r.invoke(ctx, c)
		if t == taskCall && intent != nil && !leavesOpen(doubtful, idempotency, reply) {
			l.r.observe(ctx, *intent, reply)
		}
		l.inbox.put(message{
			kind: msgReply, nodeID: id, task: t, reply: reply,
			tookMS: l.r.cfg.Now().Sub(started).Milliseconds(), key: c.Entry.Ref(),
		})
		return nil
	})
}

// invoke makes a panic of the adapter a broken exchange.
func (r *Runner) invoke(ctx context.Context, c Call) (reply Reply) {
	defer func() {
		if p := recover(); p != nil {
			reply = Reply{Kind: ReplyBroken, Message: fmt.Sprintf("the call panicked: %v", p)}
		}
	}()
	return r.invoker.Invoke(ctx, c)
}

// observe records what is known for good about a write; whoever holds the
// lease by then takes it into the ledger.
func (r *Runner) observe(ctx context.Context, i Intent, reply Reply) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	err := r.note(ctx, i, reply)
	for contracts.CodeOf(err) == contracts.CodeUnavailable && ctx.Err() == nil && r.base.Err() == nil {
		select {
		case <-time.After(250 * time.Millisecond):
			err = r.note(ctx, i, reply)
		case <-ctx.Done():
		case <-r.base.Done():
		}
	}
	if err != nil {
		r.cfg.Logger.WarnContext(ctx, "outcome of a write is not recorded yet", slog.String("run_id", i.RunID), slog.String("node_id", i.NodeID), slog.Any("error", err))
	}
}

func (r *Runner) note(ctx context.Context, i Intent, reply Reply) (err error) {
	switch {
	case reply.Kind == ReplyAccepted && reply.Operation != i.Operation:
		return r.store.RecordOperation(ctx, i.Nonce, reply.Operation)
	case definitive(reply):
		_, err = r.store.RecordOutcome(ctx, i.Nonce, outcomeOf(reply, r.cfg.Now()))
	}
	return err
}

// leavesOpen tells whether the refusal of a repeat says nothing of what an
// earlier attempt did that was not answered. Only a domain that keeps keys
// speaks for all attempts.
func leavesOpen(doubtful bool, idempotency contracts.Idempotency, r Reply) bool {
	if !doubtful {
		return false
	}
	switch r.Kind {
	case ReplyInvalid, ReplyUnauthorized, ReplyConflict, ReplyRefused, ReplyChanged:
		return true
	case ReplyResult:
		return idempotency == contracts.IdempotencyNatural && !r.Result.OK && r.Result.Error.EffectOf() == contracts.EffectNone
	default:
		return false
	}
}

// definitive tells whether a reply to a write settles what it did.
func definitive(r Reply) bool {
	switch r.Kind {
	case ReplyInvalid, ReplyUnauthorized, ReplyConflict, ReplyRefused:
		return true
	case ReplyResult:
		return r.Result.OK || (r.Result.Error.EffectOf() != contracts.EffectUnknown && !again(r))
	default:
		return false
	}
}

// again tells whether a refusal may be sent again: the domain says that it is
// retryable and had no effect.
func again(r Reply) bool {
	e := r.Result.Error
	return e != nil && e.Retryable && e.EffectOf() == contracts.EffectNone
}

func outcomeOf(r Reply, at time.Time) Outcome {
	o := Outcome{Kind: r.Kind, At: at, BadAnswer: r.Faults}
	if r.Kind == ReplyResult {
		o.Result = &r.Result
		return o
	}
	o.Error = &contracts.ToolError{Type: errorType(r), Message: r.Message, Effect: contracts.EffectNone}
	return o
}

func (o Outcome) reply() Reply {
	r := Reply{Kind: o.Kind, Faults: o.BadAnswer}
	if o.Result != nil {
		r.Result = *o.Result
	}
	if o.Error != nil {
		r.Message = o.Error.Message
	}
	return r
}

// materialize replaces references to artifacts by their content, except where
// the schema takes the reference itself. What is to be stored with the next
// commit is not in the store yet.
func (r *Runner) materialize(ctx context.Context, e *contracts.CapabilityEntry, params map[string]any, pending ...Blob) (map[string]any, error) {
	if !hasArtifacts(params) {
		return params, nil
	}
	m := materializer{load: func(sha string) ([]byte, error) {
		if i := slices.IndexFunc(pending, func(b Blob) bool { return b.SHA256 == sha }); i >= 0 {
			return pending[i].Body, nil
		}
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return r.store.Blob(ctx, sha)
	}}
	var schema map[string]any
	if err := json.Unmarshal(e.Capability.Schema, &schema); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", e.Ref(), err)
	}
	full, err := m.replace(params, schema)
	if err != nil {
		return nil, err
	}
	out, _ := full.(map[string]any)
	return out, nil
}
