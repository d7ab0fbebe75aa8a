package planner_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner"
)

// lending is a plan with a search, a choice, a gated write and a post.
func lending(tb testing.TB) (contracts.Plan, *contracts.Catalog) {
	tb.Helper()
	catalog := catalogOf(tb, scenario{Domains: []string{"library", "post", "garden"}}, nil)
	result, err := planner.Compile(planner.Request{
		Goal: "lend it", Catalog: catalog, Owner: contracts.Principal{ID: "u1"},
		Intents: []contracts.Intent{
			{ID: "i1", Domain: "library", Capability: "lend_book", Parameters: map[string]any{"isbn": "9780001", "member": "Ann"}},
			{ID: "i2", Domain: "library", Capability: "find_book", Parameters: map[string]any{"isbns": []any{"9780001", "9780002"}}},
			{ID: "i3", Domain: "garden", Capability: "list_beds", Parameters: map[string]any{}},
		},
	})
	if err != nil || len(result.Questions) > 0 {
		tb.Fatalf("compile: %v %v", err, result.Questions)
	}
	return result.Plan, catalog
}

// The nodes of lending.
const (
	search = iota
	choose
	write
	post
	found
	_
	joined
	beds
	water
)

func rehash(tb testing.TB, p *contracts.Plan) {
	tb.Helper()
	hash, err := planner.HashPlan(*p)
	if err != nil {
		tb.Fatal(err)
	}
	p.PlanHash = hash
}

