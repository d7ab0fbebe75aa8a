package decision

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/execution/runstate"
)

// The facts of a human step.
const (
	FactDecision = "decision"
	FactValue    = "value"
	FactLabel    = "label"
	FactApproach = "approach"
	FactFeedback = "feedback"
)

// NeedsMore reports whether an answer needs a text or a value.
func NeedsMore(answer string) bool {
	switch answer {
	case contracts.SayChoose, contracts.SaySearch, contracts.SayEdit, contracts.SayIterate:
		return true
	default:
		return false
	}
}

// Facts converts an answer to a question of a workflow into the facts of its step. The answer is an
// option, "answer: text", or an object {decision, value, approach, feedback, changes}. The error
// lists the possible answers.
func Facts(i contracts.Interrupt, response any) (map[string]any, error) {
	if members, ok := response.(map[string]any); ok && !plainValue(i, members) {
		return answerOf(i, members)
	}
	text := strings.TrimSpace(runstate.Text(response))
	if o, ok := optionBy(i.Options, text); ok {
		return answerOf(i, byOption(i, o))
	}
	if given, ok := inWords(i, text); ok {
		return answerOf(i, given)
	}
	if len(i.Answers) == 0 {
		return valueAnswer(i, response)
	}
	return nil, contracts.Errorf(contracts.CodeInvalid, "%q is no answer to %s%s", shortText(text), i.Code, possible(i))
}

// plainValue reports whether an object is the value for a question without answers.
func plainValue(i contracts.Interrupt, members map[string]any) bool {
	_, decides := members[FactDecision]
	return len(i.Answers) == 0 && !decides
}

// inWords parses "iterate: make it shorter", and also "iterate make it shorter" for answers that
// need a text.
func inWords(i contracts.Interrupt, text string) (map[string]any, bool) {
	word, rest, _ := strings.Cut(text, ":")
	if word = answerWord(word); !slices.Contains(i.Answers, word) {
		word, rest, _ = strings.Cut(text, " ")
		if word = answerWord(word); !slices.Contains(i.Answers, word) || !NeedsMore(word) {
			return nil, false
		}
	}
	rest = strings.TrimSpace(rest)
	switch word {
	case contracts.SayEdit:
		return map[string]any{FactDecision: word, "changes": changesIn(rest)}, true
	case contracts.SayChoose:
		if o, ok := optionBy(i.Options, rest); ok && o.Value != nil {
			return byOption(i, o), true
		}
		return map[string]any{FactDecision: word, FactValue: rest}, true
	default:
		return map[string]any{FactDecision: word, FactFeedback: rest}, true
	}
}

func answerWord(text string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(text)), " ", "_")
}

// changesIn parses the changes of an edit: a JSON object, or "name = value" pairs separated by
// semicolons. It returns nil if there are none.
func changesIn(text string) any {
	var object map[string]any
	if json.Unmarshal([]byte(text), &object) == nil {
		return object
	}
	changes := map[string]any{}
	for part := range strings.SplitSeq(text, ";") {
		name, value, ok := strings.Cut(part, "=")
		name = strings.ReplaceAll(strings.TrimSpace(name), " ", "_")
		if !ok || name == "" {
			return nil
		}
		var parsed any
		if value = strings.TrimSpace(value); json.Unmarshal([]byte(value), &parsed) != nil {
			parsed = value
		}
		changes[name] = parsed
	}
	return changes
}

// byOption returns the answer that an option stands for.
func byOption(i contracts.Interrupt, o contracts.InterruptOption) map[string]any {
	if slices.Contains(i.Answers, o.ID) && o.Value == nil {
		return map[string]any{FactDecision: o.ID}
	}
	if i.Type == contracts.InterruptPlanApproval {
		return map[string]any{FactDecision: contracts.SayApprove, FactApproach: o.Value, FactLabel: o.Label}
	}
	return map[string]any{FactDecision: contracts.SayChoose, FactValue: o.Value, FactLabel: o.Label}
}

// valueAnswer validates a value for a question without answers.
func valueAnswer(i contracts.Interrupt, response any) (map[string]any, error) {
	if err := fits(i, response); err != nil {
		return nil, err
	}
	return map[string]any{FactDecision: string(contracts.DecisionAnswer), FactValue: response}, nil
}

