package e2e_test

import (
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// mending is a model whose first flow says another hour than is wanted, and which mends
// it where it is told what the tests said and what mends that, and not otherwise.
func mending() *scripted.Script {
	const bound = `{"max_ops":6,"focus_nodes":[],"protected_nodes":[]}`
	contract := func(action string) scripted.Answer {
		return whole(`{"contract":{"action":"` + action + `","name":"Mended","goal":"Guests learn the hour.","domain_targets":[],"credentials":[],` +
			`"data_fields":[],"pii_fields":[],"success_criteria":["answers with \"four\""]},"approaches":[]}`)
	}
	return says(
		scripted.Rule{System: "Say whether the goal asks for a new flow", Answer: whole(`{"intent":"create","target_name":"","needs":[],"confidence":0.9}`)},
		scripted.Rule{System: "what success means in sentences", Contains: "that is not the hour", Answer: contract("update")},
		scripted.Rule{System: "what success means in sentences", Answer: contract("create")},
		scripted.Rule{System: "Bound the change before it is written", Answer: whole(bound)},
		scripted.Rule{System: "Write a JSON list of ops", Contains: "change only the node whose output is wrong", Answer: whole(
			`{"ops":[{"op_type":"SetParam","node_id":"directReplyAgentflow_0","param_name":"directReplyMessage","value":"At four."}]}`)},
		scripted.Rule{System: "Write a JSON list of ops", Answer: whole(`{"ops":[{"op_type":"AddNode","node_id":"startAgentflow_0","node_name":"startAgentflow"},` +
			`{"op_type":"AddNode","node_id":"directReplyAgentflow_0","node_name":"directReplyAgentflow","params":{"directReplyMessage":"At three."}},` +
			`{"op_type":"Connect","source_node_id":"startAgentflow_0","target_node_id":"directReplyAgentflow_0"}]}`)},
		scripted.Rule{System: "The verdict of `test_chatflow`", Answer: whole(`{"opinion":"ok","reasons":[]}`)},
	)
}

// TestWhatTheTestsSaidReachesTheNextPatch: the verdict of the tests, with its category
// and playbook, and what the reviewer said stand in the prompt of the next patch. No
// prompt of a development holds a graph.
func TestWhatTheTestsSaidReachesTheNextPatch(t *testing.T) {
	t.Parallel()
	asked, model := modelled(t, app.EngineOpenAI, mending())
	endpoint, key := flowiseServers()["in memory"](t)
	s := startSite(t, model)
	s.register(contracts.Registration{Domain: "flowise", URL: serveFlowise(t, endpoint, key)})
	view, told := s.developed(`develop a chatbot called "Mended" that tells guests the hour`, say{
		contracts.InterruptPlanApproval: {decides("approve"), decides("approve")},
		contracts.InterruptResultReview: {decides("iterate", "feedback", "that is not the hour"), decides("accept")},
	})
	if view.State != contracts.RunCompleted || !strings.Contains(told, "is done") {
		t.Fatalf("%s: %s\n%s", view.State, told, states2text(view))
	}
	for _, step := range []string{"plan", "compile_patch_ir", "compile_patch_ir#2", "evaluate#2"} {
		n := nodeIn(view, step, []contracts.NodeState{contracts.NodeCompleted})
		var pinned string
		switch {
		case n.Reason != nil:
			pinned = n.Reason.SkillSHA256
		case n.Verify != nil:
			pinned = n.Verify.Judge.SkillSHA256
		}
		if len(n.Calls) != 1 || len(pinned) != 64 || n.Calls[0].SkillSHA256 != pinned {
			t.Errorf("%s was instructed by %q, and its calls say %s", step, pinned, asJSON(n.Calls))
		}
	}
	applied := nodeIn(view, "applied", []contracts.NodeState{contracts.NodeCompleted})
	asks := s.run(call("flowise.predict_chatflow", map[string]any{"chatflow_id": applied.Facts["chatflow_id"], "question": "When?"}))
	if got := asJSON(s.ended(asks.RunIDs[0]).Nodes[0].Facts); !strings.Contains(got, "At four") {
		t.Errorf("it answers %s", got)
	}
	patches := 0
	for _, r := range asked.Requests() {
		prompt := r.System
		for _, turn := range r.Turns {
			prompt += "\n" + turn.Text
		}
		for _, graph := range []string{"sourceHandle", "inputAnchors", "flowData", `"edges"`, "positionAbsolute"} {
			if strings.Contains(prompt, graph) {
				t.Errorf("a prompt holds %s of a graph:\n%s", graph, prompt)
			}
		}
		if !strings.Contains(r.System, "Write a JSON list of ops") {
			continue
		}
		if patches++; patches == 2 {
			for _, want := range []string{"ITERATE", "LOGIC", "that is not the hour", "compare the answer with the assertion that failed"} {
				if !strings.Contains(prompt, want) {
					t.Errorf("the second patch is not told %q:\n%s", want, prompt)
				}
			}
		}
	}
	if patches != 2 {
		t.Errorf("%d patches were asked for", patches)
	}
}

// TestAChatflowBeginsWithAPattern: what was accepted is kept as a pattern of its
// category; the next goal that speaks of it may begin with it, which counts as a use.
func TestAChatflowBeginsWithAPattern(t *testing.T) {
	t.Parallel()
	onEachFlowise(t, func(t *testing.T, s *site) {
		name := "Harbour " + rand.Text()[:5] + " office"
		s.developed(`develop a chatbot called "`+name+`" that always replies "We open at nine"`, say{
			contracts.InterruptPlanApproval: {decides("approve")},
			contracts.InterruptResultReview: {decides("accept")},
		})
		type row struct {
			PatternID int    `json:"pattern_id"`
			Name      string `json:"name"`
			Category  string `json:"category"`
			Uses      int    `json:"uses"`
		}
		patterns := func() (found []row) {
			t.Helper()
			view := s.run(call("flowise.search_patterns", map[string]any{}))
			var facts struct{ Patterns []row }
			raw := asJSON(s.ended(view.RunIDs[0]).Nodes[0].Facts)
			if err := json.Unmarshal([]byte(raw), &facts); err != nil {
				t.Fatal(err, raw)
			}
			return facts.Patterns
		}
		kept := patterns()
		if len(kept) != 1 || kept[0].Name != name || kept[0].Category != "agentflow" || kept[0].Uses != 0 {
			t.Fatalf("kept as %+v", kept)
		}
		goal := `develop a chatbot called "` + name + ` two" that always replies "We open at ten"`
		view, told := s.developed(goal, say{
			contracts.InterruptPlanApproval: {decides("approve", "approach", "pattern:1")},
			contracts.InterruptResultReview: {decides("accept")},
		})
		if view.State != contracts.RunCompleted {
			t.Fatalf("%s: %s\n%s", view.State, told, states2text(view))
		}
		if n := nodeIn(view, "begin_with_pattern", []contracts.NodeState{contracts.NodeCompleted}); n.State != contracts.NodeCompleted {
			t.Errorf("it did not begin with the pattern: %s", states2text(view))
		}
		if got := s.told(`ask the chatflow "` + name + ` two": "When do you open?"`); !strings.Contains(got, "We open at ten") {
			t.Errorf("it answers %q", got)
		}
		if kept = patterns(); len(kept) != 2 || kept[0].Uses+kept[1].Uses != 1 {
			t.Errorf("kept as %+v", kept)
		}
		// A flow that is there is what a change begins with.
		s.developed(`develop the chatflow "`+name+` two" further so that it always replies "We open at eleven"`, say{
			contracts.InterruptSelectTarget: {"1"},
			contracts.InterruptPlanApproval: {decides("approve")},
			contracts.InterruptResultReview: {decides("accept")},
		}, func(i contracts.Interrupt) {
			if offers := asJSON(i); i.Type == contracts.InterruptPlanApproval && strings.Contains(offers, "pattern") {
				t.Errorf("a change is offered a pattern: %s", offers)
			}
		})
		s.approved(`delete the chatflow "` + name + ` two"`)
		s.approved(`delete the chatflow "` + name + `"`)
	})
}
