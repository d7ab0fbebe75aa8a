package flowise_test

import (
	"encoding/json"
	"testing"
)

// TestMalformedGraphsAreNeverSent: a graph that Flowise would accept and then fail on, or save and
// report as failed, is refused before any write, even if validation is skipped.
func TestMalformedGraphsAreNeverSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create("Sound", "one")
	sound := b.execute("load_flow", object{"chatflow_id": id}, in{})
	broken := func(damage func(doc object)) string {
		var doc object
		if err := json.Unmarshal([]byte(b.graph(sound)), &doc); err != nil {
			t.Fatal(err)
		}
		damage(doc)
		raw, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	data := func(doc object, key string, value any) {
		nodes, _ := doc["nodes"].([]any)
		node, _ := nodes[0].(object)
		inner, _ := node["data"].(object)
		if inner[key] = value; value == nil {
			delete(inner, key)
		}
	}
	graphs := map[string]string{
		"broken JSON": "{bad", "null": "null", "a list": "[]", "an empty object": "{}", "a text": `"[object Object]"`,
		"nothing in it":   `{"nodes":[],"edges":[]}`,
		"no edges":        broken(func(doc object) { delete(doc, "edges") }),
		"edges are gone":  broken(func(doc object) { doc["edges"] = []any{} }),
		"no inputs":       broken(func(doc object) { data(doc, "inputs", nil) }),
		"no inputParams":  broken(func(doc object) { data(doc, "inputParams", nil) }),
		"an unknown kind": broken(func(doc object) { data(doc, "name", "noSuchNode") }),
		"an edge from nowhere": broken(func(doc object) {
			edges, _ := doc["edges"].([]any)
			edge, _ := edges[0].(object)
			edge["source"] = "ghost_0"
		}),
	}
	before := len(b.server.Effects())
	for name, graph := range graphs {
		if b.facts("validate_flow", object{"flow_data": graph, "type": "AGENTFLOW"}, in{})["ok"] != false {
			t.Errorf("%s: it passes the validator", name)
		}
		b.refused("create_chatflow", object{"name": name, "flow_data": graph, "type": "AGENTFLOW"}, in{key: "create " + name})
		b.refused("apply_patch", object{"chatflow_id": id, "flow_data": graph, "base_sha256": sound.Facts["sha256"]}, in{key: "patch " + name})
	}
	if made := b.server.Effects()[before:]; len(made) != 0 {
		t.Errorf("effects %v", made)
	}
}
