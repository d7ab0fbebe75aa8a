package flowise_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise"
)

// TestAPatternWhoseNodesHaveChangedIsNotUsed: its definitions are compared before it is used,
// offered or built with.
func TestAPatternWhoseNodesHaveChangedIsNotUsed(t *testing.T) {
	t.Parallel()
	b := newer(t, flowise.DriftWarn, otherReply(t))
	id := b.facts("save_pattern", object{"chatflow_id": b.create("Reception desk", "Pong")}, in{key: "save"})["pattern_id"]
	goal := object{"goal": `build a second desk for the reception that always replies "Ping"`}
	offered := func() (context, approaches string) {
		t.Helper()
		return fmt.Sprint(b.facts("hydrate_context", goal, in{})["patterns"]), fmt.Sprint(b.facts("plan_from_goal", goal, in{})["approaches"])
	}
	if context, approaches := offered(); !strings.Contains(context, "Reception desk") || !strings.Contains(approaches, fmt.Sprintf("pattern:%v", id)) {
		t.Errorf("a pattern that fits is not offered: %s, %s", context, approaches)
	}
	b.facts("use_pattern", object{"pattern_id": id}, in{})
	b.facts("repair_schema", object{"node_types": []string{"directReplyAgentflow"}, "budget": 1}, in{})
	for capability, parameters := range map[string]object{
		"use_pattern":     {"pattern_id": id},
		"create_chatflow": {"name": "x", "pattern_id": id},
	} {
		if refusal := b.refused(capability, parameters, in{key: capability}); !strings.Contains(refusal.Message, "have changed since it was saved") {
			t.Errorf("%s: %v", capability, refusal)
		}
	}
	if row, _ := b.facts("search_patterns", object{}, in{})["patterns"].([]any)[0].(object); row["compatible"] != false {
		t.Errorf("the search calls it %v", row)
	}
	if context, approaches := offered(); strings.Contains(context, "Reception desk") || strings.Contains(approaches, "pattern:") {
		t.Errorf("it is offered still: %s, %s", context, approaches)
	}
	b.facts("use_pattern", object{"pattern_id": id, "any_schema": true}, in{})
}

// TestAPatternIsChangedToWhatIsWanted: the ops add only what the pattern lacks.
func TestAPatternIsChangedToWhatIsWanted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	base := b.graphOf(b.create("Reception desk", "Pong"))
	for reply, want := range map[string]string{"Ping": "SetParam", "": ""} {
		goal := "a desk for the reception"
		if reply != "" {
			goal += ` that always replies "` + reply + `"`
		}
		contract := b.facts("plan_from_goal", object{"goal": goal}, in{})["contract"]
		ops := b.facts("ops_from_contract", object{"contract": contract, "base": base}, in{})["ops"]
		if got := fmt.Sprint(ops); want != "" && !strings.Contains(got, want) || strings.Contains(got, "AddNode") {
			t.Errorf("%s: %s", goal, got)
		}
		made := b.execute("compile_flow", object{"flow_data": base, "ops": ops}, in{})
		if made.Facts["ok"] != true || reply != "" && !strings.Contains(b.graph(made), reply) {
			t.Errorf("%s: %v", goal, made.Facts)
		}
	}
}

// TestTheFiveStepsOfADomainAreCalledByName calls discover, compile_ops, validate, generate_tests
// and evaluate.
func TestTheFiveStepsOfADomainAreCalledByName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if got := b.facts("discover", object{"goal": "a desk", "needs": []string{"openAIApi"}}, in{}); fmt.Sprint(got["missing_credentials"]) != "[openAIApi]" {
		t.Errorf("discover: %v", got)
	}
	ops := b.facts("compile_ops", object{"goal": `a chatbot that always replies "Pong"`}, in{})["ops"]
	made := b.execute("compile_flow", object{"ops": ops}, in{})
	if got := b.facts("validate", object{"flow_data": b.graph(made)}, in{}); got["ok"] != true {
		t.Errorf("validate: %v", got)
	}
	id := b.facts("create_chatflow", object{"name": "Desk", "flow_data": b.graph(made)}, in{key: "made"})["chatflow_id"]
	tests := b.facts("generate_tests", object{"chatflow_id": id, "criteria": []string{`answers with "Pong"`}}, in{})
	cases, _ := tests["cases"].([]any)
	if len(cases) == 0 {
		t.Fatalf("generate_tests: %v", tests)
	}
	for answer, want := range map[string]string{"Pong": "DONE", "Ping": "ITERATE"} {
		var report []object
		for _, c := range cases {
			report = append(report, object{"case": c, "outcomes": []object{{"text": answer, "latency_ms": 5}}})
		}
		got, _ := b.facts("evaluate", object{"report": report}, in{})["verdict"].(object)
		if got["status"] != want || (want == "ITERATE") != (got["playbook"] != nil) {
			t.Errorf("evaluate %s: %v", answer, got)
		}
	}
}

// TestAContractNamesWhatIsPersonal: a person approves the data of a new flow, the personal part of
// it, its credentials and its success criteria.
func TestAContractNamesWhatIsPersonal(t *testing.T) {
	t.Parallel()
	b := setup(t)
	goal := `Build a flow that asks in a form for the guest's name, e-mail and arrival day and then replies "Booked"`
	contract, _ := b.facts("plan_from_goal", object{"goal": goal}, in{})["contract"].(object)
	if got := fmt.Sprint(contract["data_fields"], contract["pii_fields"], contract["credentials"]); got != "[guest's name e-mail arrival day] [guest's name e-mail] []" {
		t.Errorf("the contract speaks of %s", got)
	}
}
