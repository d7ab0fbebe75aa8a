package execution

import (
	"fmt"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/expr"
)

// lookUp finds out what an unknown outcome was: by the declared reconcile, or
// by asking a person.
func (l *loop) lookUp(n *node) {
	if n.rec.Step != StepReconcile {
		n.rec.Tries = 0
	}
	n.rec.Step = StepReconcile
	if n.entry == nil || n.entry.Capability.Metadata.Reconcile == nil {
		l.outcomeUnknown(n, "there is no way to look it up")
		return
	}
	l.again(n)
}

// reconcile asks whether the write took effect.
func (l *loop) reconcile(n *node) {
	if n.entry == nil && !l.findCapability(n) {
		l.outcomeUnknown(n, "the capability is no longer registered")
		return
	}
	rule := n.entry.Capability.Metadata.Reconcile
	if rule == nil {
		l.outcomeUnknown(n, "there is no way to look it up")
		return
	}
	l.lookupCall(n, taskReconcile, rule.Capability, rule.ParamMap, func(why string) { l.outcomeUnknown(n, why) })
}

// lookupCall makes the exchange of a reconcile or a read-back.
func (l *loop) lookupCall(n *node, t task, ref string, paramMap map[string]any, giveUp func(why string)) {
	entry, err := l.r.catalogs.Catalog().Resolve(ref, n.entry.Domain)
	if err != nil || entry.Policy.SideEffectClass.Writes() {
		giveUp(ref + " cannot be called to look it up")
		return
	}
	params, err := l.mapped(n, paramMap)
	if err == nil {
		err = l.r.schemas.check(entry, params)
	}
	if err != nil {
		giveUp(err.Error())
		return
	}
	if !l.admit(n, entry.Policy, entry.Ref()) {
		return
	}
	l.setState(n, contracts.NodeRunning)
	n.rec.Tries++
	l.exchange(n, t, l.newCall(n, entry, params))
}

// settleDelay is how often an early "no" is looked at again.
const settleDelay = 5 * time.Second

// onReconciled believes a yes at once, and a no only when the write can no
// longer be under way.
func (l *loop) onReconciled(n *node, r Reply) {
	if r.Kind != ReplyResult || !r.Result.OK {
		l.lookAgain(n, r)
		return
	}
	applied, known := r.Result.Facts["applied"].(bool)
	now, believable := l.r.cfg.Now(), n.until().Add(contracts.ReconcileGrace)
	switch {
	case known && applied:
		l.foundApplied(n, r.Result)
	case !known:
		l.outcomeUnknown(n, "looking it up gave no answer")
	case now.Before(believable):
		n.rec.Tries = 0
		l.queue(n, "the write to settle", earlier(now.Add(settleDelay), believable))
	default:
		l.foundAbsent(n)
	}
}

// earlier is the first of two times; the zero time is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

func (l *loop) lookAgain(n *node, r Reply) {
	if n.rec.Tries >= contracts.ReadAttempts {
		l.outcomeUnknown(n, "looking it up did not work: "+r.Message)
		return
	}
	l.queue(n, "the next look-up", l.r.cfg.Now().Add(max(l.backoff(n.rec.Tries), min(r.RetryAfter, time.Hour))))
}

// foundApplied completes a write whose answer was lost.
func (l *loop) foundApplied(n *node, found contracts.ToolResult) {
	found.Summary = contracts.CleanSummary("took effect, as a look-up confirmed: " + found.Summary)
	l.consume(n.intent, Outcome{Kind: ReplyResult, Result: &found, At: l.r.cfg.Now()})
	l.keep(n, found)
	l.beginVerify(n)
}

// foundAbsent sends the write once more, with the same key and approval.
func (l *loop) foundAbsent(n *node) {
	if n.rec.Resent {
		l.outcomeUnknown(n, "it was sent twice and did not take effect")
		return
	}
	n.rec.Doubtful, n.rec.Error = false, nil
	if l.cancelling {
		l.end(n, contracts.NodeCancelled)
		return
	}
	n.rec.Resent, n.rec.Step = true, StepSent
	n.rec.Attempts = max(min(n.rec.Attempts, n.policy.Attempts()-1), 0)
	n.rec.MachineMS = 0
	l.again(n)
}