// copyOf returns a plan that shares nothing with p.
func copyOf(tb testing.TB, p contracts.Plan) contracts.Plan {
	tb.Helper()
	raw, err := json.Marshal(p)
	if err != nil {
		tb.Fatal(err)
	}
	var out contracts.Plan
	if err := contracts.DecodeStrict(raw, &out); err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestValidateForeignPlans(t *testing.T) {
	t.Parallel()
	plan, catalog := lending(t)
	tests := map[string]struct {
		change func(p *contracts.Plan)
		code   contracts.Code
		at     string // pointer of a fault, if there are faults
	}{
		"a plan as it was compiled is accepted":                   {func(*contracts.Plan) {}, "", ""},
		"a stricter policy is accepted":                           {func(p *contracts.Plan) { p.Nodes[found].Policy.ApprovalRequired = true }, "", ""},
		"an approval that was taken away is refused":              {func(p *contracts.Plan) { p.Nodes[write].Policy.ApprovalRequired = false }, contracts.CodeInvalid, "/nodes/2/policy/approval_required"},
		"a write that says it is a read is refused":               {func(p *contracts.Plan) { p.Nodes[write].Policy.SideEffectClass = contracts.ClassRead }, contracts.CodeInvalid, "/nodes/2/policy/side_effect_class"},
		"a lower risk is refused":                                 {func(p *contracts.Plan) { p.Nodes[write].Policy.RiskLevel = contracts.RiskLow }, contracts.CodeInvalid, "/nodes/2/policy/risk_level"},
		"other approvers are refused":                             {func(p *contracts.Plan) { p.Nodes[write].Policy.Approval.Roles = []string{"requester"} }, contracts.CodeInvalid, "/nodes/2/policy/approval/roles"},
		"no approvers are refused":                                {func(p *contracts.Plan) { p.Nodes[write].Policy.Approval.Roles = nil }, contracts.CodeInvalid, "/nodes/2/policy/approval/roles"},
		"a quorum of nobody is refused":                           {func(p *contracts.Plan) { p.Nodes[write].Policy.Approval.Quorum = 0 }, contracts.CodeInvalid, "/nodes/2/policy/approval/quorum"},
		"a better idempotency is refused":                         {func(p *contracts.Plan) { p.Nodes[water].Policy.Idempotency = contracts.IdempotencyNatural }, contracts.CodeInvalid, "/nodes/8/policy/idempotency"},
		"a waiver that nobody gave is refused":                    {func(p *contracts.Plan) { p.Nodes[write].Policy.Waiver = "me" }, contracts.CodeInvalid, "/nodes/2/policy/waiver"},
		"a claim to pretend in a dry run is refused":              {func(p *contracts.Plan) { p.Nodes[write].Policy.DryRun = true }, contracts.CodeInvalid, "/nodes/2/policy/dry_run"},
		"more time than allowed is refused":                       {func(p *contracts.Plan) { p.Nodes[write].Policy.TimeoutMS *= 2 }, contracts.CodeInvalid, "/nodes/2/policy/timeout_ms"},
		"a missing policy is refused":                             {func(p *contracts.Plan) { p.Nodes[write].Policy = nil }, contracts.CodeInvalid, "/nodes/2/policy"},
		"dropped locks are refused":                               {func(p *contracts.Plan) { p.Nodes[write].Locks = p.Nodes[write].Locks[1:] }, contracts.CodeInvalid, "/nodes/2/locks"},
		"a wrong hash is refused":                                 {func(p *contracts.Plan) { p.PlanHash = "0" }, contracts.CodeInvalid, "/plan_hash"},
		"a circle is refused":                                     {func(p *contracts.Plan) { p.Nodes[search].DependsOn = []string{"n4"} }, contracts.CodeInvalid, "/nodes"},
		"a dependency on nothing is refused":                      {func(p *contracts.Plan) { p.Nodes[post].DependsOn = []string{"n99"} }, contracts.CodeInvalid, "/nodes/3/depends_on/0"},
		"the same id twice is refused":                            {func(p *contracts.Plan) { p.Nodes[choose].NodeID = "n1" }, contracts.CodeInvalid, "/nodes/1/node_id"},
		"an id of a copy is refused":                              {func(p *contracts.Plan) { p.Nodes[search].NodeID = "n1[0]" }, contracts.CodeInvalid, "/nodes/0/node_id"},
		"an unknown capability is refused":                        {func(p *contracts.Plan) { p.Nodes[found].Tool = "library.burn" }, contracts.CodeInvalid, "/nodes/4/tool"},
		"a bare name of a capability is refused":                  {func(p *contracts.Plan) { p.Nodes[found].Tool = "find_book" }, contracts.CodeInvalid, "/nodes/4/tool"},
		"an unknown parameter is refused":                         {func(p *contracts.Plan) { p.Nodes[write].Params["force"] = true }, contracts.CodeInvalid, "/nodes/2/params/force"},
		"a parameter for the planner is refused":                  {func(p *contracts.Plan) { p.Nodes[found].Params["notify"] = true }, contracts.CodeInvalid, "/nodes/4/params/notify"},
		"a literal that breaks the schema is refused":             {func(p *contracts.Plan) { p.Nodes[write].Params["weeks"] = 99.0 }, contracts.CodeInvalid, "/nodes/2/params/weeks"},
		"a missing parameter is refused":                          {func(p *contracts.Plan) { delete(p.Nodes[write].Params, "isbn") }, contracts.CodeInvalid, "/nodes/2/params/isbn"},
		"reading a later step is refused":                         {func(p *contracts.Plan) { p.Nodes[search].Params["name"] = "${steps.n3.summary}" }, contracts.CodeInvalid, "/nodes/0/params"},
		"reading a step without waiting for it is refused":        {func(p *contracts.Plan) { p.Nodes[search].Params["name"] = "${steps.n5.summary}" }, contracts.CodeInvalid, "/nodes/0/params"},
		"an expression over params is refused":                    {func(p *contracts.Plan) { p.Nodes[search].Params["name"] = "${params.x}" }, contracts.CodeInvalid, "/nodes/0/params/name"},
		"an item outside for_each is refused":                     {func(p *contracts.Plan) { p.Nodes[search].Params["name"] = "${item}" }, contracts.CodeInvalid, "/nodes/0/params/name"},
		"an expression that does not end is refused":              {func(p *contracts.Plan) { p.Nodes[search].Params["name"] = "${steps" }, contracts.CodeInvalid, "/nodes/0/params/name"},
		"an item that was set beforehand is refused":              {func(p *contracts.Plan) { p.Nodes[water].Item = "x" }, contracts.CodeInvalid, "/nodes/8/item"},
		"a list to repeat over that is text is refused":           {func(p *contracts.Plan) { p.Nodes[water].ForEach.Items = "beds" }, contracts.CodeInvalid, "/nodes/8/for_each/items"},
		"a condition on a later step is refused":                  {func(p *contracts.Plan) { p.Nodes[beds].When = p.Nodes[water].When }, contracts.CodeInvalid, "/nodes/7/when"},
		"a question that imitates a gate is refused":              {func(p *contracts.Plan) { p.Nodes[choose].Human.Interrupt = contracts.InterruptWriteApproval }, contracts.CodeInvalid, "/nodes/1/human/interrupt"},
		"a question whose schema does not compile is refused":     {func(p *contracts.Plan) { p.Nodes[choose].Human.ResponseSchema = map[string]any{"type": 7} }, contracts.CodeInvalid, "/nodes/1/human/response_schema"},
		"a question without a prompt is refused":                  {func(p *contracts.Plan) { p.Nodes[choose].Human.Prompt = "" }, contracts.CodeInvalid, "/nodes/1/human/prompt"},
		"a join that waits for nothing is refused":                {func(p *contracts.Plan) { p.Nodes[joined].DependsOn = nil }, contracts.CodeInvalid, "/nodes/6/depends_on"},
		"a join that calls something is refused":                  {func(p *contracts.Plan) { p.Nodes[joined].Tool = "library.find_book" }, contracts.CodeInvalid, "/nodes/6/tool"},
		"another instance than the plan's is refused":             {func(p *contracts.Plan) { p.Nodes[beds].Instance = "front" }, contracts.CodeInvalid, "/nodes/7/instance"},
		"an unknown instance is refused":                          {func(p *contracts.Plan) { p.Instances["garden"] = "roof" }, contracts.CodeInvalid, "/instances/garden"},
		"a digest that is missing is refused":                     {func(p *contracts.Plan) { delete(p.CapabilityDigests, "library.return_book") }, contracts.CodeInvalid, "/capability_digests/library.return_book"},
		"a digest of something else is refused":                   {func(p *contracts.Plan) { p.CapabilityDigests["post.send_letter"] = "x" }, contracts.CodeInvalid, "/capability_digests/post.send_letter"},
		"a capability that has changed is a conflict":             {func(p *contracts.Plan) { p.CapabilityDigests["library.find_loan"] = "x" }, contracts.CodeConflict, "/capability_digests/library.find_loan"},
		"a dry run of a write that cannot pretend is unsupported": {func(p *contracts.Plan) { p.DryRun = true }, contracts.CodeUnsupported, "/nodes/2"},
		"a kind that is not run yet is unsupported":               {func(p *contracts.Plan) { p.Nodes[joined].Kind = "reason" }, contracts.CodeUnsupported, ""},
		"a workflow is unsupported":                               {func(p *contracts.Plan) { p.Strategy = "workflow:x" }, contracts.CodeUnsupported, ""},
		"an unknown strategy is refused":                          {func(p *contracts.Plan) { p.Strategy = "swarm" }, contracts.CodeInvalid, "/strategy"},
		"no nodes are refused":                                    {func(p *contracts.Plan) { p.Nodes = nil }, contracts.CodeInvalid, "/nodes"},
		"more nodes than the budget are refused":                  {func(p *contracts.Plan) { p.Budgets.MaxNodes = 2 }, contracts.CodeBudgetExceeded, ""},
		"a budget above the limit changes nothing":                {func(p *contracts.Plan) { p.Budgets.MaxNodes = 1 << 30 }, "", ""},
		"a capability for other roles is forbidden":               {func(p *contracts.Plan) { p.Nodes[post].Tool = "library.burn_card" }, contracts.CodeForbidden, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := copyOf(t, plan)
			tt.change(&p)
			if tt.at != "/plan_hash" {
				rehash(t, &p)
			}
			err := planner.Validate(p, catalog)
			if contracts.CodeOf(err) != tt.code {
				t.Fatalf("got %v, want the code %q", err, tt.code)
			}
			if tt.at != "" && !hasFault(err, tt.at) {
				t.Errorf("got %v, want a fault at %s", err, tt.at)
			}
		})
	}
}

