package execution

import (
	"fmt"
	"maps"
	"strconv"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/execution/runstate"
)

// withinBudgets reports whether a write may continue: no budget of its workflow is exceeded.
// Otherwise it asks a person, before the gate and before anything is sent.
func withinBudgets(t *activation) bool {
	frame := t.n.Spec.Frame
	for _, name := range runstate.OwnBudgets(t.run, frame) {
		b, err := runstate.BudgetOf(t.run, frame, name)
		switch {
		case b.Used == 0: // its limit may depend on steps that have not run
		case err != nil:
			t.fail(contracts.ErrBadExpression, "the limit of "+name+": "+err.Error(), contracts.EffectNone)
			return false
		case b.Over():
			ask(t, b)
			return false
		}
	}
	return true
}

// overBudget asks a person about a step for which a budget of the run has nothing left.
func overBudget(t *activation, name string) {
	b, err := runstate.BudgetOf(t.run, t.n.Spec.Frame, name)
	if err != nil {
		t.fail(contracts.ErrBadExpression, err.Error(), contracts.EffectNone)
		return
	}
	ask(t, b)
}

func ask(t *activation, b runstate.Budget) {
	used, limit := number(b.Used), number(b.Limit)
	prompt := fmt.Sprintf("%s: %s is used up, %s of %s. Go on?", contracts.CleanSummary(t.n.Spec.Title), b.Name, used, limit)
	if t.run.Run.Plan.Unattended {
		t.fail(contracts.ErrBudgetExceeded, prompt, contracts.EffectNone)
		return
	}
	t.abortWrite()
	t.row.Begin(t.now())
	t.ask(contracts.Interrupt{
		Type: contracts.InterruptBudgetExceeded, Prompt: prompt, Reason: "a budget of the run is used up", Roles: []string{"operator"},
		Requesters: requesters(t.run.Run.Plan.Owner, nil),
		Show:       map[string]any{"budget": b.Name, "used": b.Used, "limit": b.Limit, "step": t.n.ID()},
		Options: []contracts.InterruptOption{
			{
				ID: decision.Raise, Label: "Raise it to " + number(max(b.Used, b.Limit)*2), Detail: "takes the role operator",
				Value: map[string]any{decision.Raise: max(b.Used, b.Limit) * 2},
			},
			{ID: contracts.SayStop, Label: "Stop"},
		},
		ResponseSchema: map[string]any{
			"type": "object", "required": []any{decision.Raise}, "additionalProperties": false,
			"properties": map[string]any{decision.Raise: map[string]any{"type": "number", "exclusiveMinimum": b.Used - 1, "maximum": maxRaise}},
		},
	}, contracts.NodeAwaitingInput)
}

const maxRaise = 1e9

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// takeNewLimit handles the answer about a budget: a new limit, or stop.
func takeNewLimit(t *activation, last contracts.InterruptDecided) {
	gate := t.n.Gate
	if gate.Response == contracts.SayStop {
		t.row = nil
		t.stopRun("stopped by " + last.DecidedBy)
		return
	}
	answer, _ := gate.Response.(map[string]any)
	to, ok := runstate.Number(answer[decision.Raise])
	name, named := gate.Show["budget"].(string)
	if !ok || !named {
		t.fail(contracts.ErrBudgetExceeded, "the budget was not raised", contracts.EffectNone)
		return
	}
	key := name
	if name != contracts.BudgetToolCalls && name != contracts.BudgetTokens {
		key = runstate.StepID(t.n.Spec.Frame, name)
	}
	limits := map[string]float64{}
	maps.Copy(limits, t.row.Raised)
	limits[key] = to
	t.row.Raised, t.row.Step = limits, runstate.StepNone
	t.again()
}
