package contracts

import (
	"maps"
	"slices"
)

// MaxDraftSteps is the maximum number of steps of a draft.
const MaxDraftSteps = 40

// MaxDraftNodes is the maximum number of nodes of the plan compiled from a draft, including
// repetitions of its steps. A caller may lower it.
const MaxDraftNodes = 200

// Draft is a plan that a model proposes: capability calls with data flowing between them. It is
// compiled with the checks of a workflow. See docs/plans-from-a-model.md for the language.
type Draft struct {
	Steps []DraftStep `json:"steps"`
	// More means that further steps depend on the results of these.
	More bool `json:"more,omitempty"`
}

// DraftStep is one call of a draft.
type DraftStep struct {
	ID string `json:"id"`
	// Tool is the capability, "domain.capability" or "domain-capability".
	Tool string `json:"tool"`
	// Params are the parameter values. In strings, "${step.facts.x}" and, with ForEach,
	// "${item.x}" are references. Nothing else is an expression.
	Params map[string]any `json:"params,omitempty"`
	// When is a condition over earlier steps, such as "${a.facts.days} > 10".
	When string `json:"when,omitempty"`
	// ForEach is an expression that evaluates to a list. The call is made for each item.
	ForEach string `json:"for_each,omitempty"`
	// DependsOn are the steps that must have completed. If it is absent, they are the steps that
	// this step refers to.
	DependsOn []string `json:"depends_on,omitempty"`
	// Say is the purpose of the step, as the model wrote it.
	Say string `json:"say,omitempty"`
	// Said is the message that the values were read from, with the source of each value. The
	// reader of the message sets it, never a model.
	Said *Utterance `json:"said,omitempty"`
}

// WithParam returns a copy of the draft in which a parameter of a step is set to the answer to a
// question whose IntentID is the step. The answer is literal text and is never evaluated. The
// result is false if the step does not exist.
func (d Draft) WithParam(step, name string, value any) (Draft, bool) {
	at := slices.IndexFunc(d.Steps, func(s DraftStep) bool { return s.ID == step })
	if at < 0 {
		return d, false
	}
	d.Steps = slices.Clone(d.Steps)
	s := &d.Steps[at]
	params := map[string]any{}
	maps.Copy(params, s.Params)
	params[name] = EscapeTemplates(value)
	s.Params = params
	if s.Said != nil {
		s.Said = s.Said.Fill(name, value)
	}
	return d, true
}
