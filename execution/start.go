package execution

import (
	"reflect"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/expr"
)

// start does the next thing for a ready node.
func (l *loop) start(n *node) {
	if l.cancelling && !l.inDoubt(n) {
		l.end(n, contracts.NodeCancelled)
		return
	}
	if n.v.expanded {
		l.join(n)
		return
	}
	if n.rec.StartedAt == nil && n.v.spec.When != nil && !l.wanted(n) {
		return
	}
	switch n.v.spec.Kind {
	case contracts.KindJoin:
		l.join(n)
	case contracts.KindHuman:
		l.ask(n)
	case contracts.KindTool:
		if n.v.spec.ForEach != nil {
			l.expand(n)
			return
		}
		l.startTool(n)
	}
}

// wanted evaluates the condition of a node; one that does not hold skips it.
func (l *loop) wanted(n *node) bool {
	refs, err := expr.RefsOf(*n.v.spec.When)
	if err == nil {
		var holds bool
		if holds, _, err = expr.Holds(*n.v.spec.When, l.scope(n, refs)); err == nil && holds {
			return true
		}
	}
	if err != nil {
		l.fail(n, contracts.ErrInvalidParameters, "condition: "+err.Error(), contracts.EffectNone)
		return false
	}
	n.rec.Result = &Result{Summary: "not needed: its condition does not hold"}
	l.end(n, contracts.NodeSkipped)
	return false
}

// conditionReads are what the node's condition rests on: an approver is to see
// that, too.
func (l *loop) conditionReads(n *node) []expr.Read {
	if n.v.spec.When == nil {
		return nil
	}
	refs, err := expr.RefsOf(*n.v.spec.When)
	if err != nil {
		return nil // it was evaluated before the node began
	}
	_, reads, err := expr.Holds(*n.v.spec.When, l.scope(n, refs))
	if err != nil {
		return nil
	}
	return reads
}

// startTool goes on with a tool node where its step says it stands.
func (l *loop) startTool(n *node) {
	switch n.rec.Step {
	case StepSent:
		l.resend(n)
	case StepReconcile:
		l.reconcile(n)
	case StepVerify:
		l.readBack(n)
	default:
		l.prepare(n)
	}
}

// prepare resolves the parameters of a call and checks them, the capability
// and the policy as they are now, not as they were when the plan was made.
func (l *loop) prepare(n *node) {
	if !l.look(n) {
		return
	}
	reads, ok := l.resolveParams(n)
	if !ok {
		return
	}
	full, err := l.r.materialize(l.ctx, n.entry, n.rec.Params, l.pending.Blobs...)
	if l.storeIsAway(n, err) {
		return
	}
	if err == nil {
		err = l.r.schemas.check(n.entry, full)
	}
	if err != nil {
		l.fail(n, contracts.ErrInvalidParameters, err.Error(), contracts.EffectNone)
		return
	}
	reads = append(l.withLabels(reads), l.conditionReads(n)...)
	if n.rec.Evidence, err = evidence(reads); err != nil {
		l.fail(n, contracts.ErrInternal, err.Error(), contracts.EffectNone)
		return
	}
	if n.rec.Edited == nil {
		n.rec.Evidence = append(n.rec.Evidence, n.v.spec.Evidence...)
	}
	if n.policy.SideEffectClass.Writes() && !l.stored.Plan.DryRun {
		l.write(n, full)
		return
	}
	if n.policy.SideEffectClass.Writes() && !n.policy.DryRun {
		l.fail(n, contracts.ErrPrecondition, n.v.spec.Tool+" cannot be tried without doing it", contracts.EffectNone)
		return
	}
	if !l.stored.Plan.DryRun && n.policy.ApprovalRequired && !l.approved(n) {
		return
	}
	l.call(n, full)
}

// storeIsAway lets a node wait for a store that cannot be read now: that is no
// fault of the node.
func (l *loop) storeIsAway(n *node, err error) bool {
	if err == nil || (contracts.CodeOf(err) != contracts.CodeUnavailable && l.ctx.Err() == nil) {
		return false
	}
	l.queue(n, "the store", l.r.cfg.Now().Add(time.Second))
	return true
}

