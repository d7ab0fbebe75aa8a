package execution

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
)

// nodesOfReplan returns the nodes that a reply adds to the run, and a summary of it. Each node is
// marked with what was read before it was proposed.
func nodesOfReplan(t *activation, next ReplanReply) (nodes []contracts.Node, summary string, err error) {
	a := replanNodes{t: t, read: labels(t, next.Read)}
	switch {
	case next.Question != nil:
		a.ask(*next.Question)
		a.addNextReplan()
		summary = "there is a question"
	case next.Plan != nil && len(next.Plan.Nodes) > 0:
		if err = a.take(*next.Plan, next.Held); err != nil {
			return nil, "", err
		}
		if next.Plan.More {
			a.addNextReplan()
		}
		summary = fmt.Sprintf("%d more steps", len(next.Plan.Nodes))
	default:
		summary = "nothing more is needed"
	}
	if limit := nodeLimit(t.run); t.run.Len()+len(a.nodes) > limit {
		return nil, "", contracts.Errorf(contracts.CodeBudgetExceeded, "the run would have more than %d nodes", limit)
	}
	return a.nodes, summary, nil
}

// replanNodes collects the nodes of one replan.
type replanNodes struct {
	t     *activation
	read  []string
	nodes []contracts.Node
}

func (a *replanNodes) add(n contracts.Node) {
	n.AddedBy, n.AfterReading = a.t.n.ID(), a.read
	a.nodes = append(a.nodes, n)
}

// addNextReplan adds a replan node after all nodes of this one, if another is allowed.
func (a *replanNodes) addNextReplan() {
	number := a.t.n.Spec.ReplanNumber + 1
	if number > MaxReplans {
		return
	}
	a.add(contracts.Node{
		NodeID: fmt.Sprintf("round%d", number), Kind: contracts.KindReplan, Title: a.t.n.Spec.Title, ReplanNumber: number,
		RunAfter: a.ends(), Importance: contracts.ImportanceQuiet,
	})
}

func (a *replanNodes) ends() []string {
	var out []string
	for _, n := range a.nodes {
		waited := slices.ContainsFunc(a.nodes, func(o contracts.Node) bool {
			return slices.Contains(o.DependsOn, n.NodeID) || slices.Contains(o.RunAfter, n.NodeID)
		})
		if !waited {
			out = append(out, n.NodeID)
		}
	}
	return out
}

// ask adds a question to the requester.
func (a *replanNodes) ask(q ReplanQuestion) {
	human := &contracts.HumanStep{Interrupt: contracts.InterruptClarification, Prompt: contracts.CleanSummary(q.Prompt)}
	human.ResponseSchema = map[string]any{"type": "string", "minLength": 1}
	if len(q.Options) > 0 {
		options := make([]any, len(q.Options))
		for i, o := range q.Options {
			options[i] = o
		}
		human.ResponseSchema = map[string]any{"enum": options}
	}
	a.add(contracts.Node{NodeID: fmt.Sprintf("question%d", a.t.n.Spec.ReplanNumber), Kind: contracts.KindHuman, Title: "Question", Human: human})
}

// take adds the nodes of a plan, if they can be added to a run.
func (a *replanNodes) take(plan contracts.Plan, held map[string]string) error {
	for _, n := range plan.Nodes {
		if err := a.fits(n); err != nil {
			return err
		}
		n.Digest = plan.CapabilityDigests[n.Tool]
		if n.Policy != nil && n.Policy.SideEffectClass.Writes() {
			policy := *n.Policy
			policy.ApprovalRequired, policy.Reason = true, cmp.Or(policy.Reason, "proposed after reading")
			n.Policy = &policy
		}
		a.add(a.confirmed(n, held[n.IntentID]))
	}
	return nil
}

