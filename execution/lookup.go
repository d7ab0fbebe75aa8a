package execution

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
	"github.com/manifold-run/manifold/execution/verdict"
	"github.com/manifold-run/manifold/internal/expr"
)

// reconcileOrAsk determines an unknown outcome by the declared reconcile rule, or by asking a
// person.
func reconcileOrAsk(t *activation) {
	if t.row.Step != runstate.StepReconcile {
		t.row.Tries = 0
	}
	t.row.Step = runstate.StepReconcile
	if t.n.entry == nil || t.n.entry.Capability.Metadata.Reconcile == nil {
		outcomeUnknown(t, "there is no way to look it up")
		return
	}
	t.again()
}

// reconcile calls the look-up that reports whether the write took effect.
func reconcile(t *activation) {
	if t.n.entry == nil && !findCapability(t.deps, t.n) {
		outcomeUnknown(t, "the capability is no longer registered")
		return
	}
	rule := t.n.entry.Capability.Metadata.Reconcile
	if rule == nil {
		outcomeUnknown(t, "there is no way to look it up")
		return
	}
	lookupCall(t, taskReconcile, rule.Capability, rule.ParamMap, func(why string) { outcomeUnknown(t, why) })
}

// lookupCall makes the exchange of a reconcile or a read-back.
func lookupCall(t *activation, what task, ref string, paramMap map[string]any, giveUp func(why string)) {
	around := t.env()
	entry, err := around.catalog().Resolve(ref, t.n.entry.Domain)
	if err != nil || entry.Policy.SideEffectClass.Writes() {
		giveUp(ref + " cannot be called to look it up")
		return
	}
	params, err := mapped(t, paramMap)
	if err == nil {
		err = fitsSchema(entry, params)
	}
	if err != nil {
		giveUp(err.Error())
		return
	}
	if !t.admit(entry.Ref(), entry.Policy) {
		return
	}
	t.row.Tries++
	c := newCall(t, entry, params)
	t.running()
	t.calls.begin(t.n, what, c)
}

// mapped resolves the param_map of a look-up.
func mapped(t *activation, m map[string]any) (map[string]any, error) {
	v, _, err := expr.Resolve(asAny(m), t.run.CallScope(t.row))
	if err != nil {
		return nil, err
	}
	params, _ := v.(map[string]any)
	return params, nil
}

// settleDelay is the interval at which an early "no" is checked again.
const settleDelay = 5 * time.Second

// onReconciled accepts a yes at once, and a no only when the write can no longer be in flight.
func onReconciled(t *activation, r Reply) {
	if r.Kind != ReplyResult || !r.Result.OK {
		repeatLookup(t, r)
		return
	}
	applied, known := r.Result.Facts["applied"].(bool)
	now, believable := t.now(), until(t.n.Intent, t.row).Add(contracts.ReconcileGrace)
	switch {
	case known && applied:
		foundApplied(t, r.Result)
	case !known:
		outcomeUnknown(t, "looking it up gave no answer")
	case now.Before(believable):
		t.row.Tries = 0
		t.queue("the write to settle", earlier(now.Add(settleDelay), believable))
	default:
		foundAbsent(t)
	}
}

// earlier returns the first of two times; the zero time is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// repeatLookup queues the next look-up of a write's outcome, and asks a person after the last
// attempt.
func repeatLookup(t *activation, r Reply) {
	if t.row.Tries >= contracts.ReadAttempts {
		outcomeUnknown(t, "looking it up did not work: "+r.Message)
		return
	}
	t.queue("the next look-up", t.now().Add(max(backoff(t.row.Tries), min(r.RetryAfter, time.Hour))))
}

// foundApplied completes a write whose reply was lost.
func foundApplied(t *activation, found contracts.ToolResult) {
	found.Summary = contracts.CleanSummary("took effect, as a look-up confirmed: " + found.Summary)
	t.take(runstate.IntentSettled{Node: t.n.ID()})
	storeContent(t, found)
	beginVerify(t)
}

