package contracts

// MaxDraftSteps bounds the steps of one draft.
const MaxDraftSteps = 30

// Draft is a plan as a model proposes it: the subset of the workflow language that is
// needed for conditions and for data that flows from step to step. It is compiled with
// every check that a manifest's workflow passes.
type Draft struct {
	Steps []DraftStep `json:"steps"`
	// More says that the results of the steps are needed to know what comes next.
	More bool `json:"more,omitempty"`
}

// DraftStep is one call of a capability.
type DraftStep struct {
	ID string `json:"id"`
	// Tool is the full name of the capability.
	Tool string `json:"tool"`
	// Params are literals, or "${steps.ID.facts.PATH}" and, under ForEach, "${item.PATH}".
	Params map[string]any `json:"params,omitempty"`
	// When is a condition over earlier steps, such as "${balance.facts.days} > 10".
	When string `json:"when,omitempty"`
	// ForEach is a reference to a list of an earlier step.
	ForEach   string   `json:"for_each,omitempty"`
	DependsOn []string `json:"depends_on,omitempty"`
	// Say is what the step is for, for people.
	Say string `json:"say,omitempty"`
}
