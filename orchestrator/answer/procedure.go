package answer

import (
	"cmp"

	"github.com/manifold-run/manifold/contracts"
)

// procedures displays the results of workflows: their text and facts, what they have written, and
// what failed. Their other steps are not displayed.
func (c *composer) procedures() {
	for i := range c.view.Nodes {
		if n := &c.view.Nodes[i]; n.Kind == contracts.KindResult {
			c.result(n)
		}
	}
	undone := c.undone()
	for i := range c.view.Nodes {
		n := &c.view.Nodes[i]
		if !c.view.Plan.InWorkflow(n.Node) {
			continue // a node of a plain plan
		}
		done := n.State == contracts.NodeCompleted && writes(n)
		if c.shown[n.NodeID] && !done {
			continue // replaced by a later round; only its writes are displayed
		}
		c.shown[n.NodeID] = true
		switch {
		case done && undone[n.NodeID]:
		case done && n.CompensatesNode != "":
			c.text(contracts.BlockNote, "Taken back: "+c.summaryOf(n.CompensatesNode)+" – "+c.withProof(n))
		case done:
			c.text(contracts.BlockNote, c.withProof(n))
		case n.State == contracts.NodeFailed && !n.ContinueOnError, n.State == contracts.NodeRejected:
			c.problem(n)
		case n.State == contracts.NodeFailed && n.Error != nil:
			c.text(contracts.BlockNote, cmp.Or(n.Title, n.Tool)+": "+c.why(n))
		}
	}
}

// undone returns the writes that the run itself has compensated.
func (c *composer) undone() map[string]bool {
	out := map[string]bool{}
	for i := range c.view.Nodes {
		if n := &c.view.Nodes[i]; n.CompensatesNode != "" && n.State == contracts.NodeCompleted {
			out[n.CompensatesNode] = true
		}
	}
	return out
}

func (c *composer) summaryOf(id string) string {
	n := c.nodes[id]
	if n == nil {
		return id
	}
	return cmp.Or(n.Summary, n.Title, n.Tool)
}

// result displays the text of a workflow, and its facts as its manifest presents them.
func (c *composer) result(n *contracts.NodeView) {
	c.shown[n.NodeID] = true
	frame := c.view.Plan.Frames[n.Frame]
	if n.State != contracts.NodeCompleted || frame.Entry != "" { // a nested workflow is only a step
		return
	}
	if n.Summary != "" {
		c.text(contracts.BlockText, n.Summary)
	}
	entry, _ := c.catalog.Capability(frame.Workflow)
	if table := c.table(entry, []*contracts.NodeView{n}); table != nil {
		c.blocks = append(c.blocks, *table)
	}
}

func writes(n *contracts.NodeView) bool {
	return n.Policy != nil && n.Policy.SideEffectClass.Writes()
}

// newest returns the newest instances of steps that later rounds have repeated, by step.
func newest(nodes []contracts.NodeView) map[string]*contracts.NodeView {
	out := map[string]*contracts.NodeView{}
	for i := range nodes {
		n := &nodes[i]
		if n.Round != nil && (out[n.ForNode] == nil || out[n.ForNode].Round.N < n.Round.N) {
			out[n.ForNode] = n
		}
	}
	return out
}

// takenBack marks the nodes of rounds that a later round has replaced as shown: their results are
// not part of the answer.
func (c *composer) takenBack() {
	for id, n := range c.nodes {
		step := id
		if n.Round != nil {
			step = n.ForNode
		}
		c.shown[id] = c.again[step] != nil && c.again[step] != n
	}
}
