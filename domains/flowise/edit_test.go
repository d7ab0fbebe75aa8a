package flowise_test

import (
	"crypto/rand"
	"maps"
	"strings"
	"testing"
)

// chatOps builds a conversation with a model, with the real server's credential.
func chatOps(credential string) []object {
	return []object{
		{"op_type": "AddNode", "node_name": "chatOpenAI", "node_id": "chatOpenAI_0", "params": object{"modelName": "gpt-4o", "temperature": "0.9"}},
		{"op_type": "AddNode", "node_name": "bufferMemory", "node_id": "bufferMemory_0"},
		{"op_type": "AddNode", "node_name": "toolAgent", "node_id": "toolAgent_0", "params": object{"systemMessage": "Be helpful"}},
		{"op_type": "AddNode", "node_name": "calculator", "node_id": "calculator_0"},
		{"op_type": "BindCredential", "node_id": "chatOpenAI_0", "credential_id": credential},
		{"op_type": "Connect", "source_node_id": "chatOpenAI_0", "target_node_id": "toolAgent_0", "target_anchor": "model"},
		{"op_type": "Connect", "source_node_id": "bufferMemory_0", "target_node_id": "toolAgent_0"},
		{"op_type": "Connect", "source_node_id": "calculator_0", "target_node_id": "toolAgent_0", "target_anchor": "tools"},
	}
}

// newCredential creates one with a unique name.
func (b *bench) newCredential(kind string) (id, name string) {
	b.Helper()
	name = kind + " " + rand.Text()
	if b.server != nil {
		return b.server.AddCredential(name, kind), name
	}
	var made struct{ ID string }
	b.direct("POST", "/credentials", object{"name": name, "credentialName": kind, "plainDataObj": object{}}, &made)
	return made.ID, name
}

// TestASentenceEditChangesWhatItSaysAndNothingElse: each edit is proposed with its diff, and
// exactly that is written.
func TestASentenceEditChangesWhatItSaysAndNothingElse(t *testing.T) {
	t.Parallel()
	edits := map[string]struct {
		write      string
		parameters object
		lines      []string // the complete diff
	}{
		"the model":            {"set_model", object{"model": "chatOpenAI:gpt-4o-mini"}, []string{"chatOpenAI_0.modelName: gpt-4o → gpt-4o-mini"}},
		"the temperature":      {"set_temperature", object{"temperature": 0.2}, []string{"chatOpenAI_0.temperature: 0.9 → 0.2"}},
		"the prompt":           {"set_prompt", object{"prompt": "Answer in French"}, []string{"toolAgent_0.systemMessage: Be helpful → Answer in French"}},
		"another memory":       {"set_memory", object{"memory": "kind:bufferWindowMemory"}, []string{"new: bufferWindowMemory_0", "gone: bufferMemory_0", "connected: bufferWindowMemory_0", "disconnected: bufferMemory_0"}},
		"no memory":            {"remove_memory", object{}, nil},
		"a tool more":          {"add_tool", object{"tool": "kind:currentDateTime"}, []string{"new: currentDateTime_0", "connected: currentDateTime_0"}},
		"a tool less":          {"remove_tool", object{"tool": "calculator_0#"}, nil},
		"a moderation":         {"add_moderation", object{"moderation": "kind:inputModerationSimple"}, []string{"new: inputModerationSimple_0", "connected: inputModerationSimple_0"}},
		"a node for a node":    {"replace_node", object{"part": "bufferMemory_0#", "kind": "kind:conversationSummaryMemory"}, nil},
		"an instruction more":  {"extend_prompt", object{"instruction": "make an instruction more answer shorter"}, []string{"toolAgent_0.systemMessage: Be helpful → "}},
		"a memory of a size":   {"set_memory", object{"memory": "kind:bufferWindowMemory", "size": 7}, nil},
		"a parameter by label": {"set_parameter", object{"part": "toolAgent_0#", "parameter": "Max Iterations", "value": "7"}, []string{"toolAgent_0.maxIterations: → 7"}},
	}
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		key, _ := b.newCredential("openAIApi")
		for name, tt := range edits {
			id := text(b.facts("create_chatflow", object{"name": name + rand.Text(), "ops": chatOps(key)}, in{key: rand.Text()})["chatflow_id"])
			parameters := maps.Clone(tt.parameters) // the other server has its own
			parameters["chatflow_id"] = id
			if tt.lines == nil || tt.write == "add_moderation" {
				// The validator reports what these need in addition to their kind.
				out := b.execute("propose", object{"write": tt.write, "parameters": parameters}, in{})
				if !out.OK && !strings.Contains(out.Error.Message, "needs") {
					t.Errorf("%s: %v", name, out.Error)
				}
				continue
			}
			shown := b.proposed(tt.write, parameters)
			parameters["base_sha256"], parameters["graph_sha256"] = shown["base_sha256"], shown["graph_sha256"]
			done := b.facts(tt.write, parameters, in{key: rand.Text()})
			if done["sha256"] != shown["graph_sha256"] {
				t.Errorf("%s: shown %v, written %v", name, shown["graph_sha256"], done["sha256"])
			}
			lines := linesOf(shown)
			if len(lines) != len(tt.lines) {
				t.Errorf("%s: it changes %q, want %q", name, lines, tt.lines)
				continue
			}
			for i, want := range tt.lines {
				if !strings.HasPrefix(lines[i], want) {
					t.Errorf("%s: it changes %q, want %q", name, lines[i], want)
				}
			}
		}
	})
}

