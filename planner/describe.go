package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
)

// Rows describes the steps of a plan for people, before it runs.
func Rows(p contracts.Plan) []contracts.PlanRow {
	rows := make([]contracts.PlanRow, 0, len(p.Nodes))
	for _, n := range p.Nodes {
		rows = append(rows, rowOf(p, n))
		for _, undo := range n.Undo {
			row := rowOf(p, undo.Node(n))
			row.Step, row.DependsOn = row.Step+", for each time that it was done, the last first", []string{undo.ForNode}
			rows = append(rows, row)
		}
	}
	return rows
}

func rowOf(p contracts.Plan, n contracts.Node) contracts.PlanRow {
	row := contracts.PlanRow{NodeID: n.NodeID, Step: step(n) + loops(p, n), Tool: n.Tool, DependsOn: slices.Concat(n.DependsOn, n.RunAfter)}
	row.Step += asks(n, p.Unattended && p.InWorkflow(n))
	row.Say = n.Rationale
	if n.Policy != nil {
		row.Risk, row.Approval = n.Policy.RiskLevel, approval(*n.Policy, p.DryRun)
	}
	return row
}

// Cost adds up the declared costs of the calls of a plan. The catalog may be newer than the plan.
func Cost(p contracts.Plan, catalog *contracts.Catalog) contracts.Cost {
	var out contracts.Cost
	for _, n := range p.Nodes {
		e, ok := catalog.Capability(n.Tool)
		if !ok || n.Kind != contracts.KindTool || e.Capability.Metadata.Cost == nil {
			continue
		}
		out.Tokens += e.Capability.Metadata.Cost.Tokens
		out.USD += e.Capability.Metadata.Cost.USD
	}
	return out
}

// step describes what a node does and on which condition.
func step(n contracts.Node) string {
	text := what(n)
	if n.When != nil {
		text += ", " + conditionText(*n.When)
	}
	if !n.Required && n.Kind != contracts.KindResult {
		text += " (its failure does not fail the rest)"
	}
	return text
}

// asks describes what happens to a question in an unattended run.
func asks(n contracts.Node, unattended bool) string {
	if n.Human == nil || !unattended {
		return ""
	}
	if u := n.Human.Unattended; u != nil && u.Answer != "" {
		if u.OnlyIfOne {
			return "; nobody is asked: " + u.Answer + ", if there is only one"
		}
		return "; nobody is asked: " + u.Answer
	}
	return "; needs a person, and fails without one"
}

// loops describes how often a node may go back, and to which step, by its title.
func loops(p contracts.Plan, n contracts.Node) string {
	var text strings.Builder
	for _, rule := range n.On {
		cause := "if a person says " + rule.Answer
		switch {
		case rule.When != nil:
			cause = conditionText(*rule.When)
		case rule.Error != "":
			cause = "if it fails with " + rule.Error
		}
		back := "is done again"
		if i := slices.IndexFunc(p.Nodes, func(of contracts.Node) bool { return of.NodeID == rule.Goto }); i >= 0 && rule.Goto != n.NodeID {
			back = fmt.Sprintf("goes back to “%s”", what(p.Nodes[i]))
		}
		fmt.Fprintf(&text, "; %s at most %s %s", back, times(rule.Max), cause)
	}
	return text.String()
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// what describes what a node does.
func what(n contracts.Node) string {
	text := contracts.CleanSummary(n.Title)
	switch {
	case text != "":
	case n.Kind == contracts.KindHuman && n.Human != nil:
		text = contracts.CleanSummary(n.Human.Prompt)
	default:
		text = n.Tool
	}
	switch {
	case n.ForEach != nil && n.Merge != contracts.MergeAllCompleted:
		text += " (for each of " + inner(n.ForEach.Items) + ")"
	case n.ForEach != nil:
		text += " (for each of a list that is found on the way)"
	}
	return text
}

// approval describes who must approve; a dry run opens no gates.
func approval(p contracts.Policy, dryRun bool) string {
	if !p.ApprovalRequired || dryRun {
		return ""
	}
	return gateview.Approvers(p)
}

// inner returns an expression without its braces.
func inner(text string) string {
	return cut(strings.TrimSuffix(strings.TrimPrefix(text, opening), "}"), 120)
}

func conditionText(when contracts.Condition) string {
	switch {
	case len(when.Expr) > 60: // too long to read in one line
		return "if its condition holds"
	case when.Expr != "":
		return "if " + inner(when.Expr)
	case when.Equals != nil:
		return fmt.Sprintf("if %s is %s", when.Path, spoken(*when.Equals))
	case when.GTE != nil:
		return fmt.Sprintf("if %s is at least %s", when.Path, spoken(*when.GTE))
	case when.LTE != nil:
		return fmt.Sprintf("if %s is at most %s", when.Path, spoken(*when.LTE))
	case when.Exists != nil && *when.Exists:
		return fmt.Sprintf("if there is %s", when.Path)
	case when.Exists != nil:
		return fmt.Sprintf("if there is no %s", when.Path)
	default:
		return fmt.Sprintf("if %s is one of %s", when.Path, spoken(when.In))
	}
}

// Mermaid draws a plan as a Mermaid flowchart; gates are marked, questions are rounded, joins are
// circles. Texts are quoted, so that they cannot be parsed as syntax.
func Mermaid(p contracts.Plan) string {
	var out strings.Builder
	out.WriteString("flowchart TD\n")
	for i, n := range p.Nodes {
		open, shut := `["`, `"]`
		switch n.Kind {
		case contracts.KindHuman:
			open, shut = `(["`, `"])`
		case contracts.KindJoin, contracts.KindResult:
			open, shut = `(("`, `"))`
		case contracts.KindSet, contracts.KindVerify, contracts.KindUndo:
			open, shut = `{{"`, `"}}`
		case contracts.KindReplan:
			open, shut = `{{"`, `"}}`
		case contracts.KindTool, contracts.KindReason, contracts.KindAnswer:
		}
		label := n.NodeID + ": " + cut(what(n), 80)
		if (n.Policy != nil && n.Policy.ApprovalRequired || slices.ContainsFunc(n.Undo, gated)) && !p.DryRun {
			label += " — needs approval"
		}
		fmt.Fprintf(&out, "  v%d%s%s%s\n", i, open, quoteMermaid.Replace(label), shut)
	}
	index := make(map[string]int, len(p.Nodes))
	for i, n := range p.Nodes {
		index[n.NodeID] = i
	}
	draw := func(to int, from []string, arrow string) {
		for _, dep := range from {
			if j, ok := index[dep]; ok {
				fmt.Fprintf(&out, "  v%d %s v%d\n", j, arrow, to)
			}
		}
	}
	for i, n := range p.Nodes {
		draw(i, n.DependsOn, "-->")
		draw(i, n.RunAfter, "-.->") // order alone
		for _, rule := range n.On {
			if j, ok := index[rule.Goto]; ok {
				fmt.Fprintf(&out, "  v%d -. at most %s .-> v%d\n", i, times(rule.Max), j)
			}
		}
	}
	return out.String()
}

func gated(u contracts.Undo) bool { return u.Policy != nil && u.Policy.ApprovalRequired }

var quoteMermaid = strings.NewReplacer(
	"&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "`", "&#96;", "#", "&#35;", "\\", "&#92;",
)
