package planner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	plan, catalog := lending(t)
	want := []contracts.PlanRow{
		{NodeID: "n1", Step: "search members", Tool: "library.search_members", Risk: "read"},
		{NodeID: "n2", Step: "Choose member", DependsOn: []string{"n1"}},
		{
			NodeID: "n3", Step: "Lends a book to a member", Tool: "library.lend_book", DependsOn: []string{"n2"}, Risk: "medium",
			Approval: "approver: it changes something, which can be undone",
		},
		{
			NodeID: "n4", Step: "Shows what a member has (its failure does not fail the rest)", Tool: "library.show_member",
			DependsOn: []string{"n3"}, Risk: "read",
		},
		{
			NodeID: "n5", Step: "Where a book stands (9780001) (its failure does not fail the rest)", Tool: "library.find_book",
			DependsOn: []string{"n3"}, Risk: "read",
		},
		{
			NodeID: "n6", Step: "Where a book stands (9780002) (its failure does not fail the rest)", Tool: "library.find_book",
			DependsOn: []string{"n3"}, Risk: "read",
		},
		{NodeID: "n7", Step: "All of: Where a book stands", DependsOn: []string{"n5", "n6"}},
		{NodeID: "n8", Step: "Lists the beds that are dry", Tool: "garden.list_beds", Risk: "read"},
		{
			NodeID: "n9", Step: "Waters a bed (for each of a list that is found on the way), if steps.n8.facts.count is at least 1",
			Tool: "garden.water_bed", DependsOn: []string{"n8"}, Risk: "medium", Approval: "approver, not the requester: it changes something for good",
		},
	}
	if diff := cmp.Diff(want, planner.Rows(plan)); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
	if got := planner.Cost(plan, catalog); got != (contracts.Cost{USD: 0.5}) {
		t.Errorf("cost %+v", got)
	}
	drawn := planner.Mermaid(plan)
	for _, line := range []string{
		"flowchart TD\n", `v1(["n2: Choose member"])`, `v2["n3: Lends a book to a member — needs approval"]`,
		`v6(("n7: All of: Where a book stands"))`, "v1 --> v2\n", "v5 --> v6\n",
	} {
		if !strings.Contains(drawn, line) {
			t.Errorf("%q is not in the diagram:\n%s", line, drawn)
		}
	}
}

// TestDescribeQuotes checks that texts of domains and people are never parsed as syntax.
func TestDescribeQuotes(t *testing.T) {
	t.Parallel()
	plan, _ := lending(t)
	plan.Nodes[search].Title = "a\"] --> v9[\"`<script>`\nclick v1"
	plan.DryRun = true
	drawn := planner.Mermaid(plan)
	if strings.Contains(drawn, `"] --> v9`) || strings.Contains(drawn, "<") || strings.Contains(drawn, "\nclick") {
		t.Errorf("the title can be read as syntax:\n%s", drawn)
	}
	if strings.Contains(drawn, "needs approval") {
		t.Error("a dry run opens no gates, but the preview announces some")
	}
}

func TestALoopNamesTheStepItGoesBackTo(t *testing.T) {
	plan := contracts.Plan{Nodes: []contracts.Node{
		{NodeID: "n1", Kind: contracts.KindTool, Title: "draft it", Required: true, On: []contracts.Rule{{Error: "busy", Goto: "n1", Max: 1}}},
		{NodeID: "n2", Kind: contracts.KindHuman, Title: "review it", Required: true, On: []contracts.Rule{{Answer: "again", Goto: "n1", Max: 3}}},
	}}
	rows := planner.Rows(plan)
	for i, want := range []string{"draft it; is done again at most once if it fails with busy", "review it; goes back to “draft it” at most 3 times if a person says again"} {
		if rows[i].Step != want {
			t.Errorf("%q, not %q", rows[i].Step, want)
		}
	}
}
