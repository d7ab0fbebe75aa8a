package flow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// TestMarketplaceIsRecompiled removes every edge of the samples and adds it again by the names of
// nodes and anchors: ids, inputs and edges equal those of the canvas.
func TestMarketplaceIsRecompiled(t *testing.T) {
	t.Parallel()
	made := 0
	for _, s := range marketplace(t) {
		base, err := flow.Decompile(s.data)
		if err != nil {
			t.Fatal(err)
		}
		g := newGenerator(t, s)
		for _, e := range g.edges {
			anchors, plain := g.anchorsOf(e)
			if !plain {
				continue
			}
			made++
			text := quoted(`[{"op_type":"Disconnect","source_node_id":%s,"target_node_id":%s`+anchors+`},
				{"op_type":"Connect","source_node_id":%s,"target_node_id":%s`+anchors+`}]`,
				text(e, "source"), text(e, "target"), text(e, "source"), text(e, "target"))
			r, err := flow.Compile(base, ops(t, text), definitions(t), flow.Options{Kind: s.kind})
			if err != nil {
				t.Errorf("%s: %v", s.name, err)
				continue
			}
			if diff := cmp.Diff(essence(t, s.data), essence(t, r.FlowData)); diff != "" {
				t.Errorf("%s: %s (-was +is):\n%s", s.name, text, diff)
			}
		}
	}
	if made < 200 {
		t.Errorf("only %d connections were made again", made)
	}
}

// anchorsOf returns the anchors of an edge for ops. plain is false if the sample deviates from the
// canvas: from a removed output, or into a text.
func (g *generator) anchorsOf(e object) (members string, plain bool) {
	source := slices.IndexFunc(g.nodes, func(n object) bool { return text(n, "id") == text(e, "source") })
	target := slices.IndexFunc(g.nodes, func(n object) bool { return text(n, "id") == text(e, "target") })
	if source < 0 || target < 0 {
		return "", false
	}
	for _, out := range list(dataOf(g.nodes[source])["outputAnchors"]) {
		for _, o := range append(list(out["options"]), out) {
			if text(o, "id") == text(e, "sourceHandle") {
				_, end, _ := strings.Cut(text(o, "id"), "-output-")
				name, _, _ := strings.Cut(end, "-")
				members, plain = fmt.Sprintf(`,"source_anchor":%q`, name), true
			}
		}
	}
	if g.kind == flow.Agentflow || !plain {
		return members, plain
	}
	inputs, _ := dataOf(g.nodes[target])["inputs"].(object)
	for _, a := range list(dataOf(g.nodes[target])["inputAnchors"]) {
		if text(a, "id") != text(e, "targetHandle") {
			continue
		}
		reference := "{{" + text(e, "source") + ".data.instance}}"
		items, several := inputs[text(a, "name")].([]any)
		whole := inputs[text(a, "name")] == reference || several && slices.Contains(items, any(reference))
		return members + fmt.Sprintf(`,"target_anchor":%q`, text(a, "name")), whole
	}
	return "", false
}

// essence is what the edges determine: node ids with their inputs, with lists as sets, and the
// edges.
func essence(t *testing.T, data []byte) map[string]any {
	t.Helper()
	doc := document(t, data)
	out := map[string]any{}
	for _, n := range list(doc["nodes"]) {
		inputs, _ := dataOf(n)["inputs"].(object)
		for name, v := range inputs {
			if items, is := v.([]any); is {
				slices.SortFunc(items, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
				v = slices.CompactFunc(items, func(a, b any) bool { return cmp.Equal(a, b) })
			}
			out[text(n, "id")+"."+name] = v
		}
	}
	for _, e := range list(doc["edges"]) {
		out[text(e, "id")] = []string{text(e, "source"), text(e, "sourceHandle"), text(e, "target"), text(e, "targetHandle")}
	}
	return out
}
