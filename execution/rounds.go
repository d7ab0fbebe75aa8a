package execution

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
)

// comesNext are the nodes that an answer adds to the run, with a line of what it was.
// Each is marked with what had been read before it was proposed.
func comesNext(t *activation, next RoundReply) (nodes []contracts.Node, summary string, err error) {
	a := addition{t: t, read: labels(t, next.Read)}
	switch {
	case next.Question != nil:
		a.ask(*next.Question)
		a.goOn()
		summary = "there is a question"
	case next.Plan != nil && len(next.Plan.Nodes) > 0:
		if err = a.take(*next.Plan, next.Held); err != nil {
			return nil, "", err
		}
		if next.Plan.More {
			a.goOn()
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

// addition collects the nodes of one round.
type addition struct {
	t     *activation
	read  []string
	nodes []contracts.Node
}

func (a *addition) add(n contracts.Node) {
	n.AddedBy, n.AfterReading = a.t.n.ID(), a.read
	a.nodes = append(a.nodes, n)
}

// goOn has the next round come after all that this one adds, if there may be one.
func (a *addition) goOn() {
	number := a.t.n.Spec.RoundNumber + 1
	if number > MaxRounds {
		return
	}
	a.add(contracts.Node{
		NodeID: fmt.Sprintf("round%d", number), Kind: contracts.KindRound, Title: a.t.n.Spec.Title, RoundNumber: number,
		After: a.ends(), Importance: contracts.ImportanceQuiet,
	})
}

func (a *addition) ends() []string {
	var out []string
	for _, n := range a.nodes {
		waited := slices.ContainsFunc(a.nodes, func(o contracts.Node) bool {
			return slices.Contains(o.DependsOn, n.NodeID) || slices.Contains(o.After, n.NodeID)
		})
		if !waited {
			out = append(out, n.NodeID)
		}
	}
	return out
}

// ask puts a question to whoever asked.
func (a *addition) ask(q RoundQuestion) {
	human := &contracts.HumanStep{Interrupt: contracts.InterruptClarification, Prompt: contracts.CleanSummary(q.Prompt)}
	human.ResponseSchema = map[string]any{"type": "string", "minLength": 1}
	if len(q.Options) > 0 {
		options := make([]any, len(q.Options))
		for i, o := range q.Options {
			options[i] = o
		}
		human.ResponseSchema = map[string]any{"enum": options}
	}
	a.add(contracts.Node{NodeID: fmt.Sprintf("question%d", a.t.n.Spec.RoundNumber), Kind: contracts.KindHuman, Title: "Question", Human: human})
}

// take takes the nodes of a plan, as far as a run can have them added.
func (a *addition) take(plan contracts.Plan, held map[string]string) error {
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
func (a *addition) fits(n contracts.Node) error {
	switch {
	case n.Frame != "" || !slices.Contains([]contracts.NodeKind{contracts.KindTool, contracts.KindHuman, contracts.KindJoin}, n.Kind):
		return contracts.Errorf(contracts.CodeUnsupported, "a procedure of several steps cannot begin in a later round")
	case n.NodeID == "" || a.known(n.NodeID):
		return contracts.Errorf(contracts.CodeInvalid, "the id %q of a node is taken", n.NodeID)
	case n.Kind == contracts.KindTool && n.Policy == nil:
		return contracts.Errorf(contracts.CodeInvalid, "the node %q has no policy", n.NodeID)
	}
	for _, dep := range slices.Concat(n.DependsOn, n.After) {
		if !a.known(dep) {
			return contracts.Errorf(contracts.CodeInvalid, "the node %q waits for %q, which is not there", n.NodeID, dep)
		}
	}
	return nil
}

func (a *addition) known(id string) bool {
	return a.t.run.Node(id) != nil || slices.ContainsFunc(a.nodes, func(n contracts.Node) bool { return n.NodeID == id })
}

// confirmed has whoever asked confirm a write that is held back, and a read that would
// send a third party something that they did not say.
func (a *addition) confirmed(n contracts.Node, held string) contracts.Node {
	if n.Kind != contracts.KindTool {
		return n
	}
	prompt, shown := held, n.Params
	if !n.Policy.SideEffectClass.Writes() {
		if prompt, shown = "", a.carriedOut(n); len(shown) > 0 {
			prompt = "You have not said this; may it be sent? " + gateview.AsksFor(n.Tool)
		}
	}
	if prompt == "" {
		return n
	}
	confirm := contracts.Node{
		NodeID: n.NodeID + "_ok", Kind: contracts.KindHuman, Title: "Confirm: " + n.Title, IntentID: n.IntentID,
		DependsOn: n.DependsOn, After: n.After, When: n.When, Merge: n.Merge, Role: contracts.RolePreChoose, Of: n.NodeID, Phase: n.Phase,
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

// carriedOut is what a read would send to a third party and the requester has not said.
func (a *addition) carriedOut(n contracts.Node) map[string]any {
	entry, ok := a.t.outside().catalog().Capability(n.Tool)
	if !ok || !entry.Capability.Metadata.OpenWorld {
		return nil
	}
	return unsaid(n)
}

// The answers to what is to be confirmed.
const (
	sayYes = "yes"
	sayNo  = "no"
)

// saidSources are the sources of a value that whoever asked has said, or that is the
// capability's own.
var saidSources = []contracts.Provenance{contracts.FromSaid, contracts.FromCarried, contracts.FromAnswer, contracts.FromDefault}

// unsaid are the parameters of a call that whoever asked has not said. What it is
// repeated over stands for its items.
func unsaid(n contracts.Node) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(n.Params)) {
		var from contracts.Provenance
		if n.Said != nil {
			from = n.Said.Values[name]
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
