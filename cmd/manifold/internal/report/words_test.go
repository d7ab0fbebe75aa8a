package report_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/cmd/manifold/internal/report"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
)

func TestEachSentenceHasTheNodesThatItRestsOn(t *testing.T) {
	t.Parallel()
	facts, err := metrics.Worded{
		Sentences: []metrics.Sentence{{Text: "Bruno has 4.5 days more than Ana.", Nodes: []string{"n1", "n2"}}, {Text: "You asked for two.", Nodes: []string{}}},
		LeftOut:   []string{"a number in it stands nowhere"},
	}.Facts()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	report.Words(&out, contracts.RunView{Nodes: []contracts.NodeView{
		{Node: contracts.Node{NodeID: "n1", Kind: contracts.KindTool}},
		{Node: contracts.Node{NodeID: "answer", Kind: contracts.KindAnswer}, Facts: facts},
	}})
	want := "\nthe sentences rest on:\n  Bruno has 4.5 days more than Ana.  ← n1, n2\n  You asked for two.  ← the question\nleft out a sentence: a number in it stands nowhere\n"
	if out.String() != want {
		t.Errorf("it tells:\n%s", out.String())
	}
}
