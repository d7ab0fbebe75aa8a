package planner

import (
	"fmt"
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/expr"
)

// node checks one node; an error ends the validation.
func (v *validator) node(i int) error {
	n := v.plan.Nodes[i]
	at := fmt.Sprintf("/nodes/%d", i)
	v.common(at, i, n)
	switch n.Kind {
	case contracts.KindTool:
		return v.tool(at, i, n)
	case contracts.KindHuman:
		v.human(at, i, n)
	case contracts.KindJoin:
		v.join(at, n)
	default:
		return contracts.Errorf(contracts.CodeUnsupported, "node %s: the kind %q cannot be run", n.NodeID, cut(string(n.Kind), 60))
	}
	return nil
}

var nodeRoles = []string{
	"", contracts.RolePreSearch, contracts.RolePreChoose, contracts.RolePost, contracts.RoleFollowup, contracts.RoleJoin,
}

// common checks the members of all kinds of nodes.
func (v *validator) common(at string, i int, n contracts.Node) {
	if len([]rune(n.Title)) > contracts.MaxSummaryChars {
		v.fault(at+"/title", "must have at most %d characters", contracts.MaxSummaryChars)
	}
	if !slices.Contains(nodeRoles, n.Role) {
		v.fault(at+"/role", "is not a role of a node")
	}
	if _, ok := v.index[n.ForNode]; n.ForNode != "" && !ok {
		v.fault(at+"/of", "there is no node %q", cut(n.ForNode, 64))
	}
	if n.GroupLimit < 0 {
		v.fault(at+"/group_limit", "must not be negative")
	}
	if n.When != nil {
		v.condition(at+"/when", i, *n.When)
	}
	if n.Item != nil {
		v.fault(at+"/item", "is set while the plan runs")
	}
	if n.Kind != contracts.KindTool {
		v.onlyTools(at, n)
	}
}

// onlyTools refuses members that are only for tool nodes.
func (v *validator) onlyTools(at string, n contracts.Node) {
	for _, m := range []struct {
		name string
		set  bool
	}{
		{"tool", n.Tool != ""},
		{"params", len(n.Params) > 0},
		{"policy", n.Policy != nil},
		{"locks", len(n.Locks) > 0},
		{"instance", n.Instance != ""},
		{"for_each", n.ForEach != nil},
	} {
		if m.set {
			v.fault(at+"/"+m.name, "only nodes of kind tool have it")
		}
	}
}

func (v *validator) join(at string, n contracts.Node) {
	if n.Human != nil {
		v.fault(at+"/human", "only nodes of kind human have it")
	}
	if len(n.DependsOn) == 0 {
		v.fault(at+"/depends_on", "a join must wait for something")
	}
}

func (v *validator) human(at string, i int, n contracts.Node) {
	h := n.Human
	if h == nil {
		v.fault(at+"/human", "is required")
		return
	}
	// The other types are decisions that the system itself requests; a plan must not be able to
	// imitate a gate.
	if h.Interrupt != contracts.InterruptClarification {
		v.fault(at+"/human/interrupt", "a plan can only ask for a clarification")
	}
	if h.Prompt == "" || len([]rune(h.Prompt)) > contracts.MaxSummaryChars {
		v.fault(at+"/human/prompt", "must have 1 to %d characters", contracts.MaxSummaryChars)
	}
	switch h.Choose {
	case "", contracts.ChooseAsk, contracts.ChooseFirst, contracts.ChooseFail:
	default:
		v.fault(at+"/human/choose", "must be ask, first or fail")
	}
	if h.OptionsFrom != "" {
		v.whole(at+"/human/options_from", i, h.OptionsFrom)
	}
	if len(h.ResponseSchema) > 0 {
		v.responseSchema(at, h.ResponseSchema)
	}
}

func (v *validator) responseSchema(at string, schema map[string]any) {
	raw, err := contracts.Canonical(schema)
	if err == nil {
		_, err = contracts.CompileSchema(raw)
	}
	if err != nil {
		v.fault(at+"/human/response_schema", "does not compile: %s", err)
	}
}

