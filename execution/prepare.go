package execution

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
	"github.com/manifold-run/manifold/execution/verdict"
	"github.com/manifold-run/manifold/internal/expr"
)

// noTime is the zero time.
var noTime time.Time //nolint:gochecknoglobals // a constant that Go cannot spell

// prepare resolves the parameters of a call and checks them against the current capability and
// policy, not those of the time of planning. Then the call is made as its current class: a read or
// a write.
func prepare(t *activation) {
	if !resolveCapability(t) {
		return
	}
	reads, ok := resolveParams(t)
	if !ok {
		return
	}
	around := t.env()
	full, err := around.materialize(t.n.entry, t.row.Params)
	if waitForStore(t, err) {
		return
	}
	if err == nil {
		err = fitsSchema(t.n.entry, full)
	}
	if err != nil {
		t.fail(contracts.ErrInvalidParameters, err.Error(), contracts.EffectNone)
		return
	}
	reads = append(t.run.WithLabels(t.n.Node, reads), conditionReads(t)...)
	if t.row.Evidence, err = t.run.Evidence(t.n.Node, reads); err != nil {
		t.fail(contracts.ErrInternal, err.Error(), contracts.EffectNone)
		return
	}
	if t.row.Edited == nil {
		t.row.Evidence = append(t.row.Evidence, t.n.Spec.Evidence...)
	}
	for _, said := range t.row.Settled {
		t.row.Evidence = append(t.row.Evidence, contracts.EvidenceItem{NodeID: t.n.ID(), Path: contracts.EvidenceSettlement, Value: said})
	}
	t.row.Evidence = append(t.row.Evidence, t.row.Input.Evidence(t.n.ID())...)
	if !showBeside(t) {
		return
	}
	if t.n.policy.SideEffectClass.Writes() && !t.run.Run.Plan.DryRun {
		t.row.Evidence = append(t.row.Evidence, verdict.Unjudged(t.run, t.n.Node)...)
		write{}.do(t, full)
		return
	}
	read{}.do(t, full)
}

// showBeside adds what the workflow shows to the approvers of the step.
func showBeside(t *activation) bool {
	for _, name := range slices.Sorted(maps.Keys(t.n.Spec.Show)) {
		value, _, err := evaluate(t, t.n.Spec.Show[name])
		if err != nil {
			t.fail(contracts.ErrBadExpression, "show: "+err.Error(), contracts.EffectNone)
			return false
		}
		if body, err := contracts.Canonical(value); err != nil || len(body) > contracts.MaxEvidenceBytes {
			value = "more than can be shown here; it stands in the run"
		}
		if value != nil {
			t.row.Evidence = append(t.row.Evidence, contracts.EvidenceItem{NodeID: t.n.ID(), Path: contracts.EvidenceShown + name, Value: value})
		}
	}
	return true
}

// waitForStore queues a node until the store can be read again; the node does not fail.
func waitForStore(t *activation, err error) bool {
	if err == nil || contracts.CodeOf(err) != contracts.CodeUnavailable {
		return false
	}
	t.queue("the store", t.now().Add(time.Second))
	return true
}

// resolveCapability looks the capability up in the current catalog. If it is missing, also after a
// refresh, a person is asked. If its phases do not include the step's, the node fails.
func resolveCapability(t *activation) bool {
	if !findCapability(t.deps, t.n) {
		refetch(t)
		return false
	}
	phase, phases := t.n.Spec.Phase, t.n.entry.Capability.Metadata.Phases
	if phase == "" || len(phases) == 0 || slices.Contains(phases, phase) {
		return true
	}
	t.fail(contracts.ErrPrecondition, t.n.entry.Ref()+" may not be used in the phase "+strconv.Quote(phase)+", only in "+strings.Join(phases, ", "), contracts.EffectNone)
	return false
}

// findCapability sets the entry, and the policy as the stricter of the planned and the declared
// one. The current declaration may turn a read into a write.
func findCapability(k *deps, n *node) bool {
	if planned := n.Spec.Policy; planned != nil {
		n.policy = *planned
	}
	catalog := k.env().catalog()
	entry, ok := catalog.Capability(n.Spec.Tool)
	if !ok || !hasPlannedInstance(catalog, entry.Domain, n.Spec.Instance) {
		n.entry = nil
		return false
	}
	n.entry, n.Private = entry, privateParams(entry)
	if planned := n.Spec.Policy; planned != nil {
		n.policy = planned.Stricter(entry.Policy)
	} else {
		n.policy = entry.Policy
	}
	if n.Spec.Kind == contracts.KindTool {
		n.handler = callOf(n.policy.SideEffectClass.Writes() && !k.run.Run.Plan.DryRun)
	}
	return true
}

