package flowise_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

// graphOf reads a flow's graph from the server.
func (b *bench) graphOf(id any) string {
	b.Helper()
	var row struct{ FlowData string }
	b.direct(http.MethodGet, "/chatflows/"+text(id), nil, &row)
	return row.FlowData
}

func TestACredentialIsBoundOrRefusedNeverPassedOver(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.server.AddCredential("Team key", "openAIApi")
	second := b.server.AddCredential("Other key", "openAIApi")
	b.server.AddCredential("Search key", "serpApi")
	model := b.facts("create_chatflow", object{"name": "Model", "starter": "conversation", "credential": "Team key"}, in{key: "model"})
	pattern := b.facts("save_pattern", object{"chatflow_id": model["chatflow_id"]}, in{key: "pattern"})["pattern_id"]
	agent := b.facts("create_chatflow", object{"name": "Agent", "type": "AGENTFLOW", "ops": []object{
		{"op_type": "AddNode", "node_name": "startAgentflow", "node_id": "start"},
		{"op_type": "AddNode", "node_name": "llmAgentflow", "node_id": "llm", "params": object{"llmModel": "chatOpenAI", "llmMessages": []object{}}},
		{"op_type": "SetParam", "node_id": "llm", "param_name": "llmModelConfig", "value": object{"modelName": "gpt-4o-mini"}},
		{"op_type": "BindCredential", "node_id": "llm", "credential_id": first},
		{"op_type": "Connect", "source_node_id": "start", "target_node_id": "llm"},
	}}, in{key: "agent"})
	agentPattern := b.facts("save_pattern", object{"chatflow_id": agent["chatflow_id"]}, in{key: "agent pattern"})["pattern_id"]

	for name, id := range map[string]any{"a model node": pattern, "a component of an agent flow": agentPattern} {
		made := b.facts("create_chatflow", object{"name": name, "pattern_id": id, "credential": "other key"}, in{key: name})
		if g := b.graphOf(made["chatflow_id"]); !strings.Contains(g, second) || strings.Contains(g, first) {
			t.Errorf("%s: the credential is not the one that was named", name)
		}
	}
	// By default it is a conversation, with the given model.
	talk := b.facts("create_chatflow", object{"name": "talk", "credential": "other key", "model": "chatOpenAI:gpt-4o-mini"}, in{key: "talk"})
	if g := b.graphOf(talk["chatflow_id"]); !strings.Contains(g, second) || !strings.Contains(g, `"gpt-4o-mini"`) || !strings.Contains(g, "conversationChain_0") {
		t.Errorf("a conversation: %s", g)
	}
	before := len(b.server.Effects())
	for name, tt := range map[string]struct {
		wish    object
		errType string
		says    string
	}{
		"a reply":                {object{"starter": "reply"}, contracts.ErrInvalidParameters, "uses no credential"},
		"a reply in words":       {object{"reply": "Pong"}, contracts.ErrInvalidParameters, "uses no credential"},
		"only ops":               {object{"ops": replyOps("Pong")}, contracts.ErrInvalidParameters, "BindCredential"},
		"a checked graph":        {object{"flow_data": graph}, contracts.ErrInvalidParameters, "BindCredential"},
		"a template without one": {object{"template": "simple reply"}, contracts.ErrPrecondition, "takes none"},
		"another type":           {object{"pattern_id": pattern, "credential": "Search key"}, contracts.ErrPrecondition, "of type serpApi, and the pattern Model takes openAIApi"},
		"one that is not there":  {object{"pattern_id": pattern, "credential": "Lost key"}, contracts.ErrNotFound, "Lost key"},
		"one of two of its type": {object{"pattern_id": pattern, "credential": "openAIApi"}, contracts.ErrPrecondition, "several"},
	} {
		if tt.wish["name"] = name; tt.wish["credential"] == nil {
			tt.wish["credential"] = "Team key"
		}
		if got := b.refused("create_chatflow", tt.wish, in{key: name}); got.Type != tt.errType || !strings.Contains(got.Message, tt.says) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if after := len(b.server.Effects()); after != before {
		t.Errorf("%d effects", after-before)
	}
}

// TestOnlyAFlowThatWasMadeCountsAsAUse: reading a pattern is declared to have no effect.
func TestOnlyAFlowThatWasMadeCountsAsAUse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.facts("save_pattern", object{"chatflow_id": b.create("Source", "Pong")}, in{key: "save"})["pattern_id"]
	uses := func(want string) {
		t.Helper()
		row, _ := b.facts("search_patterns", object{}, in{})["patterns"].([]any)[0].(object)
		if got := fmt.Sprint(row["uses"], " ", row["last_used_at"] != nil); got != want {
			t.Errorf("used %s, want %s", got, want)
		}
	}
	b.facts("use_pattern", object{"pattern_id": id}, in{})
	b.facts("use_pattern", object{"pattern_id": id}, in{})
	b.refused("create_chatflow", object{"name": "x", "pattern_id": id, "ops": []object{{"op_type": "RemoveNode", "node_id": "nope"}}}, in{key: "refused"})
	uses("0 false")
	for range 2 {
		b.facts("create_chatflow", object{"name": "x", "pattern_id": id}, in{key: "made"})
	}
	uses("1 true")
}

// TestATemplateIsOfferedForAGoalThatItFits if it matches the goal and can run with the existing
// credentials, which are then bound. Otherwise it is neither offered nor used.
func TestATemplateIsOfferedForAGoalThatItFits(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		b.newCredential("openAIApi")
		listed, _ := b.facts("list_templates", object{"limit": 30}, in{})["templates"].([]any)
		offered, held, shown := 0, 0, 0
		for _, row := range listed {
			template, _ := row.(object)
			name, about := text(template["name"]), text(template["description"])
			if template["type"] == "Tool" || offered+held == 8 {
				continue
			}
			planned := b.facts("plan_from_goal", object{"goal": "Build a bot. " + name + ". " + about}, in{})
			approaches, _ := planned["approaches"].([]any)
			given := b.execute("compile_flow", object{"template": name, "ops": []any{}}, in{})
			isOffered := slices.ContainsFunc(approaches, func(a any) bool { return a.(object)["value"] == "template:"+name })
			if len(approaches) > 4 {
				t.Errorf("%s: %d approaches", name, len(approaches))
			}
			switch {
			case !given.OK && (isOffered || given.Error.Type != contracts.ErrPrecondition || !strings.Contains(given.Error.Message, name)):
				t.Errorf("%s: offered %v, %+v", name, isOffered, given.Error)
			case !given.OK:
				held++
			default:
				offered++
				if isOffered { // not every one is among the best
					shown++
				}
				if checked := b.facts("validate_flow", object{"flow_data": b.graph(given)}, in{}); checked["ok"] != true {
					t.Errorf("%s: %v", name, checked)
				}
			}
		}
		if offered == 0 || shown == 0 {
			t.Errorf("of %d templates %d can be begun with, and %d are offered", len(listed), offered, shown)
		}
	})
}
