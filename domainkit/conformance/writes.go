package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/manifold-run/manifold/contracts"
)

// checkWrites executes the safe examples of writes if Options.AllowWrites is set.
func (s *suite) checkWrites(ctx context.Context) {
	for i := range s.manifest.Capabilities {
		c := &s.manifest.Capabilities[i]
		if !c.Metadata.SideEffectClass.Writes() {
			continue
		}
		w := &writeCheck{suite: s, capability: c, pointer: capabilityPointer(i)}
		s.check(ctx, "write "+c.Name, w.run)
	}
}

// writeCheck checks one write.
type writeCheck struct {
	*suite
	capability *contracts.Capability
	pointer    string
	at         string // pointer of the example
}

func (w *writeCheck) run(ctx context.Context, p *probe) {
	at := slices.IndexFunc(w.capability.Metadata.Examples, func(e contracts.CallExample) bool { return e.Safe })
	switch {
	case at < 0:
		p.skip("it has no example that is marked safe")
		return
	case !w.opt.AllowWrites:
		p.skip("writes are not allowed")
		return
	}
	w.at = fmt.Sprintf("%s/metadata/examples/%d", w.pointer, at)
	request := w.call(w.capability, sent(w.capability, w.capability.Metadata.Examples[at].Parameters))
	if !w.lookUp(ctx, p, w.capability, w.pointer, &request) {
		return
	}
	w.dryRun(ctx, p, request)
	request.Context.IdempotencyKey = newKey()
	got, ok := w.first(ctx, p, request)
	if !ok {
		return
	}
	switch policyOf(w.capability).Idempotency {
	case contracts.IdempotencyKeyed:
		w.repeat(ctx, p, request, got)
		w.conflict(ctx, p, request)
	case contracts.IdempotencyNatural:
		w.repeatNatural(ctx, p, request)
	case contracts.IdempotencyNone, contracts.IdempotencyNotApplicable:
	}
	w.verify(ctx, p, request, got)
	w.reconcile(ctx, p, request)
	w.compensate(ctx, p, request, got)
}

// dryRun requests a dry run: a write that does not support it must refuse.
func (w *writeCheck) dryRun(ctx context.Context, p *probe, request call) {
	request.Context.DryRun = true
	request.Context.IdempotencyKey = newKey()
	got, err := w.execute(ctx, w.capability, request)
	if err != nil {
		p.fail("reachable", w.at, "", "%s", err)
		return
	}
	claims := w.capability.Metadata.DryRun
	if claims && (!got.isResult || !got.result.OK) {
		p.fail("dry-run", w.pointer+"/metadata/dry_run", "Honour context.dry_run or do not declare it.", "a dry run fails: %s", got.reason())
	}
	if !claims && got.isResult && got.result.OK {
		p.warn("dry-run", w.pointer+"/metadata/dry_run", "Refuse context.dry_run where it is not honoured.",
			"%s was executed although a dry run was asked for", w.capability.Name)
	}
}

