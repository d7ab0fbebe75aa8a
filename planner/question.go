package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Question is a question that a person must answer before there is a plan. Exactly one of Param,
// Role and Domain is set: it specifies where the answer goes when the request is compiled again.
type Question struct {
	// IntentID is the intent of the question, empty for an instance.
	IntentID string `json:"intent_id,omitempty"`
	// Param is the parameter of the intent that the answer sets.
	Param string `json:"param,omitempty"`
	// Role is the key of Request.Roles that the answer sets.
	Role string `json:"role,omitempty"`
	// Domain is the key of Request.Instances that the answer sets.
	Domain  string                      `json:"domain,omitempty"`
	Kind    contracts.InterruptType     `json:"kind"`
	Prompt  string                      `json:"prompt"`
	Options []contracts.InterruptOption `json:"options,omitempty"`
	// Schema is the schema of the answer.
	Schema map[string]any `json:"schema,omitempty"`
}

// questions collects the questions, each once.
type questions struct {
	list  []Question
	asked map[string]bool
}

// once adds a question unless it was asked already.
func (s *questions) once(q Question) {
	key := q.IntentID + "\x00" + q.Param + "\x00" + q.Role + "\x00" + q.Domain
	if s.asked[key] {
		return
	}
	s.asked[key] = true
	if q.Kind == "" {
		q.Kind = contracts.InterruptClarification
	}
	s.list = append(s.list, q)
}

// askParam asks for a parameter of an intent; reason explains why a given value was rejected.
func (c *compiler) askParam(intent string, target *capability, name, reason string) {
	prompt := contracts.CleanSummary(target.spec(name).Ask)
	if prompt == "" {
		prompt = fmt.Sprintf("Which %s?%s (%s)", inWords(name), target.fields(name), target.title())
	}
	if reason != "" {
		prompt = contracts.CleanSummary(reason + " " + prompt)
	}
	c.questions.once(Question{
		IntentID: intent, Param: name, Prompt: prompt,
		Options: target.options(name, c.said(intent)), Schema: target.answer(name),
	})
}

// role asks which of several capabilities is to play a role.
func (s *questions) role(intent, role string, players []contracts.RolePlayer) {
	q := Question{IntentID: intent, Role: role, Prompt: fmt.Sprintf("Several can be the %s. Which one?", role)}
	var refs []any
	for _, p := range players {
		refs = append(refs, p.Entry.Ref())
		q.Options = append(q.Options, contracts.InterruptOption{
			ID: p.Entry.Ref(), Label: p.Entry.Ref(), Detail: contracts.CleanSummary(p.Entry.Capability.Description),
		})
	}
	q.Schema = map[string]any{"enum": refs}
	s.once(q)
}

// instance asks which instance of a domain to use.
func (s *questions) instance(d *contracts.DomainEntry) {
	q := Question{
		Domain: d.Name, Kind: contracts.InterruptSelectTarget,
		Prompt: fmt.Sprintf("On which instance of %s?", d.Name),
	}
	var ids []any
	for _, i := range d.Manifest.Instances {
		ids = append(ids, i.ID)
		label := contracts.CleanSummary(i.Title)
		if label == "" {
			label = i.ID
		}
		q.Options = append(q.Options, contracts.InterruptOption{ID: i.ID, Label: label})
	}
	q.Schema = map[string]any{"enum": ids}
	s.once(q)
}

// answer returns the schema of an answer that sets the parameter: its own, or any text if a search
// resolves it.
func (c *capability) answer(name string) map[string]any {
	for _, step := range c.preSteps() {
		if step.Param == name {
			return map[string]any{"type": "string", "minLength": 1}
		}
	}
	return c.schemaOf(name)
}

// inWords formats the name of a parameter, or of a field of one, for a question.
func inWords(name string) string {
	path := contracts.FieldPath(name)
	slices.Reverse(path)
	return strings.ReplaceAll(strings.Join(path, " of the "), "_", " ")
}

// fields returns a hint with the fields of an object, "" for other types.
func (c *capability) fields(name string) string {
	view := c.property(name)
	if view.Type != "object" || len(view.Properties) == 0 {
		return ""
	}
	var names []string
	for _, p := range view.Properties[:min(len(view.Properties), maxOptions)] {
		names = append(names, strings.ReplaceAll(p.Name, "_", " "))
	}
	if last := len(names) - 1; last > 0 {
		names = []string{strings.Join(names[:last], ", ") + " or " + names[last]}
	}
	return " Say its " + names[0] + "."
}

// schemaOf returns the self-contained schema of a parameter, or of a field of one.
func (c *capability) schemaOf(name string) map[string]any {
	input, err := c.Input()
	if err != nil {
		return nil
	}
	for _, step := range contracts.FieldPath(name) {
		inner, ok := input.Property(step)
		if !ok {
			return nil
		}
		input = inner
	}
	out := input.ForPrompt()
	if len(c.spec(name).Enum) > 0 && len(c.property(name).Enum) == 0 {
		out["enum"] = c.spec(name).Enum
	}
	delete(out, contracts.KeywordOnlyHere)
	return out
}
