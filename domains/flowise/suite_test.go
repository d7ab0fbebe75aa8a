package flowise_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
)

// TestTestsAreRunBeforeAChangeIsApproved: a flow's stored tests run against the changed graph, the
// result is part of the proposal, and nothing is left on the server.
func TestTestsAreRunBeforeAChangeIsApproved(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		id := b.create("Tested "+rand.Text(), "We open at nine")
		flows := func() any { return b.facts("list_chatflows", object{"query": "Manifold trial"}, in{})["total"] }
		if got := b.proposed("set_reply", object{"chatflow_id": id, "reply": "Closed"}); got["tests"] != nil {
			t.Errorf("no tests are kept: %v", got["tests"])
		}
		b.facts("add_test", object{"chatflow_id": id, "question": "When?", "contains": "nine"}, in{key: "a" + id})
		b.facts("add_test", object{"chatflow_id": id, "question": "When?", "contains": "nine"}, in{key: "b" + id})
		added := b.facts("add_test", object{"chatflow_id": id, "question": "Who?"}, in{key: "c" + id})
		tests, _ := added["integration_tests"].([]any)
		if len(tests) != 2 {
			t.Fatalf("the same test twice is one: %v", added)
		}
		before := b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{}))
		good := b.proposed("set_reply", object{"chatflow_id": id, "reply": "Always at nine"})
		bad := b.proposed("set_reply", object{"chatflow_id": id, "reply": "Closed"})
		if good["tests"] != "tests: 2 of 2 pass" {
			t.Errorf("a good change: %v", good["tests"])
		}
		if said := text(bad["tests"]); !strings.HasPrefix(said, "tests: 1 of 2 pass, not t") || !strings.Contains(said, "nine") {
			t.Errorf("a bad change: %v", said)
		}
		base, _ := bad["base"].([]any)
		if choice, _ := base[0].(object); !strings.Contains(text(choice["label"]), "1 of 2 pass") {
			t.Errorf("the gate does not show it: %v", base)
		}
		if now := b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{})); now != before || flows() != 0.0 {
			t.Errorf("a proposal changed something: %v copies", flows())
		}
		if done := b.facts("test_chatflow", object{"chatflow_id": id, "trials": 3}, in{}); done["passed"] != 2.0 || done["trials"] != 3.0 {
			t.Errorf("the tests that are kept are those that are run: %v", done)
		}
		first, _ := tests[0].(object)
		if left := b.facts("remove_test", object{"chatflow_id": id, "test": first["id"]}, in{key: "d" + id}); left["found"] != false {
			t.Errorf("%v", left)
		}
		if kept := b.facts("list_tests", object{"chatflow_id": id}, in{})["integration_tests"].([]any); len(kept) != 1 {
			t.Errorf("kept %v", kept)
		}
	})
}

// TestConversationsBecomeTests: the last questions of people, each once.
func TestConversationsBecomeTests(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		id := b.create("Talked with "+rand.Text(), "Pong")
		if refusal := b.refused("keep_conversations", object{"chatflow_id": id}, in{key: "none" + id}); refusal.Type != "precondition" {
			t.Errorf("%v", refusal)
		}
		for _, q := range []string{"Ping?", "Ping?", "Pang?"} {
			b.facts("predict_chatflow", object{"chatflow_id": id, "question": q}, in{})
		}
		kept, _ := b.facts("keep_conversations", object{"chatflow_id": id}, in{key: "some" + id})["integration_tests"].([]any)
		if len(kept) != 2 {
			t.Errorf("kept %v", kept)
		}
	})
}

// TestTestsOfOtherDomainsAreAskedBesideTheFlowsOwn: the report gives the domain of each test, and
// in a plan this domain judges only its own.
func TestTestsOfOtherDomainsAreAskedBesideTheFlowsOwn(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		id := b.facts("create_chatflow", object{"name": "Desk " + rand.Text(), "ops": replyOps("Pong")}, in{key: rand.Text()})["chatflow_id"]
		own := b.facts("generate_tests", object{"chatflow_id": id}, in{})
		if fmt.Sprint(own["domain_scopes"], own["integration_tests"]) != "[flowise] []" {
			t.Errorf("made are %v", own)
		}
		foreign := object{"name": "worker", "domain": "hr", "kind": "happy", "question": "Who is Ana?", "assertions": []object{{"type": "uses_tool", "value": "search"}}}
		out := b.execute("test_chatflow", object{"chatflow_id": id, "cases": own["cases"], "integration_tests": []object{foreign}}, in{})
		cases, _ := out.Facts["cases"].([]any)
		last, _ := cases[len(cases)-1].(object)
		if fmt.Sprint(out.Facts["domain_scopes"]) != "[flowise hr]" || last["domain"] != "hr" || out.Facts["failed"] != 1.0 || out.Facts["ok"] != false {
			t.Errorf("tested %v", out.Facts)
		}
		report := out.Artifacts["test_report"]
		if got := b.facts("evaluate", object{"report": report}, in{}); got["ok"] != true || fmt.Sprint(got["domain_scopes"]) != "[flowise]" {
			t.Errorf("its own are judged as %v", got)
		}
		if got := b.facts("evaluate_chatflow", object{"report": report}, in{}); got["ok"] != false {
			t.Errorf("all are judged as %v", got)
		}
	})
}