// first executes the write. A keyed write is sent twice at once with one key, which must give one
// execution and one result.
func (w *writeCheck) first(ctx context.Context, p *probe, request call) (outcome, bool) {
	twins := 1
	if policyOf(w.capability).Idempotency == contracts.IdempotencyKeyed {
		twins = 2
	}
	outcomes, errs := make([]outcome, twins), make([]error, twins)
	var all sync.WaitGroup
	for i := range twins {
		all.Go(func() { outcomes[i], errs[i] = w.execute(ctx, w.capability, request) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		p.fail("reachable", w.at, "", "%s", err)
		return outcome{}, false
	}
	if w.absent(p, outcomes[0]) || !checkResult(p, w.capability, outcomes[0], w.at) {
		return outcome{}, false
	}
	if twins == 2 && !same(outcomes[0].result, outcomes[1].result) {
		p.fail("idempotency-concurrent", w.at, "Let a second call with the same key wait for the first, or answer 202.",
			"two calls with one key at once got different answers: %s and %s", outcomes[0].excerpt(), outcomes[1].excerpt())
	}
	return outcomes[0], true
}

func (w *writeCheck) repeat(ctx context.Context, p *probe, request call, first outcome) {
	request.Context.Attempt = 2
	got, err := w.execute(ctx, w.capability, request)
	if err != nil {
		p.fail("reachable", w.at, "", "%s", err)
		return
	}
	if !same(first.result, got.result) {
		p.fail("idempotency-repeat", w.at, "Keep the final result under the key and answer repeats with it.",
			"a repeat with the same key got another answer: %s, first %s", got.excerpt(), first.excerpt())
	}
}

// conflict reuses the key with other parameters.
func (w *writeCheck) conflict(ctx context.Context, p *probe, request call) {
	other := w.otherParameters(request.Parameters)
	if other == nil {
		p.check.Detail = "the conflict of keys was not checked: there is no second safe example and no number to change"
		return
	}
	request.Parameters = other
	got, err := w.execute(ctx, w.capability, request)
	if err != nil {
		p.fail("reachable", w.at, "", "%s", err)
		return
	}
	if got.status != http.StatusConflict {
		p.fail("idempotency-conflict", w.at, "Fingerprint capability, instance and parameters, and answer 409.",
			"the key with other parameters is answered with %d: %s", got.status, got.excerpt())
	}
}

func (w *writeCheck) otherParameters(used map[string]any) map[string]any {
	for _, e := range w.capability.Metadata.Examples {
		other := sent(w.capability, e.Parameters)
		for _, name := range lookedUp(w.capability) {
			if _, given := other[name]; !given && used[name] != nil {
				other[name] = used[name]
			}
		}
		if e.Safe && !same(other, used) {
			return other
		}
	}
	schema, err := contracts.CompileSchema(w.capability.Schema)
	if err != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		n, ok := used[name].(float64)
		changed := maps.Clone(used)
		changed[name] = n + 1
		if ok && len(schema.Validate(changed)) == 0 {
			return changed
		}
	}
	return nil
}

func (w *writeCheck) repeatNatural(ctx context.Context, p *probe, request call) {
	request.Context.Attempt = 2
	got, err := w.execute(ctx, w.capability, request)
	if err != nil {
		p.fail("reachable", w.at, "", "%s", err)
		return
	}
	if !got.isResult || !got.result.OK {
		p.fail("idempotency-natural", w.at, "Let a repeat succeed, or declare idempotency none or keyed.",
			"a repeat of a naturally idempotent write fails: %s", got.reason())
	}
}

// follow calls the capability of one of the write's rules.
func (w *writeCheck) follow(ctx context.Context, p *probe, rule, name string, paramMap map[string]any, values scope, key string) (outcome, bool) {
	pointer := w.pointer + "/metadata/" + rule
	target := w.capabilityNamed(name)
	if target == nil {
		p.check.Detail = rule + " is in another domain and was not checked"
		return outcome{}, false
	}
	parameters, err := values.parameters(paramMap)
	if unread, ok := errors.AsType[unreadError](err); ok {
		p.check.Detail = rule + " was not checked: " + unread.Error()
		return outcome{}, false
	}
	if err != nil {
		p.fail(rule, pointer+"/param_map", "", "%s", err)
		return outcome{}, false
	}
	request := w.call(target, parameters)
	request.Context.IdempotencyKey = key
	got, err := w.execute(ctx, target, request)
	if err != nil {
		p.fail("reachable", pointer, "", "%s", err)
		return outcome{}, false
	}
	if !got.isResult || !got.result.OK {
		p.fail(rule, pointer, "", "%s of %s fails: %s", name, w.capability.Name, got.reason())
		return outcome{}, false
	}
	return got, true
}

func (s *suite) capabilityNamed(name string) *contracts.Capability {
	name = strings.TrimPrefix(name, s.manifest.Domain+".")
	for i := range s.manifest.Capabilities {
		if s.manifest.Capabilities[i].Name == name {
			return &s.manifest.Capabilities[i]
		}
	}
	return nil
}

func (w *writeCheck) verify(ctx context.Context, p *probe, request call, got outcome) {
	rule := w.capability.Metadata.Verify
	if rule == nil {
		return
	}
	values := writeScope(request, got)
	back, ok := w.follow(ctx, p, "verify", rule.Capability, rule.ParamMap, values, "")
	if !ok {
		return
	}
	values["facts"] = back.result.Facts
	for i, assertion := range rule.Assertions {
		holds, err := values.holds(assertion)
		if err == nil && !holds {
			p.fail("verify", fmt.Sprintf("%s/metadata/verify/assertions/%d", w.pointer, i),
				"Mend the assertion or what the read-back answers.", "%s does not hold after the write: %s", assertion.Path, back.excerpt())
		}
	}
}

// reconcile must report the write as applied, and must not report one that was never sent.
func (w *writeCheck) reconcile(ctx context.Context, p *probe, request call) {
	rule := w.capability.Metadata.Reconcile
	if rule == nil {
		return
	}
	pointer := w.pointer + "/metadata/reconcile"
	// The core reconciles when it has no result, so the rule must not need one.
	values := writeScope(request, outcome{})
	back, ok := w.follow(ctx, p, "reconcile", rule.Capability, rule.ParamMap, values, "")
	if !ok {
		return
	}
	if back.result.Facts["applied"] != true {
		p.fail("reconcile", pointer, "Answer facts.applied true for a write that took effect.", "after the write it says %s", back.excerpt())
	}
	request.Context.IdempotencyKey = newKey()
	if !slices.Contains(slices.Collect(maps.Values(rule.ParamMap)), any("${context.idempotency_key}")) {
		return
	}
	back, ok = w.follow(ctx, p, "reconcile", rule.Capability, rule.ParamMap, writeScope(request, outcome{}), "")
	if ok && back.result.Facts["applied"] == true {
		p.fail("reconcile", pointer, "Answer facts.applied false, or null if that is not known.", "for a key that was never used it says %s", back.excerpt())
	}
}

func (w *writeCheck) compensate(ctx context.Context, p *probe, request call, got outcome) {
	if rule := w.capability.Metadata.Compensation; rule != nil {
		w.follow(ctx, p, "compensation", rule.Capability, writeScope(request, got).passedOn(rule.ParamMap), writeScope(request, got), newKey())
	}
}