// answerOf checks that an answer is allowed and complete.
func answerOf(i contracts.Interrupt, given map[string]any) (map[string]any, error) {
	decision, _ := given[FactDecision].(string)
	if (decision == "" || decision == string(contracts.DecisionAnswer)) && len(i.Answers) == 0 {
		return valueAnswer(i, given[FactValue])
	}
	if i.Answers == nil && decision == contracts.SayChoose {
		return map[string]any{FactDecision: decision, FactValue: given[FactValue], FactLabel: given[FactLabel]}, nil
	}
	if !slices.Contains(i.Answers, decision) {
		return nil, contracts.Errorf(contracts.CodeInvalid, "%q is no answer to %s%s", shortText(decision), i.Code, possible(i))
	}
	facts := map[string]any{FactDecision: decision}
	words, _ := given[FactFeedback].(string)
	switch decision {
	case contracts.SaySearch:
		if text, ok := given[FactValue].(string); ok && words == "" {
			words = text
		}
		facts[FactValue] = words
		if words == "" {
			return nil, contracts.Errorf(contracts.CodeInvalid, `say what to search by: "search: …", or {"decision":"search","value":"…"}`)
		}
	case contracts.SayChoose:
		return chosenFacts(i, given)
	case contracts.SayApprove:
		facts[FactValue] = i.Value
		return withApproach(i, facts, given)
	case contracts.SayEdit:
		return edited(i, given)
	case contracts.SayIterate:
		if words == "" {
			return nil, contracts.Errorf(contracts.CodeInvalid, `say what should be different: "iterate: …", or {"decision":"iterate","feedback":"…"}`)
		}
	}
	if decision != contracts.SaySearch {
		facts[FactFeedback] = words
	}
	return facts, nil
}

func chosenFacts(i contracts.Interrupt, given map[string]any) (map[string]any, error) {
	for _, o := range i.Options {
		if o.Value != nil && runstate.Text(o.Value) == runstate.Text(given[FactValue]) {
			return map[string]any{FactDecision: contracts.SayChoose, FactValue: o.Value, FactLabel: o.Label}, nil
		}
	}
	return nil, contracts.Errorf(contracts.CodeInvalid, "%q is none of what there is to choose from%s", shortText(runstate.Text(given[FactValue])), possible(i))
}

func withApproach(i contracts.Interrupt, facts, given map[string]any) (map[string]any, error) {
	approach := given[FactApproach]
	if approach == nil {
		return facts, nil
	}
	for _, o := range i.Options {
		if o.Value != nil && runstate.Text(o.Value) == runstate.Text(approach) {
			facts[FactApproach], facts[FactLabel] = o.Value, o.Label
			return facts, nil
		}
	}
	return nil, contracts.Errorf(contracts.CodeInvalid, "%q is none of the approaches%s", shortText(runstate.Text(approach)), possible(i))
}

// edited merges changes into the value to be approved (RFC 7396), or replaces it, and validates the
// result against the response schema. Later steps read the result.
func edited(i contracts.Interrupt, given map[string]any) (map[string]any, error) {
	changes, ok := given["changes"].(map[string]any)
	if whole, given := given[FactValue].(map[string]any); !ok && given {
		return map[string]any{FactDecision: contracts.SayEdit, FactValue: whole}, fits(i, whole)
	}
	if !ok {
		return nil, contracts.Errorf(contracts.CodeInvalid, `an edit needs changes, which are merged into what is shown: "edit: name = value", or {"decision":"edit","changes":{…}}`)
	}
	value := merged(i.Value, changes)
	if err := fits(i, value); err != nil {
		return nil, err
	}
	return map[string]any{FactDecision: contracts.SayEdit, FactValue: value}, nil
}

// merged applies a JSON Merge Patch.
func merged(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	before, _ := target.(map[string]any)
	out := maps.Clone(before)
	if out == nil {
		out = map[string]any{}
	}
	for name, change := range changes {
		if change == nil {
			delete(out, name)
			continue
		}
		out[name] = merged(out[name], change)
	}
	return out
}

func fits(i contracts.Interrupt, value any) error {
	if i.ResponseSchema == nil {
		if value == nil {
			return contracts.Errorf(contracts.CodeInvalid, "%s needs a response%s", i.Code, offered(i))
		}
		return nil
	}
	raw, err := contracts.Canonical(i.ResponseSchema)
	if err != nil {
		return err
	}
	schema, err := contracts.CompileSchema(raw)
	if err != nil {
		return err
	}
	if faults := schema.Validate(value); len(faults) > 0 {
		return contracts.Invalid("the answer to "+i.Code+" does not fit", faults...)
	}
	return nil
}

// possible lists the possible answers as people write them.
func possible(i contracts.Interrupt) string {
	var out []string
	for _, a := range i.Answers {
		switch {
		case a == contracts.SayChoose:
			out = append(out, "the number of a choice")
		case !NeedsMore(a):
			out = append(out, strconv.Quote(a))
		}
	}
	for _, words := range gateview.Words(i) {
		out = append(out, strconv.Quote(words))
	}
	if len(out) == 0 {
		return offered(i)
	}
	return "; answer " + strings.Join(out, ", ")
}

func shortText(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:59]) + "…"
	}
	return text
}

// fromDecision converts a decision in the form of a gate into an answer.
func fromDecision(body contracts.Resume) any {
	switch body.Decision {
	case contracts.DecisionApprove:
		return contracts.SayApprove
	case contracts.DecisionReject:
		return map[string]any{FactDecision: contracts.SayReject, FactFeedback: body.Comment}
	case contracts.DecisionEdit:
		return map[string]any{FactDecision: contracts.SayEdit, "changes": body.EditedParams}
	default:
		return body.Response
	}
}