func (v *validator) tool(at string, i int, n contracts.Node) error {
	if n.Human != nil {
		v.fault(at+"/human", "only nodes of kind human have it")
	}
	entry, ok := v.catalog.Capability(n.Tool)
	if !ok {
		v.fault(at+"/tool", "there is no capability %q; say domain.name", cut(n.Tool, 120))
		return nil
	}
	target := v.capability(entry)
	if err := permitted(entry, v.plan.Owner, n.Phase); err != nil {
		return err
	}
	if n.Instance != v.plan.Instances[entry.Domain] || (n.Instance == "" && v.hasInstances(entry.Domain)) {
		v.fault(at+"/instance", "must be the plan's instance of %s", entry.Domain)
	}
	v.policy(at, n, entry)
	if err := v.params(at, i, n, target); err != nil {
		return err
	}
	for _, lock := range locks(target, n.Instance) {
		if !slices.Contains(n.Locks, lock) {
			v.fault(at+"/locks", "must hold %q", lock)
		}
	}
	if v.plan.DryRun && entry.Policy.SideEffectClass.Writes() && !entry.Policy.DryRun {
		v.dry = append(v.dry, fault(at, "%s writes and cannot pretend to", n.Tool))
	}
	return nil
}

func (v *validator) hasInstances(domain string) bool {
	d, ok := v.catalog.Domain(domain)
	return ok && len(d.Manifest.Instances) > 0
}

func (v *validator) capability(e *contracts.CapabilityEntry) *capability {
	if known, ok := v.capabilities[e.Ref()]; ok {
		return known
	}
	made := newCapability(e)
	v.capabilities[e.Ref()] = made
	return made
}

// policy refuses a node whose policy is weaker than the effective one.
func (v *validator) policy(at string, n contracts.Node, e *contracts.CapabilityEntry) {
	if n.Policy == nil {
		v.fault(at+"/policy", "is required")
		return
	}
	for _, name := range weaker(*n.Policy, e.Policy) {
		v.fault(at+"/policy/"+name, "is weaker than the policy of %s", n.Tool)
	}
}

// weaker returns the members of a policy that are less strict than the effective one: all that
// merging the effective policy into it would change.
func weaker(p, effective contracts.Policy) []string {
	strict := effective.Stricter(p)
	var out []string
	for _, f := range []struct {
		name string
		same bool
	}{
		{"side_effect_class", strict.SideEffectClass == p.SideEffectClass},
		{"execution_mode", strict.ExecutionMode == p.ExecutionMode},
		{"idempotency", strict.Idempotency == p.Idempotency},
		{"idempotency_window_s", strict.IdempotencyWindowS == p.IdempotencyWindowS},
		{"risk_level", strict.RiskLevel == p.RiskLevel},
		{"approval_required", strict.ApprovalRequired == p.ApprovalRequired},
		{"approval/four_eyes", strict.Approval.FourEyes == p.Approval.FourEyes},
		{"approval/roles", subset(p.Approval.Roles, effective.Approval.Roles)},
		{"approval/quorum", strict.Approval.Quorum == p.Approval.Quorum},
		{"approval/people", slices.Equal(strict.Approval.People, p.Approval.People)},
		{"approval/wait_s", strict.Approval.WaitS == p.Approval.WaitS},
		{"approval/expires_s", strict.Approval.ExpiresS == p.Approval.ExpiresS},
		{"timeout_ms", p.TimeoutMS > 0 && strict.TimeoutMS == p.TimeoutMS},
		{"node_timeout_ms", p.NodeTimeoutMS > 0 && strict.NodeTimeoutMS == p.NodeTimeoutMS},
		{"wait_max_s", p.WaitMaxS > 0 && strict.WaitMaxS == p.WaitMaxS},
		{"max_concurrency", p.MaxConcurrency >= 0 && strict.MaxConcurrency == p.MaxConcurrency},
		{"rate_limit_per_min", p.RateLimitPerMin >= 0 && strict.RateLimitPerMin == p.RateLimitPerMin},
		{"chunk_size", p.ChunkSize >= 0 && strict.ChunkSize == p.ChunkSize},
		{"verifier_required", strict.VerifierRequired == p.VerifierRequired},
		{"dry_run", strict.DryRun == p.DryRun},
		{"waiver", p.Waiver == effective.Waiver || p.Waiver == ""},
	} {
		if !f.same {
			out = append(out, f.name)
		}
	}
	return out
}

