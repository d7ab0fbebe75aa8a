package flowise_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
)

// newer serves the domain for a server whose definitions of some nodes differ from the built-in
// ones.
func newer(t *testing.T, policy flowise.Drift, nodes ...string) *bench {
	t.Helper()
	var cfg sandbox.Config
	for _, node := range nodes {
		cfg.Nodes = append(cfg.Nodes, json.RawMessage(node))
	}
	server, err := sandbox.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	b := &bench{T: t, server: server, base: front.URL, key: server.Key()}
	b.open()
	b.config.Drift = policy
	b.restart()
	return b
}

// otherReply is another version of the reply node's definition.
func otherReply(t *testing.T) string {
	t.Helper()
	known, err := knowledge.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	def, _ := known.Node("directReplyAgentflow")
	var raw object
	if err := json.Unmarshal(def.Raw, &raw); err != nil {
		t.Fatal(err)
	}
	raw["version"] = 9
	out, err := json.Marshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// brandNew is a node that is in no snapshot.
const brandNew = `{"name":"brandNewTool","label":"Brand New","version":1,"type":"BrandNew","category":"Tools","baseClasses":["BrandNew","Tool"],
	"description":"prose","inputs":[{"label":"Depth","name":"depth","type":"number","optional":true}]}`

func TestPreflightComparesWithWhatTheServerDefinesNow(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		policy flowise.Drift
		nodes  func(t *testing.T) []string
		ok     bool
		drift  string
	}{
		"the same definitions":                     {flowise.DriftFail, func(*testing.T) []string { return nil }, true, ""},
		"a node that is new there changes nothing": {flowise.DriftFail, func(*testing.T) []string { return []string{brandNew} }, true, ""},
		"warn goes on":                             {flowise.DriftWarn, func(t *testing.T) []string { t.Helper(); return []string{otherReply(t)} }, true, "directReplyAgentflow"},
		"fail stops":                               {flowise.DriftFail, func(t *testing.T) []string { t.Helper(); return []string{otherReply(t)} }, false, "directReplyAgentflow"},
		"refresh wants another validation":         {flowise.DriftRefresh, func(t *testing.T) []string { t.Helper(); return []string{otherReply(t)} }, false, "validate again"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newer(t, tt.policy, tt.nodes(t)...)
			made := b.execute("compile_flow", object{"ops": replyOps("x")}, in{})
			b.facts("validate_flow", object{"flow_data": b.graph(made)}, in{})
			plan := object{"sha256": made.Facts["sha256"], "op_count": 3}
			got := b.facts("preflight_flow", plan, in{})
			if got["ok"] != tt.ok || !strings.Contains(text(got["drift"]), tt.drift) || (tt.drift == "") != (text(got["drift"]) == "") {
				t.Fatalf("%v", got)
			}
			if tt.policy != flowise.DriftRefresh {
				return
			}
			b.facts("validate_flow", object{"flow_data": b.graph(made)}, in{})
			if again := b.facts("preflight_flow", plan, in{}); again["ok"] != true || text(again["drift"]) != "" {
				t.Errorf("after the refresh and a validation: %v", again)
			}
		})
	}
}

func TestAServerThatIsAwayClearsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.config.Instances[0].Endpoint = "http://127.0.0.1:1"
	b.restart()
	refusal := b.refused("preflight_flow", object{"sha256": strings.Repeat("0", 64), "op_count": 1}, in{})
	if !refusal.Retryable {
		t.Errorf("%v", refusal)
	}
}

// TestAMissingNodeIsRepaired: a kind known only to the server is stored, with a reason and within
// the budget; flows with it compile from then on.
func TestAMissingNodeIsRepaired(t *testing.T) {
	t.Parallel()
	b := newer(t, flowise.DriftWarn, brandNew, otherReply(t))
	ops := object{"ops": []object{{"op_type": "AddNode", "node_name": "brandNewTool", "params": object{"depth": 3}}}, "type": "CHATFLOW"}
	before := b.facts("compile_flow", ops, in{})
	if before["ok"] != false || before["failure_type"] != "schema_mismatch" || fmt.Sprint(before["missing_node_types"]) != "[brandNewTool]" {
		t.Fatalf("before: %v", before)
	}
	used := b.facts("repair_schema", object{"node_types": []string{"directReplyAgentflow", "brandNewTool"}, "budget": 1}, in{})
	if fmt.Sprint(column(used["results"], "action")) != "[updated skipped]" {
		t.Errorf("beyond the budget: %v", used)
	}
	if reason := fmt.Sprint(column(used["results"], "reason")); !strings.Contains(reason, "the server has version 9, known was 1") {
		t.Errorf("the reason of the update: %s", reason)
	}
	got := b.facts("repair_schema", object{"node_types": before["missing_node_types"]}, in{run: "second"})
	if fmt.Sprint(got["repaired_node_types"]) != "[brandNewTool]" || !strings.Contains(fmt.Sprint(column(got["results"], "reason")), "was not known") {
		t.Errorf("the repair: %v", got)
	}
	if got["schema_fingerprint"] == before["schema_fingerprint"] {
		t.Error("the fingerprint did not change")
	}
	b.restart() // other processes see it too
	after := b.facts("compile_flow", ops, in{})
	if after["ok"] != true || fmt.Sprint(after["added"]) != "[brandNewTool_0]" {
		t.Errorf("after: %v", after)
	}
	for run, ok := range map[string]bool{"second": false, "third": true} {
		plan := object{"sha256": strings.Repeat("0", 64), "op_count": 1, "max_repairs": 0}
		problems := fmt.Sprint(b.facts("preflight_flow", plan, in{run: run})["problems"])
		if strings.Contains(problems, "repaired definitions") == ok {
			t.Errorf("run %s: %s", run, problems)
		}
	}
}

// TestARepairTellsOfADefinitionThatChangedInItsVersion: it is stored although the version number is
// the same. The client's cache is not used for the comparison.
func TestARepairTellsOfADefinitionThatChangedInItsVersion(t *testing.T) {
	t.Parallel()
	changed := strings.Replace(strings.Replace(otherReply(t), `"version":9`, `"version":1`, 1), `"type":"string"`, `"type":"code"`, 1)
	b := newer(t, flowise.DriftWarn, changed)
	got := b.facts("repair_schema", object{"node_types": []string{"directReplyAgentflow"}}, in{})
	if action, reason := fmt.Sprint(column(got["results"], "action")), fmt.Sprint(column(got["results"], "reason")); action != "[updated]" || !strings.Contains(reason, "version 1 is the same, but its definition is another") {
		t.Errorf("%s %s", action, reason)
	}
	asked := 0
	for range 2 { // a repair is not cached: it reads from the server each time
		b.facts("repair_schema", object{"node_types": []string{"directReplyAgentflow"}}, in{run: "another"})
	}
	for _, r := range b.server.Requests() {
		if strings.HasSuffix(r.Path, "/nodes/directReplyAgentflow") {
			asked++
		}
	}
	if asked != 3 {
		t.Errorf("the server was asked %d times, want 3", asked)
	}
}
