package planner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Validate is the oracle of this package's tests: it checks a compiled plan against the catalog by
// its own rules. It refuses a plan that would not run, or with a gate weaker than the catalog's
// effective policy: the error lists every fault by JSON pointer. A plan with changed capabilities
// is a conflict.
func Validate(plan contracts.Plan, catalog *contracts.Catalog) error {
	if catalog == nil {
		return contracts.Errorf(contracts.CodeInternal, "validate a plan: there is no catalog")
	}
	v := &validator{plan: plan, catalog: catalog, capabilities: map[string]*capability{}, index: map[string]int{}}
	if err := v.envelope(); err != nil {
		return err
	}
	if !v.graph() {
		return contracts.Invalid("the plan is not valid", v.faults...)
	}
	for i := range plan.Nodes {
		if err := v.node(i); err != nil {
			return err
		}
	}
	return v.verdict()
}

// validator collects the faults of one plan.
type validator struct {
	plan         contracts.Plan
	catalog      *contracts.Catalog
	capabilities map[string]*capability
	index        map[string]int
	// before is, for each node, the set of nodes that end before it starts.
	before  []bits
	faults  []contracts.Fault
	changed []contracts.Fault
	dry     []contracts.Fault
}

func (v *validator) fault(pointer, format string, args ...any) {
	v.faults = append(v.faults, fault(pointer, format, args...))
}

// verdict combines the faults into one error; a weakened gate has priority over a changed
// capability.
func (v *validator) verdict() error {
	v.digests()
	switch {
	case len(v.faults) > 0:
		return contracts.Invalid("the plan is not valid", v.faults...)
	case len(v.dry) > 0:
		return dryRunRefused(v.dry)
	case len(v.changed) > 0:
		return &contracts.Error{
			Code: contracts.CodeConflict, Message: "capabilities have changed since the plan was made; plan again", Faults: v.changed,
		}
	default:
		return nil
	}
}

// envelope checks the plan outside of its nodes.
func (v *validator) envelope() error {
	if len(v.plan.Frames) > 0 || strings.HasPrefix(string(v.plan.Strategy), string(contracts.StrategyWorkflow)) {
		return contracts.Errorf(contracts.CodeUnsupported, "the plan of a workflow is made from its manifest, not given")
	}
	known := []contracts.Strategy{
		contracts.StrategySingle, contracts.StrategyParallelRead, contracts.StrategyReadWrite, contracts.StrategyComposed,
	}
	if !slices.Contains(known, v.plan.Strategy) {
		v.fault("/strategy", "%q is not a strategy", cut(string(v.plan.Strategy), 60))
	}
	if len([]rune(v.plan.Goal)) > contracts.MaxSummaryChars {
		v.fault("/goal", "must have at most %d characters", contracts.MaxSummaryChars)
	}
	if err := checkBudgets(v.plan.Budgets); err != nil {
		return err
	}
	switch n, limit := len(v.plan.Nodes), nodeLimit(v.plan.Budgets); {
	case n == 0:
		v.fault("/nodes", "must have at least one node")
	case n > limit:
		return tooManyNodes("the plan", limit)
	}
	for _, domain := range slices.Sorted(maps.Keys(v.plan.Instances)) {
		d, ok := v.catalog.Domain(domain)
		if !ok || !hasInstance(d, v.plan.Instances[domain]) {
			v.fault("/instances/"+contracts.EscapeToken(domain), "there is no such instance")
		}
	}
	return v.checkHash()
}

func (v *validator) checkHash() error {
	hash, err := HashPlan(v.plan)
	if err != nil {
		return contracts.Errorf(contracts.CodeInvalid, "the plan has no hash: %w", err)
	}
	if hash != v.plan.PlanHash {
		v.fault("/plan_hash", "is not the hash of this plan")
	}
	return nil
}

