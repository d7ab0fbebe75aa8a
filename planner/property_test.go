package planner_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner"
)

// TestEveryPlanIsSafe compiles thousands of random requests over random catalogs and checks
// invariants of every plan.
func TestEveryPlanIsSafe(t *testing.T) {
	t.Parallel()
	rounds := uint64(2000)
	if testing.Short() {
		rounds = 200
	}
	seen := map[string]int{}
	for seed := range rounds {
		g := generator{rand.New(rand.NewPCG(seed, 7))}
		catalog := g.catalog(t)
		req, result, err := answered(g.request(catalog))
		switch {
		case contracts.CodeOf(err) == contracts.CodeInternal:
			t.Fatalf("seed %d: %v", seed, err)
		case err != nil:
			seen["error "+string(contracts.CodeOf(err))]++
		case len(result.Questions) > 0:
			seen["question"]++
		default:
			checkPlan(t, seed, req, result.Plan, seen)
		}
	}
	t.Logf("seen: %v", seen)
	for kind, least := range map[string]int{
		"plan": 800, "write": 400, "join": 150, "followup": 100, "post": 100, "pre_search": 100, "for_each": 10, "waiver": 10,
		"when": 10, "question": 100, "error invalid": 50,
	} {
		if seen[kind] < least && !testing.Short() {
			t.Errorf("only %d of %q among the random requests; the test is too weak", seen[kind], kind)
		}
	}
}

// answered compiles a request and answers the questions that are not about parameters with their
// first option.
func answered(req planner.Request) (planner.Request, planner.Result, error) {
	result, err := planner.Compile(req)
	for range 4 {
		if err != nil || len(result.Questions) == 0 {
			break
		}
		for _, q := range result.Questions {
			switch {
			case q.Role != "":
				req.Roles = with(req.Roles, q.Role, q.Options[0].ID)
			case q.Domain != "":
				req.Instances = with(req.Instances, q.Domain, q.Options[0].ID)
			}
		}
		result, err = planner.Compile(req)
	}
	return req, result, err
}

func with(m map[string]string, key, value string) map[string]string {
	out := map[string]string{key: value}
	for k, v := range m {
		if k != key {
			out[k] = v
		}
	}
	return out
}

func checkPlan(t *testing.T, seed uint64, req planner.Request, plan contracts.Plan, seen map[string]int) {
	t.Helper()
	seen["plan"]++
	place := map[string]int{}
	for i, n := range plan.Nodes {
		for _, dep := range n.DependsOn {
			if at, ok := place[dep]; !ok || at >= i {
				t.Fatalf("seed %d: node %s depends on %s, which is not before it", seed, n.NodeID, dep)
			}
		}
		place[n.NodeID] = i
		seen[n.Role]++
		if n.ForEach != nil {
			seen["for_each"]++
		}
		if n.When != nil {
			seen["when"]++
		}
		if n.Kind == contracts.KindTool {
			checkGate(t, seed, req.Catalog, n, seen)
		}
	}
	checkHash(t, seed, req, plan)
}

// checkGate checks the main rule: a write has a gate, unless its manifest or the site has declared
// that it needs none.
func checkGate(t *testing.T, seed uint64, catalog *contracts.Catalog, n contracts.Node, seen map[string]int) {
	t.Helper()
	entry, ok := catalog.Capability(n.Tool)
	if !ok {
		t.Fatalf("seed %d: node %s calls %q, which does not exist", seed, n.NodeID, n.Tool)
	}
	if diff := cmp.Diff(entry.Policy, *n.Policy); diff != "" {
		t.Fatalf("seed %d: node %s has another policy than its capability (-effective +node):\n%s", seed, n.NodeID, diff)
	}
	if !n.Policy.SideEffectClass.Writes() {
		return
	}
	seen["write"]++
	if len(n.Locks) != len(entry.Capability.Metadata.Locks) {
		t.Fatalf("seed %d: node %s takes the locks %q, declared are %q", seed, n.NodeID, n.Locks, entry.Capability.Metadata.Locks)
	}
	declared := entry.Capability.Metadata.ApprovalRequired
	waived := n.Policy.Waiver != "" || (declared != nil && !*declared && n.Policy.RiskLevel.Rank() <= contracts.RiskLow.Rank() &&
		n.Policy.SideEffectClass == contracts.ClassWriteReversible)
	if waived && !n.Policy.ApprovalRequired {
		seen["waiver"]++
	}
	if !n.Policy.ApprovalRequired && !waived {
		t.Fatalf("seed %d: node %s writes without a gate and without a waiver", seed, n.NodeID)
	}
}

