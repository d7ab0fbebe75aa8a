package planner

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner/workflow"
)

// call is one use of a capability on its way into the plan: what an intent
// asked for, or a follow-up.
type call struct {
	preparedParams

	target *capability
	intent string
	role   string
	said   *contracts.Utterance // what the call was read from
	// of is the node that a follow-up comes after.
	of       string
	required bool
	// deps are what every first node of the call needs, after what it only comes
	// after.
	deps, after []string
	when        *contracts.Condition
	// chain are the capabilities that led here, for follow-ups of follow-ups.
	chain []string
}

// placedCall is a call with its nodes in the plan.
type placedCall struct {
	// calls are the nodes that do the work, ends also what follows each of them.
	calls, ends []string
	// anchor is the node whose result is the call's: the join, or the one node.
	anchor string
	// params is what "params" means to those who come after.
	params map[string]any
}

// expand makes the nodes of a call: searches, calls, posts and their join.
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

// fansOut reports whether the call is more than one, so that a join is due. A
// for_each node is the join of its own copies.
func (cl *call) fansOut() bool { return len(cl.members) > 1 }

// together is the scope after several members: what was asked for, lists
// whole; the single parameter stands for the list.
func (cl *call) together() map[string]any {
	scope := maps.Clone(cl.given)
	for _, rule := range cl.target.arrayRules() {
		if items, ok := cl.given[rule.ParamName]; ok {
			scope[rule.SingleParamName] = items
		}
	}
	return scope
}

// scope is the scope after one member: what was asked for, as it was resolved.
func (m *member) scope(given map[string]any) map[string]any {
	scope := maps.Clone(given)
	maps.Copy(scope, m.params)
	return scope
}

// member adds one call with the searches before and the posts after it.
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
	for _, step := range cl.target.preSteps() { // looked up or given, as what undoes a write is
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

// join adds the node at which the members of one call meet.
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

// tool makes the node of one call of a capability, with its policy.
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

// derived checks the parameters of a call that a manifest makes, not a person:
// what is wrong with them is the manifest's fault.
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
