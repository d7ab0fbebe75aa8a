package workflow_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner/workflow"
	"github.com/manifold-run/manifold/planner/workflow/workflowtest"
)

// maker makes plain calls, and takes the first player of a role.
type maker struct{ notes []string }

func (m *maker) Call(e *contracts.CapabilityEntry, params map[string]any) (contracts.Node, error) {
	return contracts.Node{Kind: contracts.KindTool, Tool: e.Ref(), Params: params, Policy: &e.Policy}, nil
}

func (m *maker) Player(_ string, players []contracts.RolePlayer) (*contracts.RolePlayer, error) {
	return &players[0], nil
}

func (m *maker) Note(text string) { m.notes = append(m.notes, text) }

func compiled(t *testing.T, catalog *contracts.Catalog, ref, frame string, params map[string]any) workflow.Compiled {
	t.Helper()
	entry, ok := catalog.Capability(ref)
	if !ok {
		t.Fatalf("there is no %s", ref)
	}
	out, err := workflow.Compile(workflow.Request{Catalog: catalog, Entry: entry, Params: params, Frame: frame, Make: &maker{}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func node(t *testing.T, c workflow.Compiled, id string) contracts.Node {
	t.Helper()
	i := slices.IndexFunc(c.Nodes, func(n contracts.Node) bool { return n.NodeID == id })
	if i < 0 {
		t.Fatalf("there is no node %s", id)
	}
	return c.Nodes[i]
}

func TestTheExampleBecomesNodes(t *testing.T) {
	t.Parallel()
	c := compiled(t, workflowtest.CatalogOf(t, workflowtest.Manifests(t)), "flowise.develop_chatflow", "", map[string]any{"goal": "answer questions", "trials": 1.0})
	if len(c.Nodes) != 27 || c.Result != "result" || c.Limits.MaxTokens != 80000 || c.Limits.MaxToolCalls != 60 {
		t.Errorf("%d nodes, result %s, limits %+v", len(c.Nodes), c.Result, c.Limits)
	}
	regions := map[string]string{
		"hitl_credentials": "hydrate_context hitl_credentials", "hitl_select_target": "resolve_target hitl_select_target",
		"hitl_plan": "plan hitl_plan", "validate": "repair_schema compile_patch_ir compile_flow_data validate",
		"hitl_review": "baseline plan hitl_plan define_patch_scope excerpts repair_schema compile_patch_ir compile_flow_data validate preflight_validate_patch apply_create apply_patch applied test evaluate hitl_review",
	}
	for id, want := range regions {
		if got := strings.Join(node(t, c, id).On[0].Region, " "); got != want {
			t.Errorf("region of %s:\n got %s\nwant %s", id, got, want)
		}
	}
	// What depends on a step inside a loop waits for the end of the loop.
	for id, want := range map[string][]string{
		"resolve_target": nil, "load_current_flow": nil, "preflight_validate_patch": nil, "hitl_review": nil, "save_pattern": nil, "excerpts": nil,
	} {
		if diff := cmp.Diff(want, node(t, c, id).RunAfter); diff != "" {
			t.Errorf("%s: %s", id, diff)
		}
	}
	plan := node(t, c, "plan")
	if plan.Kind != contracts.KindReason || plan.Tool != "flowise.plan_from_goal" || plan.Reason.SkillSHA256 == "" || plan.Params["goal"] != "${params.goal}" {
		t.Errorf("a reason step has its fallback as its call: %+v", plan)
	}
	if scope := node(t, c, "define_patch_scope"); scope.Params["contract"] != "${steps.hitl_plan.facts.value}" {
		t.Errorf("a fallback by name gets the inputs: %v", scope.Params)
	}
	if end := node(t, c, "result"); !slices.Equal(end.DependsOn, []string{"save_pattern", "restore_version", "remove_created"}) {
		t.Errorf("the result waits for %v", end.DependsOn)
	}
}

func TestStepsOutsideWaitForTheEndOfALoop(t *testing.T) {
	t.Parallel()
	steps := `[
		{"id":"a","kind":"set","set":{"x":1}},
		{"id":"b","kind":"set","set":{"x":1},"depends_on":["a"],"on":[{"when":"${round.n < 2}","goto":"a","max":1}]},
		{"id":"out","kind":"set","set":{"x":"${steps.a.facts.x}"},"depends_on":["a"]},
		{"id":"far","kind":"set","set":{"x":1},"depends_on":["out"]},
		{"id":"both","kind":"set","set":{"x":1},"depends_on":["a","b"]}
	]`
	c := compiled(t, workflowtest.CatalogOf(t, workflowOf(t, steps, "")), "logistics.w", "", nil)
	for id, want := range map[string][]string{"out": {"b"}, "far": nil, "both": nil, "b": nil} {
		if got := node(t, c, id).RunAfter; !slices.Equal(got, want) {
			t.Errorf("%s waits for %v, want %v", id, got, want)
		}
	}
}

func TestWorkflowsStandInEachOther(t *testing.T) {
	t.Parallel()
	steps := `[
		{"id":"first","kind":"set","set":{"l":["1","2"]}},
		{"id":"inside","kind":"workflow","workflow":"compare_carriers","depends_on":["first"],"when":"${params.n > 1}","params":{"carriers":"${steps.first.facts.l}"},
		 "on":[{"when":"${round.n < 2}","goto":"first","max":2}]},
		{"id":"after","kind":"set","set":{"r":"${steps.inside.facts.ranking}"},"depends_on":["inside"]}
	]`
	documents := workflowOf(t, steps, "")
	example := workflowtest.Manifests(t)["logistics"]["workflows"].([]any)
	documents["logistics"]["workflows"] = append(documents["logistics"]["workflows"].([]any), example...)
	catalog := workflowtest.CatalogOf(t, documents)
	for _, f := range workflowtest.Check(t, catalog, "logistics").Findings {
		t.Errorf("%s: %s", f.Pointer, f.Message)
	}
	c := compiled(t, catalog, "logistics.w", "i1", map[string]any{"n": 2.0})
	entry := node(t, c, "i1:inside:params")
	if entry.Kind != contracts.KindSet || entry.When == nil || entry.Frame != "i1" || !slices.Equal(entry.DependsOn, []string{"i1:first"}) {
		t.Errorf("the entry is %+v", entry)
	}
	if details := node(t, c, "i1:inside:details"); !slices.Equal(details.DependsOn, []string{"i1:inside:params"}) || details.Frame != "i1:inside" || details.ForEach == nil {
		t.Errorf("an inner step is %+v", details)
	}
	end := node(t, c, "i1:inside")
	if end.Kind != contracts.KindResult || end.Frame != "i1:inside" || !end.Required || !slices.Equal(end.DependsOn, []string{"i1:inside:check", "i1:inside:params"}) {
		t.Errorf("the end is %+v", end)
	}
	want := "i1:first i1:inside:params i1:inside:details i1:inside:safety i1:inside:market i1:inside:recommend i1:inside:check i1:inside"
	if got := strings.Join(end.On[0].Region, " "); got != want || end.On[0].Goto != "i1:first" {
		t.Errorf("the region is %s", got)
	}
	if after := node(t, c, "i1:after"); len(after.RunAfter) > 0 || !slices.Equal(after.DependsOn, []string{"i1:inside"}) {
		t.Errorf("what comes after is %+v", after)
	}
	for prefix, want := range map[string]contracts.Frame{
		"i1":        {Workflow: "logistics.w", Params: map[string]any{"n": 2.0}, Result: "i1"},
		"i1:inside": {Workflow: "logistics.compare_carriers", Entry: "i1:inside:params", Result: "i1:inside", Skills: map[string]string{"compare": "Do it well."}},
	} {
		got := c.Frames[prefix]
		got.Digest = ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", prefix, diff)
		}
	}
}

func TestAllWhoPlayARole(t *testing.T) {
	t.Parallel()
	documents := workflowOf(t, `[{"id":"tell","kind":"plays","plays":"notifier","players":"all","params":{"message":"hello"}}]`, "")
	documents["bird"] = map[string]any{"schema_version": "1", "domain": "bird", "version": "1", "capabilities": []any{map[string]any{
		"name": "sing", "schema": map[string]any{"type": "object", "properties": map[string]any{"song": map[string]any{}, "loud": map[string]any{}}},
		"metadata": map[string]any{"plays": []any{map[string]any{"role": "notifier", "param_map": map[string]any{"song": "tweet: ${params.message}", "loud": "${params.title}"}}}},
	}}}
	c := compiled(t, workflowtest.CatalogOf(t, documents), "logistics.w", "", nil)
	if first := node(t, c, "tell[0]"); first.Tool != "bird.sing" || first.Required || !cmp.Equal(first.Params, map[string]any{"song": "tweet: hello"}) {
		t.Errorf("got %+v", first)
	}
	if join := node(t, c, "tell"); join.Kind != contracts.KindJoin || !slices.Equal(join.DependsOn, []string{"tell[0]", "tell[1]"}) || !join.Required {
		t.Errorf("got %+v", join)
	}
}

// TestAllOfThePlanWhoPlayARole checks that "plan_domains" calls only players in the domains that
// the workflow names, in its own steps or in an inner workflow.
func TestAllOfThePlanWhoPlayARole(t *testing.T) {
	t.Parallel()
	domain := func(name string) map[string]any {
		return map[string]any{"schema_version": "1", "domain": name, "version": "1", "capabilities": []any{
			map[string]any{"name": "look_" + name, "schema": map[string]any{"type": "object"}, "metadata": map[string]any{"side_effect_class": "read"}},
			map[string]any{"name": "test_" + name, "schema": map[string]any{"type": "object", "properties": map[string]any{"about": map[string]any{}}}, "metadata": map[string]any{
				"side_effect_class": "read", "plays": []any{map[string]any{"role": "generate_tests", "param_map": map[string]any{"about": "${params.goal}"}}},
			}},
		}}
	}
	flow := func(name string, steps ...any) map[string]any {
		return map[string]any{"name": name, "description": "Does it.", "schema": map[string]any{"type": "object"}, "metadata": map[string]any{}, "steps": steps}
	}
	look := map[string]any{"id": "look", "kind": "tool", "tool": "bird.look_bird", "params": map[string]any{}}
	documents := map[string]map[string]any{"bird": domain("bird"), "fish": domain("fish"), "toad": domain("toad"), "pack": {
		"schema_version": "1", "domain": "pack", "version": "1", "workflows": []any{
			flow("inside", map[string]any{"id": "see", "kind": "tool", "tool": "fish.look_fish", "params": map[string]any{}}),
			flow("w", look, map[string]any{"id": "within", "kind": "workflow", "workflow": "inside", "depends_on": []any{"look"}},
				map[string]any{"id": "tests", "kind": "plays", "plays": "generate_tests", "players": "plan_domains", "params": map[string]any{"goal": "swim"}, "depends_on": []any{"within"}}),
			flow("named", map[string]any{"id": "one", "kind": "plays", "plays": "generate_tests", "domains": []any{"toad"}, "params": map[string]any{"goal": "hop"}},
				map[string]any{"id": "tests", "kind": "plays", "plays": "generate_tests", "players": "plan_domains", "params": map[string]any{"goal": "hop"}, "depends_on": []any{"one"}}),
			flow("nobody", map[string]any{"id": "tests", "kind": "plays", "plays": "generate_tests", "players": "plan_domains", "params": map[string]any{"goal": "swim"}}),
		},
	}}
	catalog := workflowtest.CatalogOf(t, documents)
	c := compiled(t, catalog, "pack.w", "", nil)
	var called []string
	for _, id := range node(t, c, "tests").DependsOn {
		n := node(t, c, id)
		called = append(called, n.Tool)
		if n.Params["about"] != "swim" {
			t.Errorf("%s is given %v", n.Tool, n.Params)
		}
	}
	if want := []string{"bird.test_bird", "fish.test_fish"}; !slices.Equal(called, want) {
		t.Errorf("called are %v, not %v", called, want)
	}
	byRole := compiled(t, catalog, "pack.named", "", nil)
	if one := node(t, byRole, "one"); one.Tool != "toad.test_toad" {
		t.Errorf("of the named domain is called %s", one.Tool)
	}
	if tests := node(t, byRole, "tests").DependsOn; len(tests) != 1 || node(t, byRole, tests[0]).Tool != "toad.test_toad" {
		t.Errorf("a domain that is named with a role is no domain of the plan: %v", tests)
	}
	if _, offered := catalog.Capability("pack.nobody"); offered {
		t.Error("a workflow that calls no domain has players")
	}
}

// TestAnOrderDoomsNoWorkflow checks that the predecessors in order of a workflow must have ended,
// and may have failed.
func TestAnOrderDoomsNoWorkflow(t *testing.T) {
	t.Parallel()
	catalog := workflowtest.CatalogOf(t, workflowtest.Manifests(t))
	entry, ok := catalog.Capability("logistics.compare_carriers")
	if !ok {
		t.Fatal("there is no such workflow")
	}
	c, err := workflow.Compile(workflow.Request{
		Catalog: catalog, Entry: entry, Params: map[string]any{"carriers": []any{"7", "8"}}, Frame: "i2", Order: []string{"i1"}, Make: &maker{},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"i2:details", "i2:safety", "i2:market"} {
		if n := node(t, c, id); len(n.DependsOn) != 0 || !slices.Equal(n.RunAfter, []string{"i1"}) {
			t.Errorf("%s needs %v and comes after %v", id, n.DependsOn, n.RunAfter)
		}
	}
	if n := node(t, c, "i2:recommend"); slices.Contains(n.RunAfter, "i1") {
		t.Errorf("a later step comes after %v", n.RunAfter)
	}
}