// outcomeUnknown asks a person. The locks stay; other writes of the run go on.
func (l *loop) outcomeUnknown(n *node, why string) {
	n.rec.Step = StepUnknown
	message := "It is not known whether this took effect: " + why + "."
	if n.rec.Error != nil {
		message += " (" + n.rec.Error.Message + ")"
	}
	l.openInterrupt(n, contracts.Interrupt{
		Type: contracts.InterruptOutcomeUnknown, Prompt: message,
		Reason: "the outcome of a write is unknown", Roles: []string{"operator"},
		Options: []contracts.InterruptOption{
			{ID: contracts.AnswerApplied, Label: "It took effect"},
			{ID: contracts.AnswerNotApplied, Label: "It did not take effect"},
			{ID: contracts.AnswerLookAgain, Label: "Look again"},
		},
	}, contracts.NodeOutcomeUnknown)
	if l.writing == n {
		l.stopWriting()
	}
}

// beginVerify reads a write back, if the manifest says how.
func (l *loop) beginVerify(n *node) {
	n.rec.Error = nil
	if n.entry == nil || n.entry.Capability.Metadata.Verify == nil || l.stored.Plan.DryRun {
		l.end(n, contracts.NodeCompleted)
		return
	}
	n.rec.Step, n.rec.Tries, n.rec.LookupAt = StepVerify, 0, l.r.cfg.Now()
	l.again(n)
}

func (l *loop) readBack(n *node) {
	if n.entry == nil && !l.findCapability(n) {
		l.unverified(n, "the capability is no longer registered")
		return
	}
	rule := n.entry.Capability.Metadata.Verify
	if rule == nil {
		l.end(n, contracts.NodeCompleted)
		return
	}
	if n.rec.LookupAt.IsZero() {
		n.rec.LookupAt = l.r.cfg.Now()
	}
	l.lookupCall(n, taskVerify, rule.Capability, rule.ParamMap, func(why string) { l.unverified(n, why) })
}

// onReadBack compares what was read back with what was declared. A declared
// within_ms lets an eventually consistent system catch up.
func (l *loop) onReadBack(n *node, r Reply) {
	rule := n.entry.Capability.Metadata.Verify
	if r.Kind != ReplyResult || !r.Result.OK {
		if n.rec.Tries < contracts.ReadAttempts {
			l.queue(n, "the next read-back", l.r.cfg.Now().Add(l.backoff(n.rec.Tries)))
			return
		}
		l.unverified(n, "the read-back did not work: "+r.Message)
		return
	}
	checks, ok := l.assertions(n, rule.Assertions, r.Result.Facts)
	within := time.Duration(rule.WithinMS) * time.Millisecond
	if wait := l.backoff(n.rec.Tries); !ok && l.r.cfg.Now().Add(wait).Before(n.rec.LookupAt.Add(within)) {
		l.queue(n, "the write to become visible", l.r.cfg.Now().Add(wait))
		return
	}
	n.rec.Checks = append(n.rec.Checks, checks...)
	l.end(n, contracts.NodeCompleted)
}

func (l *loop) assertions(n *node, rules []contracts.Condition, facts map[string]any) ([]contracts.Check, bool) {
	scope := l.callScope(n, n.rec.key(l.stored.ID))
	scope["facts"] = asAny(orEmpty(facts))
	all := true
	checks := make([]contracts.Check, 0, len(rules))
	for _, rule := range rules {
		check := contracts.Check{Name: checkReadBack, Detail: describe(rule)}
		holds, reads, err := expr.Holds(rule, scope)
		check.OK = err == nil && holds
		if err != nil {
			check.Detail += ": " + err.Error()
		}
		for _, read := range reads {
			if read.Path == rule.Path {
				check.Evidence = read.Value
			}
		}
		all = all && check.OK
		checks = append(checks, check)
	}
	return checks, all
}

// unverified completes a write that could not be read back: it did take
// effect, but nobody has seen it.
func (l *loop) unverified(n *node, why string) {
	n.rec.Checks = append(n.rec.Checks, contracts.Check{Name: checkUnverified, Detail: contracts.CleanSummary(why)})
	l.end(n, contracts.NodeCompleted)
}

// describe writes a condition as people do: facts.days = ${params.days}.
func describe(c contracts.Condition) string {
	switch {
	case c.Equals != nil:
		return c.Path + " = " + asText(*c.Equals)
	case c.GTE != nil:
		return c.Path + " ≥ " + asText(*c.GTE)
	case c.LTE != nil:
		return c.Path + " ≤ " + asText(*c.LTE)
	case c.Exists != nil && !*c.Exists:
		return c.Path + " is absent"
	case c.Exists != nil:
		return c.Path + " is present"
	default:
		return c.Path + " is one of " + strings.Trim(fmt.Sprintf("%q", c.In), "[]")
	}
}