// look finds the capability in the present catalog; one that is gone is a
// question to a person.
func (l *loop) look(n *node) bool {
	if l.findCapability(n) {
		return true
	}
	l.changed(n)
	return false
}

// findCapability sets the entry and the policy that counts: the stricter of
// what was planned and what is declared now.
func (l *loop) findCapability(n *node) bool {
	if planned := n.v.spec.Policy; planned != nil {
		n.policy = *planned
	}
	catalog := l.r.catalogs.Catalog()
	entry, ok := catalog.Capability(n.v.spec.Tool)
	if !ok || !declared(catalog, entry.Domain, n.v.spec.Instance) {
		n.entry = nil
		return false
	}
	n.entry = entry
	if planned := n.v.spec.Policy; planned != nil {
		n.policy = planned.Stricter(entry.Policy)
	} else {
		n.policy = entry.Policy
	}
	return true
}

// declared tells whether the domain still has the instance that was planned.
func declared(catalog *contracts.Catalog, domain, instance string) bool {
	d, ok := catalog.Domain(domain)
	if !ok || instance == "" || d.Manifest == nil {
		return ok
	}
	return slices.ContainsFunc(d.Manifest.Instances, func(i contracts.Instance) bool { return i.ID == instance })
}

// sameAsPlanned tells whether the capability is the one that the plan pinned.
func (l *loop) sameAsPlanned(n *node) bool {
	return l.stored.Plan.CapabilityDigests[n.v.spec.Tool] == n.entry.Digest
}

func (l *loop) resolveParams(n *node) ([]expr.Read, bool) {
	refs, err := expr.Refs(asAny(n.v.spec.Params))
	var value any
	var reads []expr.Read
	if err == nil {
		value, reads, err = expr.Resolve(asAny(n.v.spec.Params), l.scope(n, refs))
	}
	if err != nil {
		l.fail(n, contracts.ErrInvalidParameters, err.Error(), contracts.EffectNone)
		return nil, false
	}
	params, ok := value.(map[string]any)
	if !ok {
		l.fail(n, contracts.ErrInvalidParameters, "the parameters are not an object", contracts.EffectNone)
		return nil, false
	}
	n.rec.Params = params
	if n.rec.Edited != nil {
		n.rec.Params = n.rec.Edited
		reads = stillRead(n, params, reads)
	}
	return reads, true
}

// stillRead leaves the reads of those parameters that an edit did not touch.
func stillRead(n *node, planned map[string]any, reads []expr.Read) []expr.Read {
	kept := map[string]any{}
	for name, value := range n.rec.Edited {
		if before, ok := planned[name]; ok && reflect.DeepEqual(before, value) {
			kept[name] = n.v.spec.Params[name]
		}
	}
	refs, err := expr.Refs(kept)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(reads, func(r expr.Read) bool { return !slices.Contains(refs, r.Path) })
}

// call sends a read, a proposal, or a write that only pretends.
func (l *loop) call(n *node, params map[string]any) {
	if !l.mayCall(n) || !l.admit(n, n.policy, n.v.spec.Tool) {
		return
	}
	l.begun(n)
	l.setState(n, contracts.NodeRunning)
	if n.rec.Operation == "" || n.rec.AttemptAt.IsZero() {
		n.rec.AttemptAt = l.r.cfg.Now()
		n.rec.Attempts++
	}
	c := l.newCall(n, n.entry, params)
	c.Context.DryRun = l.stored.Plan.DryRun
	c.Context.Operation = n.rec.Operation
	c.Timeout = l.exchangeTime(n)
	l.emitFor(n, contracts.Event{Type: contracts.EventToolCallStart, Status: attemptText(n.rec.Attempts)})
	l.exchange(n, taskCall, c)
}

// exchangeTime is what is left of the attempt, at most one exchange.
func (l *loop) exchangeTime(n *node) time.Duration {
	left := n.rec.AttemptAt.Add(n.policy.Timeout()).Sub(l.r.cfg.Now())
	return min(max(left, 0), contracts.MaxExchange)
}
