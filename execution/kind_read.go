package execution

import (
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// read is a call without an effect: a read, a proposal, or a write in a dry run. It may be repeated
// and cancelled at any time.
type read struct{}

func (read) start(t *activation) { prepare(t) }

// do makes the call with its resolved parameters.
func (read) do(t *activation, full map[string]any) {
	dryRun := t.run.Run.Plan.DryRun
	p := t.n.policy
	if p.SideEffectClass.Writes() && !p.DryRun {
		t.fail(contracts.ErrPrecondition, t.n.Spec.Tool+" cannot be tried without doing it", contracts.EffectNone)
		return
	}
	if !dryRun && p.ApprovalRequired && !approved(t) {
		return
	}
	if !mayCall(t) || !t.admit(t.n.Spec.Tool, p) {
		return
	}
	t.row.Begin(t.now())
	beginAttempt(t)
	c := newCall(t, t.n.entry, full)
	c.Context.DryRun = dryRun
	c.Context.Operation = t.row.Operation
	c.Context.Input = t.row.Input.Given()
	c.Timeout = exchangeTime(t)
	attempt := t.row.Attempts
	t.running()
	t.emit(callStart(attempt))
	t.calls.begin(t.n, taskCall, c)
}

func (r read) reply(t *activation, d completion) {
	if d.task == taskRefresh {
		t.again()
		return
	}
	switch reply := d.reply; reply.Kind {
	case ReplyResult:
		r.result(t, reply)
	case ReplyAccepted:
		poll(t, r, reply)
	case ReplyBusy:
		busy(t, r, reply)
	case ReplyChanged:
		recheck(t)
	case ReplyNotSent:
		if !retryNotSent(t, reply) {
			t.refuse(&contracts.ToolError{Type: runstate.ErrorType(reply), Message: reply.Message, Effect: contracts.EffectNone})
		}
	case ReplyGone, ReplyBroken:
		t.row.Operation = ""
		r.broken(t, reply)
	case ReplyInvalid, ReplyUnauthorized, ReplyConflict, ReplyRefused:
		t.fail(runstate.ErrorType(reply), reply.Message, contracts.EffectNone)
	}
}

func (read) result(t *activation, r Reply) {
	t.row.WaitingSince = noTime
	switch e := r.Result.Error; {
	case r.Result.OK:
		storeContent(t, r.Result)
		t.end(contracts.NodeCompleted)
	case needsInput(t, e):
	case e == nil || !e.Retryable || !retry(t, r, 0):
		t.refuse(e)
	}
}

// broken handles a reply that leaves the outcome unknown.
func (read) broken(t *activation, r Reply) {
	t.row.AttemptAt, t.row.WaitingSince = noTime, noTime
	if !retry(t, r, 0) {
		t.fail(runstate.ErrorType(r), r.Message, "")
	}
}

func (read) answer(t *activation, last contracts.InterruptDecided) { answerCall(t, last) }

func (read) resume(*activation) bool { return false }

func (read) onWaitTimeout(t *activation) bool {
	t.fail(contracts.ErrTimeout, "waited longer than wait_max_s for "+t.row.QueuedFor, contracts.EffectNone)
	return true
}

func (read) mayHaveEffect(*node) bool { return false }