func hasFault(err error, at string) bool {
	e, ok := err.(*contracts.Error) //nolint:errorlint // the planner's own error, unwrapped
	return ok && slices.ContainsFunc(e.Faults, func(f contracts.Fault) bool { return f.Pointer == at })
}

// TestHashLeavesOutIDs checks what the plan hash covers.
func TestHashLeavesOutIDs(t *testing.T) {
	t.Parallel()
	plan, _ := lending(t)
	hash := plan.PlanHash
	plan.PlanID, plan.RunID, plan.PlanHash = "other", "run", "nothing"
	if got, err := planner.HashPlan(plan); err != nil || got != hash {
		t.Errorf("the hash depends on ids: %s, %v, want %s", got, err, hash)
	}
	raw, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plan_id", "run_id", "plan_hash"} {
		delete(members, name)
	}
	if want, err := contracts.Hash(members); err != nil || want != hash {
		t.Errorf("the hash is not over the plan without its ids: %s, %v, want %s", hash, err, want)
	}
	plan.Nodes[write].Params["weeks"] = 3
	if got, err := planner.HashPlan(plan); err != nil || got == hash {
		t.Errorf("the hash does not cover parameters: %v", err)
	}
}

// FuzzValidatePlan checks for any plan that Validate returns an error or accepts it; it never
// panics, and never accepts a write without a gate.
func FuzzValidatePlan(f *testing.F) {
	plan, catalog := lending(f)
	for _, n := range plan.Nodes { // small seeds, which the fuzzer can change everywhere
		small := plan
		n.DependsOn = nil
		small.Nodes, small.CapabilityDigests = []contracts.Node{n}, nil
		raw, err := json.Marshal(small)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var p contracts.Plan
		if contracts.DecodeStrict(data, &p) != nil {
			return
		}
		if hash, err := planner.HashPlan(p); err == nil {
			p.PlanHash = hash // otherwise the hash would always be wrong
		}
		if planner.Validate(p, catalog) != nil {
			return
		}
		for _, n := range p.Nodes {
			if e, ok := catalog.Capability(n.Tool); ok && e.Policy.ApprovalRequired && !n.Policy.ApprovalRequired {
				t.Errorf("node %s was accepted without its gate", n.NodeID)
			}
		}
		planner.Rows(p)
		planner.Mermaid(p)
		planner.Cost(p, catalog)
	})
}

