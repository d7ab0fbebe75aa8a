package flow

import (
	"fmt"
	"slices"
)

// graphOf is the graph that the server builds before a run: the successors of each node and the
// number of incoming edges. Edges to missing nodes count too.
type graphOf struct {
	next, before map[string][]string
	incoming     map[string]int
}

func (c *checker) graph() graphOf {
	g := graphOf{next: map[string][]string{}, before: map[string][]string{}, incoming: map[string]int{}}
	for _, n := range c.order {
		if c.kind != Agentflow || !isNote(n.name) {
			g.incoming[n.id] = 0
		}
	}
	for _, e := range c.edges {
		g.next[e.Source] = append(g.next[e.Source], e.Target)
		g.before[e.Target] = append(g.before[e.Target], e.Source)
		g.incoming[e.Target]++
	}
	return g
}

// checkChatRun determines like the server what runs in a CHATFLOW or MULTIAGENT: the ending nodes,
// and every node that leads to them.
func (c *checker) checkChatRun() {
	g := c.graph()
	ends := c.endings(g)
	var runnable []*checkedNode
	for _, n := range ends {
		if n.output() == "EndingNode" || endsFlow(n.category) {
			runnable = append(runnable, n)
		}
	}
	switch {
	case len(ends) == 0:
		c.add(SeverityError, Incomplete, "ending_missing", "/nodes", "",
			"nothing ends the flow; the server says \"Ending nodes not found\"", "connect the nodes towards one chain, agent or engine")
	case len(runnable) == 0:
		n := ends[0]
		c.add(SeverityError, Incomplete, "ending_kind", n.at, n.id,
			fmt.Sprintf("%s ends the flow, but is no chain, agent or engine", n.id),
			"connect it to a chain or an agent; a custom function needs the output EndingNode")
	}
	for _, n := range runnable {
		c.checkEndingOutput(n)
	}
	c.checkCategories(ends)
	c.checkCircle(g, runnable)
	c.markLive(g, runnable)
	c.checkIsolated(g)
}

// endings returns the nodes with incoming and without outgoing edges. A single node counts as one.
func (c *checker) endings(g graphOf) []*checkedNode {
	var out []*checkedNode
	for _, n := range c.order {
		if len(g.incoming) == 1 || len(g.next[n.id]) == 0 && g.incoming[n.id] > 0 {
			out = append(out, n)
		}
	}
	return out
}

// checkEndingOutput rejects, like the server, an ending chain whose selected output is not the
// chain itself.
func (c *checker) checkEndingOutput(n *checkedNode) {
	outputs := n.part(partOutputs)
	all := members(outputs)
	if len(all) == 0 || n.output() == "EndingNode" || n.category == categoryMultiagent || n.category == categorySequential {
		return
	}
	for _, m := range all {
		if unquote(outputs[m.from:m.to]) == n.name {
			return
		}
	}
	c.add(SeverityError, Logic, "ending_output", n.at+"/data/outputs", n.id,
		fmt.Sprintf("%s ends the flow, but gives %q instead of itself", n.id, n.output()), "choose its output "+n.name)
}

func endsFlow(category string) bool {
	return slices.Contains([]string{"Chains", "Agents", "Engine", categoryMultiagent, categorySequential}, category)
}

func (c *checker) markLive(g graphOf, from []*checkedNode) {
	queue := slices.Clone(from)
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if n.live {
			continue
		}
		n.live = true
		for _, id := range g.before[n.id] {
			if prior := c.nodes[id]; prior != nil && !prior.live {
				queue = append(queue, prior)
			}
		}
	}
}

// checkCircle rejects cycles that lead to an ending node: the server would never finish.
func (c *checker) checkCircle(g graphOf, from []*checkedNode) {
	const open, done = 1, 2
	state := map[string]int{}
	var circle *checkedNode
	var walk func(id string)
	walk = func(id string) {
		state[id] = open
		for _, prior := range g.before[id] {
			switch {
			case circle != nil:
				return
			case state[prior] == open:
				circle = c.nodes[prior]
			case state[prior] == 0:
				walk(prior)
			}
		}
		state[id] = done
	}
	for _, n := range from {
		if state[n.id] == 0 && circle == nil {
			walk(n.id)
		}
	}
	if circle != nil {
		c.add(SeverityError, Logic, "circle", circle.at, circle.id,
			fmt.Sprintf("the connections of %s lead back to it", circle.id), "disconnect one edge of the circle")
	}
}

