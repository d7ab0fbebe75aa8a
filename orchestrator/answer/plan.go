package answer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/planner"
)

// planned displays the steps of a request above its first gate if it has several writes, or a write
// that depends on another step. The approver thus sees the action as part of the whole.
func (c *composer) planned() {
	waits := false
	for i := range c.view.Nodes {
		n := &c.view.Nodes[i]
		if n.Policy != nil && n.Policy.SideEffectClass.Writes() && n.State.Terminal() {
			return // a write has ended already
		}
		waits = waits || c.gateOf(n)
	}
	if !waits {
		return
	}
	p := c.view.Plan
	p.Nodes = nil
	for i := range c.view.Nodes {
		if n := &c.view.Nodes[i]; n.Item == nil {
			p.Nodes = append(p.Nodes, n.Node)
		}
	}
	o := outline{catalog: c.catalog, plan: p, place: map[string]int{}, nodes: map[string]contracts.Node{}}
	if lines := o.lines(); len(lines) > 0 {
		c.blocks = append(c.blocks, contracts.Block{Kind: contracts.BlockList, Title: "The plan", Items: lines})
	}
}

func (c *composer) gateOf(n *contracts.NodeView) bool {
	return slices.ContainsFunc(c.view.Interrupts, func(i contracts.Interrupt) bool {
		return i.NodeID == n.NodeID && i.Type.IsGate() && i.Status == contracts.InterruptOpen
	})
}

// outline formats the requested steps of a plan, by number.
type outline struct {
	catalog *contracts.Catalog
	plan    contracts.Plan
	nodes   map[string]contracts.Node
	place   map[string]int // number of a step, by its node
}

// own reports whether a node is a requested step; lookups, joins and the steps of workflows are
// not.
func (o outline) own(n contracts.Node) bool {
	return n.Kind == contracts.KindTool && (n.Role == "" || n.Role == contracts.RoleFollowup) && !o.plan.InWorkflow(n)
}

func writesBy(n contracts.Node) bool {
	return n.Policy != nil && n.Policy.SideEffectClass.Writes()
}

// lines returns one line for each step, or none if the gate alone shows everything.
func (o outline) lines() []string {
	rows := map[string]contracts.PlanRow{}
	for _, row := range planner.Rows(o.plan) {
		if _, known := rows[row.NodeID]; !known {
			rows[row.NodeID] = row
		}
	}
	var steps []contracts.Node
	writes, rests := 0, false
	for _, n := range o.plan.Nodes {
		o.nodes[n.NodeID] = n
		if !o.own(n) {
			continue
		}
		steps = append(steps, n)
		o.place[n.NodeID] = len(steps)
	}
	var lines []string
	for _, n := range steps {
		line, after := o.line(n, rows[n.NodeID])
		lines = append(lines, line)
		if writesBy(n) {
			writes++
			rests = rests || after
		}
	}
	if writes > 1 || rests {
		return lines
	}
	return nil
}

// line describes one step: the action, its values, the steps before it, and its approvers. rests
// reports whether it depends on another step.
func (o outline) line(n contracts.Node, row contracts.PlanRow) (line string, rests bool) {
	line = "Step " + strconv.Itoa(o.place[n.NodeID]) + ": " + row.Step
	if values := o.values(n); writesBy(n) && values != "" {
		line += ": " + values
	}
	if after := o.after(n); len(after) > 0 {
		line, rests = line+" – after step "+strings.Join(after, ", "), true
	}
	switch {
	case row.Approval != "":
		line += " – approved by " + row.Approval
	case writesBy(n) && !o.plan.DryRun:
		line += " – needs no approval"
	}
	if row.Say != "" {
		line += " (" + contracts.CleanSummary(row.Say) + ")"
	}
	return line, rests
}

// after returns the numbers of the steps that a step depends on, also through other nodes.
func (o outline) after(n contracts.Node) []string {
	found, seen := map[int]bool{}, map[string]bool{}
	var walk func(n contracts.Node)
	walk = func(n contracts.Node) {
		for _, id := range slices.Concat(n.DependsOn, n.RunAfter) {
			if at := o.place[id]; at > 0 && id != n.NodeID {
				found[at] = true
			} else if !seen[id] {
				seen[id] = true
				walk(o.nodes[id])
			}
		}
	}
	walk(n)
	var out []string
	for at := range len(o.place) {
		if found[at+1] {
			out = append(out, strconv.Itoa(at+1))
		}
	}
	return out
}

// values returns the parameters of a step as gates show them. A value from an earlier step is named
// so, and personal data is masked: only the gate shows it.
func (o outline) values(n contracts.Node) string {
	var out []string
	var specs map[string]contracts.ParameterSpec
	if e, ok := o.catalog.Capability(n.Tool); ok {
		specs = e.Capability.Metadata.ParameterSpecs
	}
	for _, row := range gateview.Of(contracts.Interrupt{Action: &contracts.Action{Capability: n.Tool, Parameters: n.Params, Utterance: n.Utterance}}) {
		switch text, isText := row.Value.(string); {
		case row.Opaque && row.Label == "":
		case specs[row.Parameter].PII:
			out = append(out, row.Name+" •••")
		case isText && strings.Contains(text, "${"):
			out = append(out, row.Name+" from an earlier step")
		default:
			out = append(out, row.Name+" "+contracts.CleanSummary(fmt.Sprint(row.Value)))
		}
	}
	return strings.Join(out, ", ")
}
