package planner

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner/workflow"
)

// call is one use of a capability to be added to the plan: by an intent, or as a follow-up.
type call struct {
	preparedParams

	target *capability
	intent string
	role   string
	said   *contracts.Utterance // the sentence that the call was read from
	// of is the node that a follow-up follows.
	of       string
	required bool
	// deps are the dependencies of every first node of the call; after are only predecessors in
	// order.
	deps, after []string
	when        *contracts.Condition
	// chain are the capabilities that led here, for follow-ups of follow-ups.
	chain []string
}

// placedCall is a call whose nodes are in the plan.
type placedCall struct {
	// calls are the nodes that make the calls; ends are the last nodes of each.
	calls, ends []string
	// anchor is the node with the result of the call: the join, or the only node.
	anchor string
	// params is the meaning of "params" for later calls.
	params map[string]any
}

// expand adds the nodes of a call: searches, calls, posts and their join.
func (c *compiler) expand(cl *call) (placedCall, error) {
	var out placedCall
	group, limit := "", 0
	if cl.split {
		c.graph.groups++
		group, limit = "g"+strconv.Itoa(c.graph.groups), cl.limit
	}
	meets := c.endsInSharedJoin(cl)
	fanned := cl.fansOut()
	for i := range cl.members {
		m := &cl.members[i]
		node, err := c.tool(cl.target, m.params)
		if err != nil {
			return out, err
		}
		node.Group, node.GroupLimit = group, limit
		node.JoinKey = cl.target.Capability.Metadata.JoinKey
		if fanned && node.JoinKey == "" {
			node.JoinKey = group
		}
		node.Required = cl.required && (!fanned || node.Policy.SideEffectClass.Writes())
		if err := c.member(cl, m, node, &out); err != nil {
			return out, err
		}
	}
	out.anchor = out.calls[0]
	if first := cl.members[0]; !fanned && first.each == nil {
		out.params = first.scope(cl.given)
		return out, nil
	}
	out.params = cl.together()
	if !fanned || meets {
		return out, nil
	}
	return out, c.join(cl, &out)
}

// fansOut reports whether there are several calls, so that a join is needed. A for_each node is the
// join of its own copies.
func (cl *call) fansOut() bool { return len(cl.members) > 1 }

// together returns the params scope after several members: the given parameters, with whole lists
// also under the single parameter.
func (cl *call) together() map[string]any {
	scope := maps.Clone(cl.given)
	for _, rule := range cl.target.arrayRules() {
		if items, ok := cl.given[rule.ParamName]; ok {
			scope[rule.SingleParamName] = items
		}
	}
	return scope
}

// scope returns the params scope after one member: the given parameters, as resolved.
func (m *member) scope(given map[string]any) map[string]any {
	scope := maps.Clone(given)
	maps.Copy(scope, m.params)
	return scope
}

// member adds one call, with the searches before it and the posts after it.
func (c *compiler) member(cl *call, m *member, node contracts.Node, out *placedCall) error {
	branch, first := c.graph.nextID(), len(c.graph.nodes)
	if len(m.pre) == 0 {
		node.DependsOn, node.RunAfter = slices.Clone(cl.deps), slices.Clone(cl.after)
	}
	var looks []string
	for _, step := range m.pre {
		choose, err := c.search(cl, m, step, branch, node.Required)
		if err != nil {
			return err
		}
		if step.IsLookup() {
			looks = append(looks, c.graph.node(choose).DependsOn[0], choose)
		}
		answer := "${steps." + choose + ".facts.value}"
		m.params[step.Param] = answer
		if !cl.target.plansOnly(step.Param) {
			node.Params[step.Param] = answer
		}
		node.DependsOn = append(node.DependsOn, choose)
	}
	for _, step := range cl.target.preSteps() { // looked up or given, such as the undo of a write
		if _, ok := node.Params[step.Param]; ok && step.Binds() {
			node.Binds = append(node.Binds, step.Param)
		}
	}
	node.BranchID, node.IntentID, node.Role, node.ForNode = branch, cl.intent, cl.role, cl.of
	node.When, node.ForEach, node.Utterance = cl.when, m.each, cl.said.At(node.Params, cl.given)
	if m.label != "" && cl.fansOut() {
		node.Title = cut(node.Title+" ("+m.label+")", 120)
	}
	node.On = workflow.StaleLookupRules(cl.target.Capability.Metadata.Flow, looks, c.graph.nextID())
	id, err := c.graph.add(node)
	if err != nil {
		return err
	}
	for i := first; i < len(c.graph.nodes)-1; i++ {
		c.graph.nodes[i].ForNode = id
	}
	out.calls, out.ends = append(out.calls, id), append(out.ends, id)
	return c.posts(cl, m, id, branch, out)
}

// join adds the join of the members of one call.
func (c *compiler) join(cl *call, out *placedCall) error {
	first := c.graph.node(out.calls[0])
	id, err := c.graph.add(contracts.Node{
		Kind: contracts.KindJoin, Role: contracts.RoleJoin, Title: "All of: " + cl.target.title(),
		DependsOn: out.ends, When: cl.when, JoinKey: first.JoinKey, Phase: first.Phase,
		Required: cl.required, IntentID: cl.intent, BranchID: c.graph.nextID(),
	})
	out.anchor = id
	return err
}

// tool returns the node of a call of a capability, with its policy.
func (c *compiler) tool(target *capability, params map[string]any) (contracts.Node, error) {
	if err := c.permit(target.CapabilityEntry); err != nil {
		return contracts.Node{}, err
	}
	instance := c.pins.instance(target.Domain)
	policy := target.Policy
	policy.Approval.Roles = slices.Clone(policy.Approval.Roles)
	node := contracts.Node{
		Kind: contracts.KindTool, Title: target.title(), Tool: target.Ref(), Params: target.sent(params),
		Phase: c.phase(target.CapabilityEntry), Policy: &policy, Instance: instance,
	}
	node.Locks = locks(target, instance)
	return node, nil
}

// derived validates the parameters of a call that a manifest specifies. Faults are errors of the
// manifest, not of a person.
func derived(target *capability, params map[string]any, what string) error {
	target.dropNulls(params)
	target.applyDefaults(params)
	faults := target.unknown(params)
	for _, name := range target.missing(params) {
		faults = append(faults, fault(pointerOf(name), "is required"))
	}
	known := literals(params)
	broken, err := target.checkKnown(known, len(faults) == 0 && len(known) == len(params))
	if err != nil {
		return err
	}
	if faults = append(faults, broken...); len(faults) > 0 {
		return contracts.Invalid(fmt.Sprintf("%s does not give %s what it needs", what, target.Ref()), faults...)
	}
	return nil
}