func (c *checker) checkIsolated(g graphOf) {
	for _, n := range c.order {
		if !isNote(n.name) && !n.live && len(g.next[n.id]) == 0 && g.incoming[n.id] == 0 {
			c.warn(n, Incomplete, "isolated", "", n.id+" is not connected and takes no part", "connect it, or remove it")
		}
	}
	for _, n := range c.order {
		if n.category == categoryAgentflow && !isNote(n.name) {
			c.add(SeverityError, Structure, "kind_mismatch", n.at, n.id,
				fmt.Sprintf("%s runs only in an AGENTFLOW, and the flow is a %s", n.id, c.kind), "store the flow as AGENTFLOW, or remove the node")
		}
	}
}

// checkAgentRun determines like the server where an AGENTFLOW starts: at the only node without
// incoming edges.
func (c *checker) checkAgentRun() {
	g := c.graph()
	var starts, all []*checkedNode
	for _, n := range c.order {
		if isNote(n.name) {
			continue
		}
		n.live = true
		all = append(all, n)
		if n.name == nodeStart {
			starts = append(starts, n)
		}
		c.checkAgentPlace(n, g)
	}
	if len(starts) == 0 {
		c.add(SeverityError, Incomplete, "start_missing", "/nodes", "",
			"the flow has no start node; the server says \"Start input type not found\"", "add startAgentflow and connect it to the first node")
	}
	for i, n := range starts {
		switch value, _ := n.Input("startInputType"); {
		case i > 0:
			c.at(n, Structure, "start_twice", "", "the flow has a start node already", "remove all but one")
		case falsy(value):
			c.at(n, Incomplete, CodeParamMissing, "/data/inputs/startInputType",
				"the start node does not say what it takes; the server says \"Start input type not found\"", "set startInputType to chatInput or formInput")
		case g.incoming[n.id] > 0:
			c.at(n, Logic, "start_incoming", "", "something leads to the start node", "disconnect it; use a loop node to go back")
		}
	}
	c.checkCircle(g, all)
}

// checkAgentPlace rejects nodes without incoming edges: the server would treat them as additional
// start nodes, and allows only one.
func (c *checker) checkAgentPlace(n *checkedNode, g graphOf) {
	inside := textAt(n.raw, "extent") == "parent"
	if n.name != nodeStart && g.incoming[n.id] == 0 && !inside {
		c.at(n, Incomplete, "isolated", "", fmt.Sprintf("nothing leads to %s; the server says \"Multiple starting nodes are not allowed\"", n.id),
			"connect a node to it, or remove it")
	}
	switch {
	case n.category == categorySequential || n.category == categoryMultiagent:
		c.at(n, Structure, "kind_old", "", fmt.Sprintf("%s is a %s, a node of the old Agentflow (V1), and does not run in an AGENTFLOW", n.id, n.name), succeeding(n.name))
	case n.category != categoryAgentflow:
		c.at(n, Structure, "kind_mismatch", "", fmt.Sprintf("%s does not run in an AGENTFLOW", n.id),
			"remove it and choose it in a parameter of an agent, LLM or tool node")
	}
	parent := n.Parent()
	if holder := c.nodes[parent]; parent != "" && (holder == nil || holder.name != nodeIteration) {
		c.at(n, Structure, "parent", "/parentNode", fmt.Sprintf("%s stands in %q, which is no iteration", n.id, parent), "add the iteration, or add the node outside of one")
	}
	for _, id := range g.next[n.id] {
		if next := c.nodes[id]; next != nil && next.Parent() != parent {
			c.at(n, Logic, "iteration_border", "", fmt.Sprintf("the edge from %s to %s crosses the border of an iteration", n.id, id), "connect the iteration itself")
		}
	}
}

// succeeding returns the AGENTFLOW node that replaces a node of the old sequential agents.
func succeeding(name string) string {
	now := map[string]string{
		"seqAgent": nodeAgent, "worker": nodeAgent, "supervisor": nodeScenario, "seqStart": nodeStart, "seqState": nodeStart, "seqLLMNode": nodeLLM,
		"seqToolNode": "toolAgentflow", "seqCondition": nodeCondition, "seqConditionAgent": nodeScenario, "seqCustomFunction": "customFunctionAgentflow",
		"seqExecuteFlow": "executeFlowAgentflow", "seqLoop": "loopAgentflow", "seqEnd": "directReplyAgentflow",
	}[name]
	if now == "" {
		return "build it anew with the nodes of an AGENTFLOW, or store the flow as MULTIAGENT"
	}
	return "put a " + now + " in its place, or store a flow of old nodes alone as MULTIAGENT"
}
