package execution

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// task is the purpose of an exchange.
type task int

const (
	taskCall      task = iota // the node's own call
	taskReconcile             // did the write take effect?
	taskVerify                // read-back after a write
	taskRefresh               // fetch the manifest again
	taskModel                 // ask a model
	taskReplan                // ask the replanner
)

// completion is the end of an exchange. An exchange of the run itself has no node.
type completion struct {
	nodeID string
	task   task
	reply  Reply
	// thinking is the result of a model call, reserved the tokens that were reserved for it.
	thinking ModelResponse
	reserved int
	// next is the reply of the replanner, refused its error.
	next    ReplanReply
	refused error
	// tookMS is the time that the exchange took.
	tookMS int64
	// tool and policy name the slot that the exchange held, "" for none.
	tool   string
	policy contracts.Policy
}

// calls are the calls in flight of one run. Each ends with exactly one completion in the inbox,
// also after a panic. Only the owner of the run starts them.
type calls struct {
	r     *Runner
	inbox *inbox
	// group is not made with WithContext: one failed branch must not cancel the others. Its limit
	// is higher than what admission lets in.
	group    errgroup.Group
	inflight int
	// reserved are the tokens that model calls in flight may use.
	reserved int

	ctx context.Context //nolint:containedctx // the life of the run on this replica
}

// groupSize is the limit of a run's group: all calls that admission may let in, and as many that
// have reported their results and are about to end.
func groupSize(calls int) int { return 2*calls + 16 }

// work runs do in a goroutine and puts its completion into the inbox. If the group is full, do is
// not run and the completion is refused with ReplyNotSent.
func (x *calls) work(refused completion, do func() completion) {
	x.inflight++
	held := x.group.TryGo(func() error {
		x.inbox.put(message{kind: msgReply, done: do()})
		return nil
	})
	if !held {
		refused.reply = Reply{Kind: ReplyNotSent, Message: "too much is under way in this run"}
		x.inbox.put(message{kind: msgReply, done: refused})
	}
}

// lasts reports whether an exchange must not be cut off. Cancelling a write would turn a known
// outcome into an unknown one.
func lasts(n *node, t task) bool { return t == taskCall && n.Intent != nil }

// begin starts one call. A write is not cancelled when the run is cancelled or the process stops,
// and its outcome is recorded under its nonce.
func (x *calls) begin(n *node, t task, c Call) {
	ctx := x.ctx
	if n.lasting = lasts(n, t); n.lasting {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout+time.Second)
	n.cancel = cancel
	intent, started, lasting := n.Intent, x.r.cfg.Now(), n.lasting
	doubtful, idempotency := n.Row.Doubtful, n.policy.Idempotency
	d := completion{nodeID: n.ID(), task: t, tool: c.Entry.Ref(), policy: c.Entry.Policy}
	x.work(d, func() completion {
		defer cancel()
		d.reply = x.r.invoke(ctx, c)
		if lasting && !runstate.PriorAttemptUnknown(doubtful, idempotency, d.reply) {
			x.r.observe(ctx, intent, c.Context.Operation, d.reply)
		}
		d.tookMS = x.r.cfg.Now().Sub(started).Milliseconds()
		return d
	})
}

// refresh fetches the manifest of a node's domain again.
func (x *calls) refresh(n *node) {
	n.cancel, n.lasting = func() {}, false
	ctx, domain, d := x.ctx, strings.Split(n.Spec.Tool, ".")[0], completion{nodeID: n.ID(), task: taskRefresh}
	x.work(d, func() completion {
		if err := x.r.catalogs.Refresh(ctx, domain); err != nil {
			x.r.cfg.Logger.WarnContext(ctx, "manifest cannot be refreshed", slog.String("domain", domain), slog.Any("error", err))
		}
		return d
	})
}

// invoke turns a panic of the adapter into a broken exchange.
func (r *Runner) invoke(ctx context.Context, c Call) (reply Reply) {
	defer func() {
		if p := recover(); p != nil {
			reply = Reply{Kind: ReplyBroken, Message: fmt.Sprintf("the call panicked: %v", p)}
		}
	}()
	return r.invoker.Invoke(ctx, c)
}

// observe records a definitive outcome of a write, whatever the state of the lease. The current
// owner puts it into the ledger. It commits.
func (r *Runner) observe(ctx context.Context, i *Intent, operation string, reply Reply) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	err := r.noteOutcome(ctx, i, operation, reply)
	for contracts.CodeOf(err) == contracts.CodeUnavailable && ctx.Err() == nil && r.base.Err() == nil {
		select {
		case <-time.After(250 * time.Millisecond):
			err = r.noteOutcome(ctx, i, operation, reply)
		case <-ctx.Done():
		case <-r.base.Done():
		}
	}
	if err != nil {
		r.cfg.Logger.WarnContext(ctx, "outcome of a write is not recorded yet", slog.String("run_id", i.RunID), slog.String("node_id", i.NodeID), slog.Any("error", err))
	}
}

func (r *Runner) noteOutcome(ctx context.Context, i *Intent, operation string, reply Reply) (err error) {
	switch {
	case reply.Kind == ReplyAccepted && reply.Operation != operation:
		return r.store.RecordOperation(ctx, i.Nonce, reply.Operation)
	case runstate.IsDefinitive(reply):
		_, err = r.store.RecordOutcome(ctx, i.Nonce, runstate.OutcomeOf(reply, r.cfg.Now()))
	}
	return err
}