// FuzzCompile checks that Compile returns a valid plan, a question or a caller's error for any
// intents.
func FuzzCompile(f *testing.F) {
	catalog := catalogOf(f, scenario{Domains: []string{"library", "post", "garden"}}, nil)
	for _, seed := range []string{
		`[{"domain":"library","capability":"find_book","parameters":{"isbns":["9780001","Emma"],"notify":true}}]`,
		`[{"id":"a","domain":"library","capability":"lend_book","source":"llm","parameters":{"isbn":"9780001","member":"${item}"}},` +
			`{"capability":"library.count_loans","domain":"","after":["a"]}]`,
		`[{"domain":"library","capability":"compare_offers","parameters":{"titles":["a"],"shops":["up"]},"missing":["shop"]}]`,
		`[{"domain":"garden","capability":"water_bed","parameters":{"beds":[{"$artifact":"x"}],"litres":1e400}}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var intents []contracts.Intent
		if contracts.DecodeStrict(data, &intents) != nil {
			return
		}
		result, err := planner.Compile(planner.Request{Intents: intents, Catalog: catalog})
		switch {
		case contracts.CodeOf(err) == contracts.CodeInternal:
			t.Fatal(err)
		case err == nil && len(result.Questions) == 0:
			if err := planner.Validate(result.Plan, catalog); err != nil {
				t.Fatal(err)
			}
		}
	})
}