// graph checks ids and dependencies and computes the order. It reports false if validation cannot
// continue.
func (v *validator) graph() bool {
	sound := true
	for i, n := range v.plan.Nodes {
		pointer := fmt.Sprintf("/nodes/%d/node_id", i)
		if !validID(n.NodeID) {
			v.fault(pointer, "must be 1 to 64 letters, digits, - or _, and begin with a letter")
			sound = false
		} else if _, taken := v.index[n.NodeID]; taken {
			v.fault(pointer, "%q is used twice", n.NodeID)
			sound = false
		}
		v.index[n.NodeID] = i
	}
	edges := 0
	for i, n := range v.plan.Nodes {
		edges += len(n.DependsOn) + len(n.RunAfter)
		sound = v.edges(i, "depends_on", n.DependsOn) && sound
		sound = v.edges(i, "after", n.RunAfter) && sound
	}
	if edges > maxEdges {
		v.fault("/nodes", "have more than %d dependencies", maxEdges)
		return false
	}
	return sound && v.acyclic()
}

// edges checks one list of the nodes that a node waits for.
func (v *validator) edges(i int, name string, list []string) bool {
	sound := true
	for j, dep := range list {
		if at, ok := v.index[dep]; !ok || at == i || slices.Contains(list[:j], dep) {
			v.fault(fmt.Sprintf("/nodes/%d/%s/%d", i, name, j), "must name another node, once")
			sound = false
		}
	}
	return sound
}

// acyclic computes the predecessors of every node, or finds a cycle.
func (v *validator) acyclic() bool {
	nodes := v.plan.Nodes
	v.before = make([]bits, len(nodes))
	waiting := make([]int, len(nodes))
	dependents := make([][]int, len(nodes))
	var ready []int
	for i, n := range nodes {
		v.before[i] = newBits(len(nodes))
		waiting[i] = len(n.DependsOn) + len(n.RunAfter)
		if waiting[i] == 0 {
			ready = append(ready, i)
		}
		for _, dep := range slices.Concat(n.DependsOn, n.RunAfter) {
			dependents[v.index[dep]] = append(dependents[v.index[dep]], i)
		}
	}
	for done := 0; done < len(ready); done++ {
		i := ready[done]
		for _, d := range dependents[i] {
			if slices.Contains(nodes[d].DependsOn, nodes[i].NodeID) { // an edge of order gives no result
				v.before[d].add(v.before[i], i)
			}
			if waiting[d]--; waiting[d] == 0 {
				ready = append(ready, d)
			}
		}
	}
	if len(ready) < len(nodes) {
		v.fault("/nodes", "depend on each other in a circle")
		return false
	}
	return true
}

func validID(id string) bool {
	if id == "" || len(id) > 64 || !isLetter(id[0]) {
		return false
	}
	for i := range len(id) {
		if c := id[i]; !isLetter(c) && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return (c|0x20) >= 'a' && (c|0x20) <= 'z' }

// digests checks that everything the run may call is pinned with its current digest.
func (v *validator) digests() {
	needs := map[string]string{}
	for ref := range v.capabilities {
		for _, e := range reachable(v.catalog, v.capabilities[ref].CapabilityEntry) {
			needs[e.Ref()] = e.Digest
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(needs)) {
		pinned, ok := v.plan.CapabilityDigests[ref]
		pointer := "/capability_digests/" + contracts.EscapeToken(ref)
		switch {
		case !ok:
			v.fault(pointer, "is missing")
		case pinned != needs[ref]:
			v.changed = append(v.changed, fault(pointer, "%s is not what it was", ref))
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(v.plan.CapabilityDigests)) {
		if _, needed := needs[ref]; !needed {
			v.fault("/capability_digests/"+contracts.EscapeToken(ref), "the plan never calls it")
		}
	}
}

// bits is a set of node indexes.
type bits []uint64

func newBits(n int) bits { return make(bits, (n+63)/64) }

func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// add adds another set and one index to the set.
func (b bits) add(other bits, i int) {
	for w := range b {
		b[w] |= other[w]
	}
	b[i/64] |= 1 << (i % 64)
}
