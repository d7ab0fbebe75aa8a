package execution

import (
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/expr"
)

// maxOptions bounds what a person is offered to choose from.
const maxOptions = 25

// ask resolves a human node: what can be taken without asking is taken, else
// the question is put and the node waits for its answer.
func (l *loop) ask(n *node) {
	step := n.v.spec.Human
	if step == nil {
		l.fail(n, contracts.ErrInternal, "the plan does not say what to ask", contracts.EffectNone)
		return
	}
	options, near, err := l.options(n, step)
	if err != nil {
		l.fail(n, contracts.ErrUpstream, err.Error(), contracts.EffectNone)
		return
	}
	if sure := !near || !choosesForWrite(l.nodes, n); sure && step.OptionsFrom != "" && l.chosen(n, step, options) {
		return
	}
	i := contracts.Interrupt{
		Type: step.Interrupt, Prompt: step.Prompt, Options: options, ResponseSchema: step.ResponseSchema,
		Reason: "a parameter is needed", Requesters: requesters(l.stored.Plan.Owner, nil),
	}
	if step.OptionsFrom != "" && len(options) == 0 {
		l.nothingFound(n, &i)
	}
	l.openInterrupt(n, i, contracts.NodeAwaitingInput)
}

// choosesForWrite tells whether a write takes what is chosen here. A name that
// no search has found exactly is then a question, and never the nearest one.
func choosesForWrite(nodes map[string]*node, n *node) bool {
	for _, other := range nodes {
		if p := other.v.spec.Policy; p != nil && p.SideEffectClass.Writes() && slices.Contains(other.v.spec.DependsOn, n.rec.NodeID) {
			return true
		}
	}
	return false
}

// chosen ends the node where no question is needed: one option, or a rule that
// decides between several.
func (l *loop) chosen(n *node, step *contracts.HumanStep, options []contracts.InterruptOption) bool {
	switch {
	case len(options) == 1, len(options) > 1 && step.Choose == contracts.ChooseFirst:
		l.begun(n)
		n.rec.Result = &Result{Summary: options[0].Label, Facts: map[string]any{"value": options[0].Value, "label": options[0].Label}}
		l.end(n, contracts.NodeCompleted)
		return true
	case len(options) > 1 && step.Choose == contracts.ChooseFail:
		l.fail(n, contracts.ErrPrecondition, fmt.Sprintf("%d values fit %s; say which", len(options), step.Param), contracts.EffectNone)
		return true
	default:
		return false
	}
}

// options reads the list of {value, label} that a search found, and tells
// whether the search says of none of them that it is just what was asked for
// ("exact": false).
func (l *loop) options(n *node, step *contracts.HumanStep) (options []contracts.InterruptOption, near bool, err error) {
	if step.OptionsFrom == "" {
		return nil, false, nil
	}
	refs, err := expr.Refs(step.OptionsFrom)
	if err != nil {
		return nil, false, err
	}
	value, _, err := expr.Resolve(step.OptionsFrom, l.scope(n, refs))
	if err != nil {
		return nil, false, err
	}
	list, ok := value.([]any)
	if !ok {
		return nil, false, contracts.Errorf(contracts.CodeInvalid, "the search gave no list at %s", step.OptionsFrom)
	}
	options, near = make([]contracts.InterruptOption, 0, len(list)), len(list) > 0
	for i, item := range list {
		if i == maxOptions {
			break
		}
		options = append(options, optionOf(i, item))
		m, _ := item.(map[string]any)
		near = near && m["exact"] == false
	}
	return options, near, nil
}

// optionOf accepts {value, label, detail?} and bare values.
func optionOf(i int, item any) contracts.InterruptOption {
	o := contracts.InterruptOption{ID: fmt.Sprint(i + 1), Value: item}
	if m, ok := item.(map[string]any); ok {
		o.Value = m["value"]
		o.Label, _ = m["label"].(string)
		o.Detail, _ = m["detail"].(string)
	}
	if o.Label == "" {
		o.Label = asText(o.Value)
	}
	o.Label, o.Detail = contracts.CleanSummary(o.Label), contracts.CleanSummary(o.Detail)
	return o
}