// foundAbsent sends the write once more, with the same key and approval.
func foundAbsent(t *activation) {
	if t.row.Resent {
		outcomeUnknown(t, "it was sent twice and did not take effect")
		return
	}
	t.row.Doubtful, t.row.Error = false, nil
	if t.run.Cancelling() {
		t.end(contracts.NodeCancelled)
		return
	}
	t.row.Resent, t.row.Step = true, runstate.StepSent
	t.row.Attempts = max(min(t.row.Attempts, t.n.policy.Attempts()-1), 0)
	t.row.MachineMS = 0
	t.again()
}

// outcomeUnknown asks a person. The locks are kept; other writes of the run continue.
func outcomeUnknown(t *activation, why string) {
	t.row.Step = runstate.StepUnknown
	message := "It is not known whether this took effect: " + why + "."
	if t.row.Error != nil {
		message += " (" + t.row.Error.Message + ")"
	}
	t.ask(contracts.Interrupt{
		Type: contracts.InterruptOutcomeUnknown, Prompt: message,
		Reason: "the outcome of a write is unknown", Roles: []string{"operator"}, Warning: answerWarning(t),
		Options: []contracts.InterruptOption{
			{ID: contracts.AnswerApplied, Label: "It took effect"},
			{ID: contracts.AnswerNotApplied, Label: "It did not take effect"},
			{ID: contracts.AnswerRepeatLookup, Label: "Look again"},
		},
	}, contracts.NodeOutcomeUnknown)
}

// beginVerify starts the read-back of a write, if the manifest declares one.
func beginVerify(t *activation) {
	t.row.Error = nil
	if t.n.entry == nil || t.n.entry.Capability.Metadata.Verify == nil || t.run.Run.Plan.DryRun {
		t.end(contracts.NodeCompleted)
		return
	}
	t.row.Step, t.row.Tries, t.row.LookupAt = runstate.StepVerify, 0, t.now()
	t.again()
}

func readBack(t *activation) {
	if t.n.entry == nil && !findCapability(t.deps, t.n) {
		unverified(t, "the capability is no longer registered")
		return
	}
	rule := t.n.entry.Capability.Metadata.Verify
	if rule == nil {
		t.end(contracts.NodeCompleted)
		return
	}
	if t.row.LookupAt.IsZero() {
		t.row.LookupAt = t.now()
	}
	lookupCall(t, taskVerify, rule.Capability, rule.ParamMap, func(why string) { unverified(t, why) })
}

// onReadBack compares what was read back with the declared assertions. within_ms gives an
// eventually consistent system time to catch up.
func onReadBack(t *activation, r Reply) {
	rule := t.n.entry.Capability.Metadata.Verify
	if r.Kind != ReplyResult || !r.Result.OK {
		if t.row.Tries < contracts.ReadAttempts {
			t.queue("the next read-back", t.now().Add(backoff(t.row.Tries)))
			return
		}
		unverified(t, "the read-back did not work: "+r.Message)
		return
	}
	checks, ok := assertions(t, rule.Assertions, r.Result.Facts)
	within := time.Duration(rule.WithinMS) * time.Millisecond
	if wait := backoff(t.row.Tries); !ok && t.now().Add(wait).Before(t.row.LookupAt.Add(within)) {
		t.queue("the write to become visible", t.now().Add(wait))
		return
	}
	t.row.Checks = slices.Concat(t.row.Checks, checks)
	t.end(contracts.NodeCompleted)
}

func assertions(t *activation, rules []contracts.Condition, facts map[string]any) ([]contracts.Check, bool) {
	scope := t.run.CallScope(t.row)
	scope["facts"] = asAny(facts)
	all := true
	checks := make([]contracts.Check, 0, len(rules))
	for _, rule := range rules {
		check := contracts.Check{Name: verdict.CheckReadBack, Detail: describe(rule)}
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

// unverified completes a write that could not be read back: it took effect, but that was not
// verified.
func unverified(t *activation, why string) {
	t.row.Checks = slices.Concat(t.row.Checks, []contracts.Check{{Name: verdict.CheckUnverified, Detail: contracts.CleanSummary(why)}})
	t.end(contracts.NodeCompleted)
}

// describe formats a condition for people: facts.days = ${params.days}.
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
