package workflow

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// human checks a question to a person.
func (c *check) human(i int, step *contracts.Step) {
	h := step.Human
	if h == nil {
		return
	}
	place := at("steps", i, "human")
	known := contracts.AnswersOf(h.Interrupt)
	if known == nil {
		c.faults.add(place+"/interrupt", "%s is asked by the engine; a workflow asks %s", h.Interrupt, strings.Join(asked(), ", "))
		return
	}
	c.values(place+"/prompt", h.Prompt, reader{step: i})
	c.values(place+"/value", h.Value, reader{step: i})
	c.values(place+"/show", h.Show, reader{step: i})
	c.values(place+"/options_from", h.OptionsFrom, reader{step: i})
	c.answers(place, i, step, known)
	c.absent(place, h)
	if h.ResponseSchema != nil {
		c.anySchema(place+"/response_schema", h.ResponseSchema)
	}
	if h.Interrupt == contracts.InterruptPlanApproval && h.Value == nil {
		c.faults.add(place, "a plan_approval needs value: what is approved, and what later steps read")
	}
	if h.Interrupt == contracts.InterruptSelectTarget && h.OptionsFrom == "" {
		c.faults.add(place, "a select_target needs options_from: what there is to choose from")
	}
}

func asked() []string {
	return []string{
		string(contracts.InterruptClarification), string(contracts.InterruptSelectTarget), string(contracts.InterruptCredentialCheck),
		string(contracts.InterruptPlanApproval), string(contracts.InterruptResultReview),
	}
}

// answers checks the allowed answers: the question must have them, and an answer that goes back
// needs a rule.
func (c *check) answers(place string, i int, step *contracts.Step, known []string) {
	h := step.Human
	if len(known) > 0 && len(h.Allow) == 0 {
		c.faults.add(place+"/allow", "must name the answers that are allowed, of %s", strings.Join(known, ", "))
	}
	seen := map[string]bool{}
	for k, a := range h.Allow {
		at := place + at("allow", k)
		switch {
		case !slices.Contains(known, a.Answer):
			c.faults.add(at, "%s has no answer %q; it has %s", h.Interrupt, a.Answer, orNone(known))
		case seen[a.Answer]:
			c.faults.add(at, "the answer %q stands here twice", a.Answer)
		case contracts.GoesBack(a.Answer) && !slices.ContainsFunc(step.On, func(r contracts.Rule) bool { return r.Answer == a.Answer }):
			c.faults.add(at, "%q needs a rule {answer: %s, goto: …} that says where to", a.Answer, a.Answer)
		case a.Answer == contracts.SayRollback:
			c.rollback(i, at)
		}
		seen[a.Answer] = true
		if a.When != nil {
			c.condition(at+"/when", *a.When, reader{step: i})
		}
	}
}

func orNone(words []string) string {
	if len(words) == 0 {
		return "none: it takes a value"
	}
	return strings.Join(words, ", ")
}

// absent checks the behaviour of unattended runs, and refuses members that are not for manifests.
func (c *check) absent(place string, h *contracts.HumanStep) {
	if u := h.Unattended; u != nil && u.Answer != "" {
		switch {
		case !allows(h, u.Answer):
			c.faults.add(place+"/unattended/answer", "the step does not allow the answer %q", u.Answer)
		case contracts.GoesBack(u.Answer):
			c.faults.add(place+"/unattended/answer", "%q goes back, and would do so without an end", u.Answer)
		case u.Answer == contracts.SayEdit || u.Answer == contracts.SayChoose && !u.OnlyIfOne:
			c.faults.add(place+"/unattended/answer", "%q needs somebody who says more; choose may be taken only_if_one", u.Answer)
		}
	}
	if h.Choose != "" || h.LooksUp {
		c.faults.add(place+"/choose", "is not for workflows: they always ask, and unattended says what happens without anybody")
	}
}

func (c *check) anySchema(place string, schema map[string]any) {
	raw, err := contracts.Canonical(schema)
	if err == nil {
		_, err = contracts.CompileSchema(raw)
	}
	if err != nil {
		c.faults.add(place, "%s", err)
	}
}