// subset reports whether roles is a non-empty subset of the other list.
func subset(roles, of []string) bool {
	outside := func(role string) bool { return !slices.Contains(of, role) }
	return len(roles) > 0 && !slices.ContainsFunc(roles, outside)
}

// params checks parameters: their names, literals against the schema, and that expressions read
// only what is known by then.
func (v *validator) params(at string, i int, n contracts.Node, target *capability) error {
	for _, f := range target.unknown(n.Params) {
		v.fault(at+"/params"+f.Pointer, "%s", f.Message)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Params)) {
		if target.plansOnly(name) {
			v.fault(at+"/params/"+contracts.EscapeToken(name), "is for the planner and never sent")
		}
	}
	v.expressions(at+"/params", i, n.Params)
	if n.ForEach != nil {
		v.whole(at+"/for_each/items", i, n.ForEach.Items)
		if n.ForEach.MaxConcurrency < 0 {
			v.fault(at+"/for_each/max_concurrency", "must not be negative")
		}
	}
	for _, name := range target.missing(n.Params) {
		if !target.plansOnly(name) {
			v.fault(at+"/params"+pointerOf(name), "is required")
		}
	}
	known := literals(n.Params)
	faults, err := target.checkKnown(known, len(known) == len(n.Params) && len(v.faults) == 0 && !target.hasPlansOnly())
	for _, f := range faults {
		v.fault(at+"/params"+f.Pointer, "%s", f.Message)
	}
	return err
}

// hasPlansOnly reports whether the schema has parameters that are removed; then it cannot be
// applied as a whole to the rest.
func (c *capability) hasPlansOnly() bool {
	return slices.ContainsFunc(c.view.Properties, func(p contracts.PropertyView) bool { return p.OnlyHere })
}

// roots returns the allowed roots of expressions of a plan.
func roots(n contracts.Node) []string {
	if n.ForEach != nil {
		return []string{"steps", "context", "item"}
	}
	return []string{"steps", "context"}
}

func (v *validator) expressions(at string, i int, value any) {
	faults := expr.Check(value, roots(v.plan.Nodes[i])...)
	for _, f := range faults {
		v.fault(at+f.Pointer, "%s", f.Message)
	}
	if len(faults) > 0 {
		return
	}
	refs, err := expr.Refs(value)
	if err != nil {
		v.fault(at, "%s", err)
		return
	}
	for _, ref := range refs {
		v.earlier(at, i, ref)
	}
}

// earlier refuses a path to a step that may not have ended.
func (v *validator) earlier(at string, i int, text string) {
	path, err := contracts.ParseExpr(text)
	if err != nil || path.Root() != "steps" {
		return
	}
	if j, ok := v.index[second(path)]; !ok || !v.before[i].has(j) {
		v.fault(at, "reads %q, which is no step that ends before this one", cut(text, 120))
	}
}

// whole checks a text that must be exactly one expression.
func (v *validator) whole(at string, i int, text string) {
	if _, ok := wholeExpr(text); !ok {
		v.fault(at, "must be one expression, such as ${steps.n1.facts.items}")
		return
	}
	v.expressions(at, i, text)
}

func (v *validator) condition(at string, i int, cond contracts.Condition) {
	faults := expr.CheckCondition(cond, roots(v.plan.Nodes[i])...)
	for _, f := range faults {
		v.fault(at+f.Pointer, "%s", f.Message)
	}
	if len(faults) > 0 {
		return
	}
	refs, err := expr.RefsOf(cond)
	if err != nil {
		v.fault(at, "%s", err)
	}
	for _, ref := range refs {
		v.earlier(at, i, ref)
	}
}
