package flow_test

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// corrupt breaks one thing at random in a node or an edge.
func corrupt(random *rand.Rand, doc object) {
	nodes, _ := doc["nodes"].([]any)
	edges, _ := doc["edges"].([]any)
	switch random.IntN(6) {
	case 0:
		if len(edges) > 0 {
			i := random.IntN(len(edges))
			doc["edges"] = append(append([]any{}, edges[:i]...), edges[i+1:]...)
			return
		}
	case 1:
		i := random.IntN(len(nodes))
		doc["nodes"] = append(append([]any{}, nodes[:i]...), nodes[i+1:]...)
		return
	case 2:
		if len(edges) > 0 {
			damageMember(random, edges[random.IntN(len(edges))])
			return
		}
	}
	node, _ := nodes[random.IntN(len(nodes))].(object)
	data, _ := node["data"].(object)
	switch random.IntN(4) {
	case 0:
		damageMember(random, node)
	case 2:
		damageItem(random, data)
	case 1:
		damageMember(random, data)
	default:
		damageMember(random, data["inputs"])
	}
}

// damageMember drops a member or gives it a value of another type. Strings are not replaced by
// other strings: the validator cannot know the code of a function or the address of a model.
func damageMember(random *rand.Rand, v any) {
	m, _ := v.(object)
	keys := slices.DeleteFunc(sortedKeys(m), func(key string) bool { return key == "basepath" })
	if len(keys) == 0 {
		return
	}
	key := keys[random.IntN(len(keys))]
	wrong := []any{nil, "", "other_0", 7, true, []any{}, object{}, []any{"x"}, object{"a": 1}}
	if i := random.IntN(len(wrong) + 3); i < len(wrong) && (i != 2 || key != "javascriptFunction") {
		m[key] = wrong[i]
		return
	}
	delete(m, key)
}

// damageItem breaks one of the descriptions in a node.
func damageItem(random *rand.Rand, data object) {
	lists := []string{"inputParams", "inputAnchors", "outputAnchors"}
	list := lists[random.IntN(len(lists))]
	items, _ := data[list].([]any)
	if len(items) == 0 {
		damageMember(random, data)
		return
	}
	i := random.IntN(len(items))
	if random.IntN(2) == 0 {
		damageMember(random, items[i])
		return
	}
	items[i] = []any{nil, "", 7, true, []any{}, object{}}[random.IntN(6)]
}

// TestLiveCorruption: a flow that passes validation runs.
func TestLiveCorruption(t *testing.T) {
	s := live(t)
	local := s.local(t)
	random := rand.New(rand.NewPCG(5, 18))
	names := []string{"custom function", "condition", "conversation", "retrieval", "tool agent", "agent with a model and a tool"}
	passed := 0
	for i := range 200 {
		r := build(t, names[i%len(names)])
		doc := document(t, r.FlowData)
		corrupt(random, doc)
		data := []byte(local.Replace(string(encoded(t, doc))))
		if !flow.Validate(data, definitions(t), flow.Check{Kind: r.Kind, Credentials: local.credentials}).OK() {
			continue
		}
		passed++
		if status, text := s.run(t, r.Kind, string(data), "yes"); status != http.StatusOK {
			t.Errorf("corruption %d passed and failed: %s\n%s", i, text, differences([]byte(local.Replace(string(r.FlowData))), data))
		}
	}
	t.Logf("%d of 200 passed the validator", passed)
	if passed == 0 || passed == 200 {
		t.Error("the corruptions prove nothing")
	}
}
