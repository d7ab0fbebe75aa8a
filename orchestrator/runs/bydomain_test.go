package runs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

// TestTheStateOfARunIsKeptByDomain: equal names in two domains are separate. Within a domain the
// later step in plan order counts, even if an earlier one was repeated after it. Superseded and
// failed steps do not count.
func TestTheStateOfARunIsKeptByDomain(t *testing.T) {
	t.Parallel()
	step := func(id, tool string, facts map[string]any) contracts.NodeView {
		return contracts.NodeView{
			Node: contracts.Node{NodeID: id, Tool: tool}, State: contracts.NodeCompleted, Attempts: 1, Facts: facts,
			Artifacts: contracts.ArtifactRefs{"of": "sha256:" + id},
		}
	}
	anew := func(n contracts.NodeView, of string, round int) contracts.NodeView {
		n.ForNode, n.Round = of, &contracts.Round{N: round, By: "check"}
		return n
	}
	copied := func(n contracts.NodeView, of string) contracts.NodeView {
		n.ForNode, n.Item = of, 1.0
		return n
	}
	list := step("list", "shop.find", map[string]any{"items": []any{}})
	list.ForEach = &contracts.ForEach{}
	broken := step("broken", "shop.find", map[string]any{"id": "never"})
	broken.State, broken.Error = contracts.NodeFailed, &contracts.ToolError{Type: "upstream"}
	start := time.Unix(100, 0)
	end := start.Add(1500 * time.Millisecond)
	second := anew(step("first#2", "shop.find", map[string]any{"id": 2.0, "first": "new"}), "first", 2)
	second.StartedAt, second.FinishedAt, second.MachineMS = &start, &end, 1200
	view := contracts.RunView{RunID: "r", State: contracts.RunCompleted, Nodes: []contracts.NodeView{
		step("first", "shop.find", map[string]any{"id": 1.0, "first": "old", "gone": true}),
		step("later", "shop.find", map[string]any{"id": 3.0}),
		step("other", "mail.send", map[string]any{"id": "mail"}),
		list, broken, step("set", "", map[string]any{"id": "of no domain"}),
		copied(step("list[0]", "shop.find", map[string]any{"copy": "a"}), "list"),
		copied(step("list[1]", "shop.find", map[string]any{"copy": "b"}), "list"),
		second,
	}}
	got := byDomain(view)
	facts := map[string]map[string]any{
		"shop": {"id": 3.0, "first": "new", "copy": "b"},
		"mail": {"id": "mail"},
	}
	if diff := cmp.Diff(facts, got.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]contracts.ArtifactRefs{"shop": {"of": "sha256:list[1]"}, "mail": {"of": "sha256:other"}}, got.Artifacts); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
	var order []string
	for _, d := range got.Debug["shop"] {
		order = append(order, d.NodeID)
	}
	if diff := cmp.Diff([]string{"first", "first#2", "later", "list[0]", "list[1]", "broken"}, order); diff != "" {
		t.Errorf("debug (-want +got):\n%s", diff)
	}
	if d := got.Debug["shop"][1]; d.DurationMS != 1200 || d.Round != 2 || d.By != "check" {
		t.Errorf("%+v", d)
	}
	if d := got.Debug["shop"][5]; d.Error == nil || d.State != contracts.NodeFailed {
		t.Errorf("%+v", d)
	}
}