// checkHash compiles again, from copies with new maps, and decodes the plan.
func checkHash(t *testing.T, seed uint64, req planner.Request, plan contracts.Plan) {
	t.Helper()
	var intents []contracts.Intent
	for _, in := range req.Intents {
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var again contracts.Intent
		if err := contracts.DecodeStrict(raw, &again); err != nil {
			t.Fatal(err)
		}
		intents = append(intents, again)
	}
	req.Intents = intents
	again, err := planner.Compile(req)
	if err != nil {
		t.Fatalf("seed %d: the same request fails the second time: %v", seed, err)
	}
	if diff := cmp.Diff(plan, again.Plan); diff != "" {
		t.Fatalf("seed %d: the same request gives another plan:\n%s", seed, diff)
	}
	raw, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	var back contracts.Plan
	if err := contracts.DecodeStrict(raw, &back); err != nil {
		t.Fatalf("seed %d: the plan does not decode: %v", seed, err)
	}
	if err := planner.Validate(back, req.Catalog); err != nil {
		t.Fatalf("seed %d: the plan that was read back does not validate: %v", seed, err)
	}
}

// generator creates random catalogs and requests.
type generator struct{ *rand.Rand }

func (g generator) yes(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g generator, items ...T) T { return items[g.IntN(len(items))] }

func (g generator) catalog(t *testing.T) *contracts.Catalog {
	t.Helper()
	var manifests []*contracts.Manifest
	for d := range 1 + g.IntN(3) {
		m := &contracts.Manifest{SchemaVersion: "1", Domain: fmt.Sprintf("dom%d", d), Version: "1"}
		for i := range g.IntN(3) {
			m.Instances = append(m.Instances, contracts.Instance{ID: fmt.Sprintf("x%d", i), Default: i == 1})
		}
		m.Capabilities = []contracts.Capability{helper("find", "query"), helper("look", "v")}
		for i := range 1 + g.IntN(5) {
			m.Capabilities = append(m.Capabilities, g.capability(fmt.Sprintf("cap%d", i)))
		}
		manifests = append(manifests, m)
	}
	return newCatalog(t, g.site(), manifests...)
}

// site raises and waives policies like operators.
func (g generator) site() contracts.SitePolicy {
	site := contracts.SitePolicy{WaiveNotifier: g.yes(50)}
	if g.yes(30) {
		site.Roles = map[string]string{contracts.RoleNotifier: "dom0.cap0"}
	}
	if g.yes(20) {
		site.Floor = &contracts.Floor{Capabilities: map[string]contracts.FloorRule{
			"dom0.cap0": {RiskLevel: contracts.RiskCritical, ApprovalRequired: true, Approval: &contracts.ApprovalRule{Quorum: 2}},
		}}
	}
	return site
}

func helper(name, param string) contracts.Capability {
	return contracts.Capability{
		Name:     name,
		Schema:   fmt.Appendf(nil, `{"type":"object","properties":{%q:{"type":["string","array","null"]}}}`, param),
		Metadata: contracts.Metadata{SideEffectClass: contracts.ClassRead},
	}
}

func (g generator) capability(name string) contracts.Capability {
	schema := `{"type":"object","properties":{
		"a":{"type":"string"` + pick(g, "", `,"pattern":"^A[0-9]$"`) + `},
		"as":{"type":"array","items":{"type":"string"}},
		"b":{"type":"integer","minimum":0` + pick(g, "", `,"default":3`) + `},
		"bs":{"type":"array","items":{"type":"integer"},"maxItems":5},
		"say":{"type":"string"},"message":{"type":"string"},
		"also":{"type":"boolean","default":` + pick(g, "true", "false") + `,"x-manifold-only":true}}` +
		pick(g, "", `,"required":["b"]`, `,"required":["a"]`) + `}`
	m := contracts.Metadata{
		SideEffectClass: pick(g, contracts.ClassRead, contracts.ClassRead, contracts.ClassSuggest,
			contracts.ClassWriteReversible, contracts.ClassWriteIrreversible, ""),
		RiskLevel:   pick(g, "", contracts.RiskLow, contracts.RiskLow, contracts.RiskMedium, contracts.RiskCritical),
		Idempotency: pick(g, "", contracts.IdempotencyKeyed, contracts.IdempotencyNone),
		JoinKey:     pick(g, "", "", "", "j0", "j1"),
		DryRun:      g.yes(50),
	}
	if g.yes(40) {
		m.ApprovalRequired = new(g.yes(40))
	}
	if m.SideEffectClass != contracts.ClassRead && g.yes(50) {
		m.Locks = []string{"thing:{a}", "shared:all"}
		m.Compensation = &contracts.CapabilityCall{Capability: "cap0"}
		m.Verify = &contracts.VerifyRule{Capability: "look"}
	}
	g.rules(&m)
	return contracts.Capability{Name: name, Description: name + " does it.", Schema: json.RawMessage(schema), Metadata: m}
}