// privateParams returns the parameters that are marked as personal data.
func privateParams(e *contracts.CapabilityEntry) []string {
	var names []string
	for name, spec := range e.Capability.Metadata.ParameterSpecs {
		if spec.PII {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// hasPlannedInstance reports whether the domain still has the planned instance.
func hasPlannedInstance(catalog *contracts.Catalog, domain, instance string) bool {
	d, ok := catalog.Domain(domain)
	if !ok || instance == "" || d.Manifest == nil {
		return ok
	}
	return slices.ContainsFunc(d.Manifest.Instances, func(i contracts.Instance) bool { return i.ID == instance })
}

// matchesPinned reports whether the capability is the one that the plan pinned.
func matchesPinned(t *activation) bool {
	return cmp.Or(t.n.Spec.Digest, t.run.Run.Plan.CapabilityDigests[t.n.Spec.Tool]) == t.n.entry.Digest
}

func resolveParams(t *activation) ([]expr.Read, bool) {
	value, reads, err := evaluate(t, asAny(t.n.Spec.Params))
	if err != nil {
		t.fail(expressionFault(t.n), err.Error(), contracts.EffectNone)
		return nil, false
	}
	params, ok := value.(map[string]any)
	if !ok {
		t.fail(contracts.ErrInvalidParameters, "the parameters are not an object", contracts.EffectNone)
		return nil, false
	}
	if t.n.InWorkflow() {
		withoutNulls(params)
	}
	t.row.Params = params
	if t.row.Edited != nil {
		t.row.Params = t.row.Edited
		reads = readsWithoutEdits(t.n.Spec.Params, t.row.Edited, params, reads)
	}
	return reads, true
}

// readsWithoutEdits returns the reads of those parameters that an edit did not change.
func readsWithoutEdits(spec, edited, planned map[string]any, reads []expr.Read) []expr.Read {
	kept := map[string]any{}
	for name, value := range edited {
		if before, ok := planned[name]; ok && reflect.DeepEqual(before, value) {
			kept[name] = spec[name]
		}
	}
	refs, err := expr.Refs(kept)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(reads, func(r expr.Read) bool { return !slices.Contains(refs, r.Path) })
}

// conditionHolds reports whether the condition of the node holds.
func conditionHolds(t *activation) bool {
	holds, _, err := holds(t, *t.n.Spec.When, nil)
	switch {
	case err != nil:
		t.fail(expressionFault(t.n), "condition: "+err.Error(), contracts.EffectNone)
		return false
	case holds:
		return true
	}
	t.row.Result = &Result{Summary: "not needed: its condition does not hold"}
	t.row.Skip = runstate.SkipWhen
	t.end(contracts.NodeSkipped)
	return false
}

// conditionReads returns what the node's condition has read, because approvers see that, too.
func conditionReads(t *activation) []expr.Read {
	if t.n.Spec.When == nil {
		return nil
	}
	_, reads, err := holds(t, *t.n.Spec.When, nil)
	if err != nil {
		return nil // it was evaluated before the node began
	}
	return reads
}

// mayTryAgain reports whether the node has machine time and the run retries left.
func mayTryAgain(t *activation) bool {
	if t.row.MachineMS >= int64(t.n.policy.NodeTimeoutMS) || t.n.IsReadRetry() {
		return false
	}
	limit := t.run.Run.Plan.Budgets.MaxRetries
	if limit <= 0 {
		return true
	}
	_, retries := t.run.Calls()
	return retries < limit
}

// mayCall reports whether the run may make one more call. A call that was begun may always be
// finished.
func mayCall(t *activation) bool {
	if t.run.Run.Plan.Budgets.MaxToolCalls <= 0 || t.row.Attempts > 0 || t.row.Operation != "" {
		return true
	}
	if b, err := runstate.BudgetOf(t.run, "", contracts.BudgetToolCalls); err == nil && b.Used < b.Limit {
		return true
	}
	if t.n.InWorkflow() {
		overBudget(t, contracts.BudgetToolCalls)
		return false
	}
	t.fail(contracts.ErrBudget, "the run may make no more calls: max_tool_calls is used up", contracts.EffectNone)
	return false
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func asAny(m map[string]any) any { return orEmpty(m) }

// asText formats a value for people.
func asText(v any) string { return runstate.Text(v) }