// fits refuses a node that would break the run's graph.
func (a *replanNodes) fits(n contracts.Node) error {
	switch {
	case n.Frame != "" || !slices.Contains([]contracts.NodeKind{contracts.KindTool, contracts.KindHuman, contracts.KindJoin}, n.Kind):
		return contracts.Errorf(contracts.CodeUnsupported, "a procedure of several steps cannot begin in a later round")
	case n.NodeID == "" || a.known(n.NodeID):
		return contracts.Errorf(contracts.CodeInvalid, "the id %q of a node is taken", n.NodeID)
	case n.Kind == contracts.KindTool && n.Policy == nil:
		return contracts.Errorf(contracts.CodeInvalid, "the node %q has no policy", n.NodeID)
	}
	for _, dep := range slices.Concat(n.DependsOn, n.RunAfter) {
		if !a.known(dep) {
			return contracts.Errorf(contracts.CodeInvalid, "the node %q waits for %q, which is not there", n.NodeID, dep)
		}
	}
	return nil
}

func (a *replanNodes) known(id string) bool {
	return a.t.run.Node(id) != nil || slices.ContainsFunc(a.nodes, func(n contracts.Node) bool { return n.NodeID == id })
}

// confirmed adds a confirmation by the requester before a write that is held, and before a read
// that would send a third party what they did not state.
func (a *replanNodes) confirmed(n contracts.Node, held string) contracts.Node {
	if n.Kind != contracts.KindTool {
		return n
	}
	prompt, shown := held, n.Params
	if !n.Policy.SideEffectClass.Writes() {
		if prompt, shown = "", a.disclosedParams(n); len(shown) > 0 {
			prompt = "You have not said this; may it be sent? " + gateview.AsksFor(n.Tool)
		}
	}
	if prompt == "" {
		return n
	}
	confirm := contracts.Node{
		NodeID: n.NodeID + "_ok", Kind: contracts.KindHuman, Title: "Confirm: " + n.Title, IntentID: n.IntentID,
		DependsOn: n.DependsOn, RunAfter: n.RunAfter, When: n.When, Merge: n.Merge, Role: contracts.RolePreChoose, ForNode: n.NodeID, Phase: n.Phase,
		Human: &contracts.HumanStep{
			Interrupt: contracts.InterruptClarification, Prompt: contracts.CleanSummary(prompt),
			Show: shown, ResponseSchema: map[string]any{"enum": []any{sayYes, sayNo}},
		},
	}
	a.add(confirm)
	n.DependsOn = append(slices.Clone(n.DependsOn), confirm.NodeID)
	n.When = &contracts.Condition{Expr: "${steps." + confirm.NodeID + ".facts.value == '" + sayYes + "'}"}
	return n
}

// disclosedParams returns what a read would send to a third party and the requester has not stated.
func (a *replanNodes) disclosedParams(n contracts.Node) map[string]any {
	entry, ok := a.t.env().catalog().Capability(n.Tool)
	if !ok || !entry.Capability.Metadata.OpenWorld {
		return nil
	}
	return unstatedParams(n)
}

// The answers to a confirmation.
const (
	sayYes = "yes"
	sayNo  = "no"
)

// saidSources are the sources of a value that the requester has stated, or that is the capability's
// default.
var saidSources = []contracts.Provenance{contracts.FromUtterance, contracts.FromCarried, contracts.FromAnswer, contracts.FromDefault}

// unstatedParams returns the parameters of a call that the requester has not stated. For a for_each
// it returns the list of items.
func unstatedParams(n contracts.Node) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(n.Params)) {
		var from contracts.Provenance
		if n.Utterance != nil {
			from = n.Utterance.Values[name]
		}
		if !slices.Contains(saidSources, from) {
			out[name] = n.Params[name]
		}
	}
	if n.ForEach != nil && len(out) > 0 {
		return map[string]any{"for each of": n.ForEach.Items}
	}
	return out
}

// proposedAfterReading reports whether a model proposed the node after it had read something.
func proposedAfterReading(t *activation) bool { return len(t.n.Spec.AfterReading) > 0 }
