package planner

import (
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner/workflow"
)

// Running is the run that a plan is added to.
type Running struct {
	// Nodes are all nodes of the run: those of its plan and those that were added.
	Nodes []contracts.Node
}

// drafting compiles the steps of a draft to planned intents, and those to nodes.
type drafting struct {
	c *compiler
	// names maps steps to their nodes, including those of the run that the draft is added to.
	names map[string]string
}

// draftStep is a step of a draft during compilation.
type draftStep struct {
	contracts.Step

	say string
	// earlier are nodes of the run that the step depends on.
	earlier []string
}

// read returns a planned intent for every step. Faults of the draft and of the calls are listed
// together, with pointers into the draft.
func (d *drafting) read() ([]*plannedIntent, error) {
	c, draft := d.c, *d.c.req.Draft
	earlier, nodes := earlierCalls(c.req.Running)
	steps, faults := workflow.ReadDraft(draft, c.req.Catalog, earlier)
	c.faults = append(c.faults, faults...)
	d.names = nodes
	var asks []*plannedIntent
	for i, s := range steps {
		entry, ok := c.req.Catalog.Capability(s.Tool)
		if !ok {
			continue // already reported
		}
		a, err := d.ask(i, s, entry)
		if err != nil {
			return nil, err
		}
		a.step.say, a.intent.Utterance = contracts.CleanSummary(draft.Steps[i].Say), draft.Steps[i].Said
		if err := c.prepareAsk(a); err != nil {
			return nil, placed(err, a.pointer)
		}
		d.repeat(a)
		asks = append(asks, a)
	}
	if len(c.faults) > 0 {
		return nil, contracts.Invalid("the draft cannot be planned", c.faults...)
	}
	d.link(asks)
	return c.order(asks)
}

func (d *drafting) ask(i int, s contracts.Step, entry *contracts.CapabilityEntry) (*plannedIntent, error) {
	if err := d.c.permit(entry); err != nil {
		return nil, err
	}
	return &plannedIntent{
		intent: contracts.Intent{
			ID: s.ID, Domain: entry.Domain, Capability: entry.Capability.Name, Parameters: s.Params, Source: "llm",
		},
		pointer: fmt.Sprintf("/steps/%d", i), target: d.c.capability(entry), step: &draftStep{Step: s},
	}, nil
}

// placed converts an unsupported or invalid error to a fault of a step, so that the author of the
// draft can repair it.
func placed(err error, pointer string) error {
	if code := contracts.CodeOf(err); code == contracts.CodeUnsupported || code == contracts.CodeInvalid {
		return contracts.Invalid("the draft cannot be planned", fault(pointer, "%s", err))
	}
	return err
}

// repeat makes the calls of a step repeat for each item of its list.
func (d *drafting) repeat(a *plannedIntent) {
	if a.step.ForEach == nil {
		return
	}
	for i := range a.call.members {
		m := &a.call.members[i]
		if m.each != nil {
			d.c.fault(a.pointer+"/for_each", "%s is repeated over another list already; one is possible", a.target.Ref())
			return
		}
		m.each = &contracts.ForEach{Items: a.step.ForEach.Items, MaxConcurrency: a.call.limit}
	}
}

// link resolves the ids in depends_on to steps, or to nodes of the run.
func (d *drafting) link(asks []*plannedIntent) {
	for _, a := range asks {
		for _, id := range a.step.DependsOn {
			at := slices.IndexFunc(asks, func(b *plannedIntent) bool { return b.intent.ID == id })
			switch {
			case at >= 0:
				a.after = append(a.after, asks[at])
			case !slices.Contains(a.step.earlier, d.names[id]):
				a.step.earlier = append(a.step.earlier, d.names[id])
			}
		}
	}
}

// build adds the nodes of a step. The nodes of the steps that it reads exist already.
func (d *drafting) build(a *plannedIntent) error {
	c := d.c
	first := len(c.graph.nodes)
	a.call.deps, a.call.after = a.stepEdges()
	a.call.when = d.condition(a.step.When)
	a.call.given = d.renamed(a.call.given)
	for i := range a.call.members {
		m := &a.call.members[i]
		m.params = d.renamed(m.params)
		if m.each != nil {
			m.each.Items = workflow.Renamed(m.each.Items, d.names)
		}
	}
	if err := d.call(a); err != nil {
		return placed(err, a.pointer)
	}
	d.names[a.intent.ID] = a.built.anchor
	for i := range c.graph.nodes[first:] {
		n := &c.graph.nodes[first+i]
		n.Merge = contracts.MergeNoneFailed
		if n.NodeID == a.built.anchor || slices.Contains(a.built.calls, n.NodeID) && n.Frame == "" {
			n.Rationale = a.step.say
		}
	}
	return nil
}

