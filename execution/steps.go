package execution

import (
	"fmt"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/execution/runstate"
	"github.com/manifold-run/manifold/internal/expr"
)

// evaluate resolves the expressions in a value, in the scope of the node before it has begun.
func evaluate(t *activation, v any) (any, []expr.Read, error) {
	return evaluateAs(t, t.reader(), v)
}

// reader returns the scope of the node before it has ended.
func (t *activation) reader() runstate.Reader {
	return runstate.Reader{Node: t.n.Node, Frame: t.n.Spec.Frame}
}

// afterwards returns the scope of the node after it has ended as its row says. Its rules and its
// spending are evaluated in it.
func (t *activation) afterwards() *runstate.Reader {
	return &runstate.Reader{Node: t.n.Node, Frame: runstate.OuterFrame(t.run, t.n.Node), After: t.row}
}

func evaluateAs(t *activation, r runstate.Reader, v any) (any, []expr.Read, error) {
	refs, err := expr.Refs(v)
	if err != nil {
		return nil, nil, err
	}
	if len(refs) == 0 { // reads nothing of the run
		return expr.Resolve(v, nil)
	}
	scope, err := t.run.ScopeOf(r, refs)
	if err != nil {
		return nil, nil, err
	}
	return expr.Resolve(v, scope)
}

// holds reports whether a condition holds, in the scope of the node before it has begun or of the
// given reader.
func holds(t *activation, c contracts.Condition, as *runstate.Reader) (bool, []expr.Read, error) {
	refs, err := expr.RefsOf(c)
	if err != nil {
		return false, nil, err
	}
	if as == nil {
		before := t.reader()
		as = &before
	}
	scope, err := t.run.ScopeOf(*as, refs)
	if err != nil {
		return false, nil, err
	}
	return expr.Holds(c, scope)
}

// members evaluates an object; members that are null are omitted.
func members(t *activation, r runstate.Reader, v map[string]any) (map[string]any, error) {
	value, _, err := evaluateAs(t, r, asAny(v))
	if err != nil {
		return nil, err
	}
	out, _ := value.(map[string]any)
	withoutNulls(out)
	return out, nil
}

func withoutNulls(m map[string]any) {
	for name, v := range m {
		if v == nil {
			delete(m, name)
		}
	}
}

// expressionFault returns the error type for an expression that cannot be evaluated.
func expressionFault(n *node) string {
	if n.InWorkflow() {
		return contracts.ErrBadExpression
	}
	return contracts.ErrInvalidParameters
}

// expansionByRules records what a step that has just ended has spent, and returns the round of the
// first of its rules that holds. The round is part of the event of the outcome, so that no
// dependent node can start in between.
func (t *activation) expansionByRules() *runstate.Expansion {
	spec := &t.n.Spec
	goesOn := t.row.State == contracts.NodeCompleted || t.row.State == contracts.NodeFailed && spec.ContinueOnError
	if len(spec.On) == 0 && !t.n.InWorkflow() || !goesOn && t.row.State != contracts.NodeFailed {
		return nil
	}
	if err := t.spend(); err != nil {
		t.failExpressions("spend: ", err)
		return nil
	}
	if t.run.Cancelling() {
		return nil
	}
	rule, with, err := t.firstMatchingRule(goesOn)
	if err != nil {
		t.failExpressions("on: ", err)
		return nil
	}
	if rule < 0 {
		return nil
	}
	nodes := runstate.Region(t.run, t.n.Node, rule, with)
	if limit := nodeLimit(t.run); t.run.Len()+len(nodes) > limit {
		t.row.State = contracts.NodeFailed
		t.row.Error = &contracts.ToolError{
			Type: contracts.ErrBudget, Effect: contracts.EffectNone,
			Message: fmt.Sprintf("to go back to %s would make more than %d nodes", spec.On[rule].Goto, limit),
		}
		return nil
	}
	return &runstate.Expansion{Nodes: nodes, Cause: causeOf(spec.On[rule]), Round: &contracts.Round{
		N: runstate.Taken(t.run, t.n.Node, rule) + 1, By: t.n.Step(), With: with, Rule: rule,
	}}
}

// failExpressions fails a step whose rules or budgets cannot be evaluated. A write that took effect
// stays completed, with a failed check.
func (t *activation) failExpressions(where string, err error) {
	message := contracts.CleanSummary(where + err.Error())
	if t.n.Writes() && t.row.State == contracts.NodeCompleted {
		t.row.Checks = append(t.row.Checks, contracts.Check{Name: contracts.ErrBadExpression, Detail: message})
		return
	}
	t.row.State = contracts.NodeFailed
	t.row.Error = &contracts.ToolError{Type: contracts.ErrBadExpression, Message: message, Effect: contracts.EffectNone}
}

func (t *activation) spend() error {
	spec := &t.n.Spec
	for name, text := range spec.Spend {
		if t.row.State != contracts.NodeCompleted {
			break // only completed steps spend
		}
		value, _, err := evaluateAs(t, *t.afterwards(), text)
		if err != nil {
			return err
		}
		used, ok := runstate.Number(value)
		if !ok || used < 0 {
			return contracts.Errorf(contracts.CodeInvalid, "%s gives no number of 0 or more", text)
		}
		if t.row.Spent == nil {
			t.row.Spent = map[string]float64{}
		}
		t.row.Spent[runstate.StepID(runstate.OuterFrame(t.run, t.n.Node), name)] = used
	}
	return nil
}

// firstMatchingRule returns the index of the first rule that holds and is not used up, -1 if there
// is none, and the parameters of the new round. After a failure that the workflow does not continue
// from, only rules about errors apply.
func (t *activation) firstMatchingRule(goesOn bool) (rule int, with map[string]any, err error) {
	after := t.afterwards()
	for i, r := range t.n.Spec.On {
		if r.Error == "" && !goesOn {
			continue
		}
		taken := r.Error != "" && failedWith(t.row, r.Error) || r.Answer != "" && t.row.Result != nil && t.row.Result.Facts[decision.FactDecision] == r.Answer
		if r.When != nil {
			if taken, _, err = holds(t, *r.When, after); err != nil {
				return -1, nil, err
			}
		}
		if taken && runstate.Taken(t.run, t.n.Node, i) < r.Max {
			with, err = members(t, *after, r.With)
			return i, with, err
		}
	}
	return -1, nil, nil
}

// failedWith reports whether a step failed with an error of the type and had no effect.
func failedWith(row *runstate.Row, kind string) bool {
	e := row.Error
	return row.State == contracts.NodeFailed && e != nil && e.Type == kind && e.Effect == contracts.EffectNone
}

func causeOf(r contracts.Rule) string {
	if r.Error != "" {
		return "error " + r.Error
	}
	if r.Answer != "" {
		return "answer " + r.Answer
	}
	if r.When.Expr != "" {
		return "when " + r.When.Expr
	}
	return "when " + r.When.Path
}

// nodeLimit returns how many nodes the run may have.
func nodeLimit(run *runstate.State) int {
	limit := run.Run.Plan.Budgets.MaxNodes
	if limit <= 0 || limit > contracts.MaxNodes {
		return contracts.MaxNodes
	}
	return limit
}
