package contracts

import (
	"maps"
	"slices"
)

// MaxDraftSteps bounds a draft.
const MaxDraftSteps = 40

// MaxDraftNodes bounds the plan that a draft becomes, the repetitions of its steps
// included. A caller may lower it.
const MaxDraftNodes = 200

// Draft is a plan that a model proposes: calls of capabilities with data that
// flows from one to another. It is compiled with the checks of a workflow; see
// docs/plans-from-a-model.md for the language.
type Draft struct {
	Steps []DraftStep `json:"steps"`
	// More means that what comes next can only be said when the results are there.
	More bool `json:"more,omitempty"`
}

// DraftStep is one call of a draft.
type DraftStep struct {
	ID string `json:"id"`
	// Tool is the capability, "domain.capability" or "domain-capability".
	Tool string `json:"tool"`
	// Params are values. In their texts "${step.facts.x}" and, with ForEach,
	// "${item.x}" are references; nothing else is an expression.
	Params map[string]any `json:"params,omitempty"`
	// When is a condition over earlier steps, such as "${a.facts.days} > 10".
	When string `json:"when,omitempty"`
	// ForEach is an expression that gives a list: the call is made for each item.
	ForEach string `json:"for_each,omitempty"`
	// DependsOn are steps that must have completed. Absent, they are those that
	// the step refers to.
	DependsOn []string `json:"depends_on,omitempty"`
	// Say is what the step is for, in the words of who drafted it.
	Say string `json:"say,omitempty"`
	// Said is the message that the values were read from, with the source of each.
	// It is set by who read the message, never by a model.
	Said *Utterance `json:"said,omitempty"`
}

// WithParam returns a copy of the draft in which a step has a value for a parameter:
// the answer to a question whose IntentID is the step. The answer is text that is
// never evaluated. It is false if there is no such step.
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