func (g generator) rules(m *contracts.Metadata) {
	if g.yes(60) {
		rules := []contracts.ArrayRule{
			{ParamName: "as", SingleParamName: "a", MaxConcurrency: g.IntN(4)},
			{ParamName: "bs", SingleParamName: "b"},
		}
		m.Decomposition = &contracts.Decomposition{ArrayParams: rules[:1+g.IntN(2)]}
	}
	if g.yes(40) {
		m.Flow = &contracts.Flow{Pre: []contracts.PreStep{{Type: "find", Param: "a", SearchCapability: "find"}}}
	}
	if g.yes(30) {
		if m.Flow == nil {
			m.Flow = &contracts.Flow{}
		}
		m.Flow.Post = []contracts.PostStep{{
			Type: "look", Capability: "look", Required: g.yes(30),
			ParamMap: map[string]any{"v": pick[any](g, "${result.facts.id}", "${params.a}", "${params.as}")},
		}}
	}
	if g.yes(60) {
		m.Plays = []contracts.RolePlay{{Role: pick(g, contracts.RoleNotifier, "r1")}}
	}
	if g.yes(55) {
		m.Composition = &contracts.Composition{
			FollowupRoles: []string{pick(g, contracts.RoleNotifier, "r1")}, FollowupRequired: g.yes(50), EnabledIf: g.condition(),
			ParamMap: map[string]any{
				"a": "${result.facts.name}", "b": 1, "message": "${result.summary}", "say": pick[any](g, "done: ${result.summary}", "${params.a} is done"),
			},
		}
		if g.yes(40) {
			delete(m.Composition.ParamMap, "a")
			m.Composition.ParamMap["as"] = "${result.facts.names}"
		}
	}
}

func (g generator) condition() *contracts.Condition {
	yes, id := any(true), any("${params.a}")
	return pick(
		g, nil, &contracts.Condition{Path: "parameters.also", Equals: &yes},
		&contracts.Condition{Path: "result.facts.id", Equals: &id}, &contracts.Condition{Path: "params.a", Exists: new(true)},
	)
}

func (g generator) request(catalog *contracts.Catalog) planner.Request {
	req := planner.Request{
		Goal: "a random request", Catalog: catalog, DryRun: g.yes(3),
		Owner: contracts.Principal{ID: "u1", Roles: []string{"operator"}},
	}
	for i := range 1 + g.IntN(4) {
		d := catalog.Domains[g.IntN(len(catalog.Domains))]
		e := d.Capabilities[g.IntN(len(d.Capabilities))]
		in := contracts.Intent{
			ID: fmt.Sprintf("i%d", i), Domain: d.Name, Capability: e.Capability.Name, Parameters: g.params(e.Capability),
			Source: pick(g, "", "local", "caller"),
		}
		if i > 0 && g.yes(30) {
			in.After = []string{fmt.Sprintf("i%d", g.IntN(i))}
		}
		req.Intents = append(req.Intents, in)
	}
	return req
}

func (g generator) params(c *contracts.Capability) map[string]any {
	out := map[string]any{}
	if !slices.Contains([]string{"find", "look"}, c.Name) {
		if g.yes(50) {
			out["a"] = pick[any](g, "A1", "A2", "A3", "somebody", "${context.principal.id}", "}{")
		} else if g.yes(90) {
			out["as"] = pick[any](g, []any{"A1", "A2", "A1"}, []string{"x", "A3"}, []any{"A4"}, []any{"A5", "A6"})
		}
		if g.yes(70) {
			out["b"] = pick[any](g, 1, 2.0, json.Number("12345678901234567"))
		} else if g.yes(50) {
			out["bs"] = []int{1, 2, 3}
		}
		if g.yes(2) {
			out["zz"] = map[string]any{"deep": []any{1, "x"}}
		}
	}
	return out
}
