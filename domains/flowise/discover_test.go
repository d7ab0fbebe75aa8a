package flowise_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/flowise"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// column returns one field of each row.
func column(rows any, field string) []string {
	list, _ := rows.([]any)
	var out []string
	for _, row := range list {
		fields, _ := row.(object)
		out = append(out, fmt.Sprint(fields[field]))
	}
	return out
}

const graph = `{"nodes":[],"edges":[]}`

func TestANameFindsTheFlowsThatItMayMean(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 12 {
		b.server.AddFlow(fmt.Sprint("Archive ", i), "CHATFLOW", graph)
	}
	for _, name := range []string{"Support Bot", "Support Bot EU", "Rechnungs-Prüfer", "Invoice Reader"} {
		b.server.AddFlow(name, "CHATFLOW", graph)
	}
	tests := map[string]struct {
		query string
		first string
		count int
	}{
		"the very name":              {"support bot", "Support Bot", 1},
		"a part of several":          {"support", "Support Bot EU", 2}, // last changed first
		"a wrong letter":             {"invioce reader", "Invoice Reader", 1},
		"without accents and dashes": {"rechnungs prufer", "Rechnungs-Prüfer", 1},
		"words in another order":     {"bot eu", "Support Bot EU", 2},
		"nothing lists the last":     {"", "Invoice Reader", 10},
		"nothing like it":            {"zzzz", "", 0},
	}
	for name, tt := range tests {
		got := column(b.facts("resolve_target", object{"query": tt.query}, in{})["matches"], "name")
		if len(got) != tt.count || tt.count > 0 && got[0] != tt.first {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := column(b.facts("resolve_target", object{"query": "support bot", "offer_new": true}, in{})["matches"], "value"); !slices.Contains(got, "new") {
		t.Errorf("no choice to create: %v", got)
	}
}

func TestEveryNodeIsDescribedWithinTheBounds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	known, err := knowledge.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range known.Names() {
		out := b.execute("get_node", object{"name": name}, in{})
		if !out.OK || fmt.Sprint(out.Facts["name"]) != name || len(out.Artifacts["definition"]) == 0 {
			t.Errorf("%s: %v", name, out.Error)
		}
		if _, faults := contracts.BoundResult(out, false, nil); len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
	}
	refusal := b.refused("get_node", object{"name": "chatOpenAy"}, in{})
	if !strings.Contains(refusal.Message, "chatOpenAI") {
		t.Errorf("no suggestion: %s", refusal.Message)
	}
}

func TestCredentialsAreCheckedAndNeverShown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	missing := b.facts("check_credentials", object{"node_names": []string{"chatOpenAI", "calculator"}}, in{})
	if missing["ok"] != false || fmt.Sprint(missing["missing"]) != "[openAIApi]" {
		t.Errorf("without a credential: %v", missing)
	}
	b.server.AddCredential("Team key", "openAIApi")
	if got := b.facts("check_credentials", object{"types": []string{"openAIApi"}}, in{}); got["ok"] != true {
		t.Errorf("with one: %v", got)
	}
	list := b.facts("list_credentials", object{"type": "openAIApi"}, in{})
	if fmt.Sprint(list["total"]) != "1" || strings.Contains(fmt.Sprint(list), "U2FsdGVkX1") {
		t.Errorf("the list: %v", list)
	}
	b.server.Inject(sandboxkit.Fault{Kind: sandboxkit.Unavailable, PathSuffix: "/credentials", Count: -1})
	if got := b.facts("list_credentials", object{}, in{}); got["stale"] != true || fmt.Sprint(got["total"]) != "1" {
		t.Errorf("when the server is away: %v", got)
	}
}

func TestOpsThatDoNotFitAreToldByTheirIndex(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.facts("compile_flow", object{"ops": []object{
		{"op_type": "AddNode", "node_name": "calculator"}, {"op_type": "AddNode", "node_name": "calculatorr"},
	}}, in{})
	if got["ok"] != false || got["failure_type"] != "schema_mismatch" || fmt.Sprint(got["missing_node_types"]) != "[calculatorr]" || column(got["faults"], "pointer")[0] != "/1/node_name" {
		t.Errorf("%v", got)
	}
}

func TestDriftIsHandledByItsPolicy(t *testing.T) {
	t.Parallel()
	for policy, ok := range map[flowise.Drift]bool{flowise.DriftWarn: true, flowise.DriftFail: false, flowise.DriftRefresh: true} {
		b := setup(t)
		b.config.Drift = policy
		b.restart()
		got := b.facts("compile_flow", object{"ops": replyOps("x"), "schema_fingerprint": "another"}, in{})
		if got["ok"] != ok || text(got["drift"]) == "" {
			t.Errorf("%s: %v", policy, got)
		}
	}
}

func TestARepairSaysWhatItDidAndWhy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.facts("repair_schema", object{"node_types": []string{"calculator", "unheardOf"}}, in{})
	if fmt.Sprint(column(got["results"], "action")) != "[unchanged unknown]" || fmt.Sprint(got["repaired_node_types"]) != "[]" {
		t.Errorf("%v", got)
	}
}

func TestPreflightWantsAValidationAndKeepsBudgets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.execute("compile_flow", object{"ops": replyOps("x")}, in{})
	plan := object{"sha256": made.Facts["sha256"], "op_count": 3}
	if got := b.facts("preflight_flow", plan, in{}); got["ok"] != false {
		t.Errorf("before the validation: %v", got)
	}
	b.facts("validate_flow", object{"flow_data": b.graph(made)}, in{})
	if got := b.facts("preflight_flow", plan, in{}); got["ok"] != true {
		t.Errorf("after it: %v", got)
	}
	plan["max_ops"] = 2
	if got := b.facts("preflight_flow", plan, in{}); got["ok"] != false {
		t.Errorf("above the budget: %v", got)
	}
}

func TestAnInstanceIsChosenByTheCall(t *testing.T) {
	t.Parallel()
	b, other := setup(t), setup(t)
	b.config.Instances = append(b.config.Instances, flowise.Instance{ID: "other", Endpoint: other.base, APIKey: other.key})
	b.restart()
	other.server.AddFlow("Elsewhere", "CHATFLOW", graph)
	got := b.facts("list_instances", object{}, in{})
	if fmt.Sprint(column(got["instances"], "up")) != "[true true]" {
		t.Errorf("%v", got)
	}
	if got := b.facts("list_chatflows", object{}, in{instance: "other"}); fmt.Sprint(got["total"]) != "1" {
		t.Errorf("%v", got)
	}
}

func TestAllFlowsAreListedUnlessATypeIsNamed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.server.AddFlow("Old", "CHATFLOW", graph)
	b.server.AddFlow("New", "AGENTFLOW", graph)
	for kind, want := range map[string]string{"": "2", "ALL": "2", "CHATFLOW": "1", "AGENTFLOW": "1", "ASSISTANT": "0"} {
		params := object{"query": "Old New"}
		if kind != "" {
			params["type"] = kind
		}
		if got := b.facts("list_chatflows", params, in{}); fmt.Sprint(got["total"]) != want {
			t.Errorf("of type %q: %v, want %s", kind, got, want)
		}
	}
}
