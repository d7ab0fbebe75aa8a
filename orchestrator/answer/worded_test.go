package answer_test

import (
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/orchestrator/answer"
)

// TestWordsStandAboveTheTable: the sentences come first with their evidence, and the table stays;
// without sentences nothing is added.
func TestWordsStandAboveTheTable(t *testing.T) {
	t.Parallel()
	read := contracts.NodeView{Node: contracts.Node{NodeID: "n1", Kind: contracts.KindTool, Tool: "shop.look"}, State: contracts.NodeCompleted, Facts: map[string]any{"price": 3.0}, Summary: "3 a piece"}
	plain := answer.Compose(&contracts.Catalog{}, contracts.RunView{State: contracts.RunCompleted, Nodes: []contracts.NodeView{read}})
	for state, more := range map[contracts.NodeState]int{contracts.NodeCompleted: 1, contracts.NodeFailed: 0, contracts.NodeRunning: 0} {
		facts, err := metrics.Worded{Sentences: []metrics.Sentence{{Text: "It costs 3.", Nodes: []string{"n1"}}, {Text: "That is all.", Nodes: []string{"n1"}}}}.Facts()
		if err != nil {
			t.Fatal(err)
		}
		words := contracts.NodeView{Node: contracts.Node{NodeID: "answer", Kind: contracts.KindAnswer}, State: state, Facts: facts}
		got := answer.Compose(&contracts.Catalog{}, contracts.RunView{State: contracts.RunCompleted, Nodes: []contracts.NodeView{read, words}})
		if len(got.Blocks) != len(plain.Blocks)+more {
			t.Errorf("%s: it tells:\n%s", state, texts(got))
		}
		if first := got.Blocks[0]; more == 1 && (first.Text != "It costs 3. That is all." || len(first.Sentences) != 2 || first.Sentences[0].Nodes[0] != "n1") {
			t.Errorf("it begins with %+v", first)
		}
	}
}