// TestAPartIsFoundByItsKind: people mostly use the label of the kind, and the flow has only one
// such node.
func TestAPartIsFoundByItsKind(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		key, _ := b.newCredential("openAIApi")
		two := append(chatOps(key),
			object{"op_type": "AddNode", "node_name": "currentDateTime"},
			object{"op_type": "Connect", "source_node_id": "currentDateTime_0", "target_node_id": "toolAgent_0", "target_anchor": "tools"})
		id := text(b.facts("create_chatflow", object{"name": "Two tools " + rand.Text(), "ops": two}, in{key: rand.Text()})["chatflow_id"])
		for write, parameters := range map[string]object{
			"remove_tool":  {"chatflow_id": id, "tool": "calculator#"},
			"replace_node": {"chatflow_id": id, "part": "bufferMemory#", "kind": "kind:bufferWindowMemory"},
		} {
			if lines := strings.Join(linesOf(b.proposed(write, parameters)), "\n"); !strings.Contains(lines, "gone: calculator_0") && !strings.Contains(lines, "gone: bufferMemory_0") {
				t.Errorf("%s: %s", write, lines)
			}
		}
		if out := b.execute("propose", object{"write": "remove_tool", "parameters": object{"chatflow_id": id, "tool": "serper#"}}, in{}); out.OK || !strings.Contains(out.Error.Message, "it has ") {
			t.Errorf("a tool that is not there: %+v", out)
		}
	})
}

// linesOf returns the changes of a proposal, as its gate shows them.
func linesOf(shown object) []string {
	changes, _ := shown["changes"].(object)
	var out []string
	for _, list := range []struct{ key, head string }{
		{"params_changed", ""}, {"nodes_added", "new: "}, {"nodes_removed", "gone: "}, {"other", ""}, {"edges_added", "connected: "}, {"edges_removed", "disconnected: "},
	} {
		items, _ := changes[list.key].([]any)
		for _, item := range items {
			out = append(out, list.head+text(item))
		}
	}
	return out
}

// TestAnotherProvidersModelTakesTheNodesPlace with its connections and a credential of its own.
func TestAnotherProvidersModelTakesTheNodesPlace(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		key, _ := b.newCredential("openAIApi")
		_, other := b.newCredential("anthropicApi")
		id := text(b.facts("create_chatflow", object{"name": "Swap " + rand.Text(), "ops": chatOps(key)}, in{key: rand.Text()})["chatflow_id"])
		matches, _ := b.facts("find_model", object{"chatflow_id": id, "query": "Claude Sonnet"}, in{})["matches"].([]any)
		if len(matches) == 0 {
			t.Fatal("no model of that name")
		}
		match, _ := matches[0].(object)
		if !strings.HasPrefix(text(match["value"]), "chatAnthropic:claude-sonnet") || match["exact"] == true {
			t.Fatalf("%v", match)
		}
		if bare := b.execute("propose", object{"write": "set_model", "parameters": object{"chatflow_id": id, "model": match["value"]}}, in{}); bare.OK || !strings.Contains(bare.Error.Message, "credential") {
			t.Errorf("without a credential: %v", bare.Error)
		}
		b.facts("set_model", object{"chatflow_id": id, "model": match["value"], "credential": other}, in{key: rand.Text()})
		digest := b.facts("load_flow", object{"chatflow_id": id}, in{})
		kinds, _ := digest["node_types"].(object)
		if kinds["chatOpenAI"] != nil || kinds["chatAnthropic"] == nil || digest["edge_count"] != 3.0 {
			t.Errorf("%v", digest)
		}
	})
}

// TestWhatWordsMeanIsSearchedFor among the parts of the flow and the kinds of nodes, without a list
// of names.
func TestWhatWordsMeanIsSearchedFor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key, _ := b.newCredential("openAIApi")
	id := text(b.facts("create_chatflow", object{"name": "Parts", "ops": chatOps(key)}, in{key: "parts"})["chatflow_id"])
	for name, tt := range map[string]struct {
		capability string
		parameters object
		value      string
		exact      bool
	}{
		"the only model":       {"find_part", object{"role": "model"}, "chatOpenAI_0#modelName", true},
		"the prompt":           {"find_part", object{"role": "prompt"}, "toolAgent_0#systemMessage", true},
		"a node by its label":  {"find_part", object{"role": "node", "query": "Buffer Memory"}, "bufferMemory_0#", true},
		"a tool by a word":     {"find_part", object{"role": "tool", "query": "calculator"}, "calculator_0#", true},
		"a kind by its label":  {"find_kind", object{"query": "Buffer Window Memory", "category": "Memory"}, "kind:bufferWindowMemory", true},
		"a kind and its genus": {"find_kind", object{"query": "calculator tool", "category": "Tools"}, "kind:calculator", true},
		"a kind by a word":     {"find_kind", object{"query": "redis", "category": "Memory"}, "kind:RedisBackedChatMemory", false},
		"a model of the node":  {"find_model", object{"query": "gpt 4o mini"}, "chatOpenAI:gpt-4o-mini", true},
		"an unlisted model":    {"find_model", object{"query": "gpt-9"}, "chatOpenAI:gpt-9", false},
	} {
		if tt.capability != "find_kind" {
			tt.parameters["chatflow_id"] = id
		}
		matches, _ := b.facts(tt.capability, tt.parameters, in{})["matches"].([]any)
		if len(matches) == 0 {
			t.Errorf("%s: nothing", name)
			continue
		}
		if first, _ := matches[0].(object); first["value"] != tt.value || first["exact"] != tt.exact {
			t.Errorf("%s: %v", name, first)
		}
	}
	for name, parameters := range map[string]object{"no such part": {"role": "tool", "query": "browser"}, "no part of the role": {"role": "source"}} {
		parameters["chatflow_id"] = id
		b.refused("find_part", parameters, in{})
		_ = name
	}
}