func (d *drafting) call(a *plannedIntent) error {
	c := d.c
	if a.target.Workflow != nil {
		return procedure{c, a}.build()
	}
	built, err := c.expand(a.call)
	if err != nil {
		return err
	}
	a.built = built
	return c.compose(a.call, built)
}

// stepEdges returns the nodes that a step depends on, and those that it only follows: an earlier
// write whose effect this read may see.
func (a *plannedIntent) stepEdges() (needs, after []string) {
	needs = slices.Clone(a.step.earlier)
	for _, b := range a.before {
		switch {
		case slices.Contains(a.after, b):
			needs = append(needs, b.ends()...)
		case !a.writes() && b.writes() && a.mayObserve(b):
			after = append(after, b.ends()...)
		}
	}
	return needs, after
}

// outer returns the node that a procedure replaces if it is a step of a draft.
func (a *plannedIntent) outer(id string) *contracts.Node {
	return &contracts.Node{
		NodeID: id, Title: a.target.title(), DependsOn: a.call.deps, RunAfter: a.call.after, When: a.call.when, Required: true,
		Merge: contracts.MergeNoneFailed,
	}
}

func (d *drafting) renamed(params map[string]any) map[string]any {
	out, _ := renamedValue(params, d.names).(map[string]any)
	return out
}

func renamedValue(v any, names map[string]string) any {
	switch v := v.(type) {
	case string:
		return workflow.Renamed(v, names)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = renamedValue(item, names)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = renamedValue(member, names)
		}
		return out
	default:
		return v
	}
}

func (d *drafting) condition(when *contracts.Condition) *contracts.Condition {
	if when == nil {
		return nil
	}
	return &contracts.Condition{Expr: workflow.Renamed(when.Expr, d.names)}
}

// earlierCalls returns what a draft may read of the run that it is added to, by node id and by the
// id of the step that the node was made from, and the nodes.
func earlierCalls(run *Running) (calls []workflow.Earlier, nodes map[string]string) {
	nodes = map[string]string{}
	if run == nil {
		return nil, nodes
	}
	for _, n := range run.Nodes {
		if n.Item != nil || n.Round != nil || n.Frame != "" && n.Kind != contracts.KindResult || n.Role == contracts.RolePreChoose || n.Kind == contracts.KindReplan {
			continue
		}
		e := workflow.Earlier{Name: n.NodeID, Tool: n.Tool, Several: n.Kind == contracts.KindJoin || n.ForEach != nil}
		if n.Kind == contracts.KindHuman {
			e.Tool = ""
		}
		calls, nodes[e.Name] = append(calls, e), n.NodeID
		if own := n.Role == "" || n.Role == contracts.RoleJoin; own && n.IntentID != "" { // the join comes after its members
			e.Name = n.IntentID
			calls = slices.DeleteFunc(calls, func(o workflow.Earlier) bool { return o.Name == e.Name })
			calls, nodes[e.Name] = append(calls, e), n.NodeID
		}
	}
	return calls, nodes
}

// roundNode returns a replan node that runs after all nodes of the plan.
func roundNode(id string, number int, nodes []contracts.Node) contracts.Node {
	return contracts.Node{
		NodeID: id, Kind: contracts.KindReplan, Title: "What comes next", ReplanNumber: number, RunAfter: ends(nodes),
		Importance: contracts.ImportanceQuiet,
	}
}

// ends returns the nodes that no other node waits for.
func ends(nodes []contracts.Node) []string {
	waited := map[string]bool{}
	for _, n := range nodes {
		for _, dep := range slices.Concat(n.DependsOn, n.RunAfter) {
			waited[dep] = true
		}
	}
	var out []string
	for _, n := range nodes {
		if !waited[n.NodeID] {
			out = append(out, n.NodeID)
		}
	}
	return out
}
