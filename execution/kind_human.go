package execution

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/execution/runstate"
)

// maxOptions limits the options of a question.
const maxOptions = 25

// choice is a question of a plan without a workflow. It is decided without a person if there is no
// choice to make.
type choice struct{ local }

func (choice) start(t *activation) {
	step := t.n.Spec.Human
	if step == nil {
		t.fail(contracts.ErrInternal, "the plan does not say what to ask", contracts.EffectNone)
		return
	}
	options, near, err := optionsOf(t, step)
	if err != nil {
		t.fail(contracts.ErrUpstream, err.Error(), contracts.EffectNone)
		return
	}
	if sure := !near || !t.run.ServesWrite(t.n.Node); sure && step.OptionsFrom != "" && chosen(t, step, options) {
		return
	}
	nothing := step.OptionsFrom != "" && len(options) == 0
	if nothing && step.LooksUp {
		t.fail(contracts.ErrNotFound, runstate.FoundNothing(t.run, t.n.Node), contracts.EffectNone)
		return
	}
	prompt, again := runstate.SearchPrompt(t.run, t.n.Node, nothing)
	shown, err := shownBeside(t, step)
	if err != nil {
		t.fail(expressionFault(t.n), err.Error(), contracts.EffectNone)
		return
	}
	if near && len(options) == 1 { // a write takes it only if it is what was meant
		prompt = contracts.CleanSummary(fmt.Sprintf("%s Did you mean %s?", prompt, options[0].Label))
	}
	i := contracts.Interrupt{
		Show: shown, AfterReading: t.n.Spec.AfterReading,
		Type: step.Interrupt, Prompt: prompt, Options: options, ResponseSchema: step.ResponseSchema,
		Reason: "a parameter is needed", Requesters: requesters(t.run.Run.Plan.Owner, nil), Warning: answerWarning(t),
	}
	i.Prompt = contracts.CleanSummary(gateview.Mark(i.AfterReading) + i.Prompt + listed(shown))
	if nothing && again {
		i.ResponseSchema = decision.OrWords(i.ResponseSchema)
	}
	t.ask(i, contracts.NodeAwaitingInput)
}

func (choice) answer(t *activation, last contracts.InterruptDecided) {
	gate := t.n.Gate
	if gate.Status != contracts.InterruptAnswered {
		t.end(contracts.NodeCancelled)
		return
	}
	noteContributor(t, last)
	if searchAgain(t, last) {
		return
	}
	t.row.Result = &Result{Summary: "answered by " + last.DecidedBy, Facts: map[string]any{"value": gate.Response}}
	if label := labelOf(gate); label != "" {
		t.row.Result.Facts["label"] = label
	}
	t.end(contracts.NodeCompleted)
}

// chosen ends the node if no question is needed: there is one option, or a rule decides between
// several. It reports whether it did.
func chosen(t *activation, step *contracts.HumanStep, options []contracts.InterruptOption) bool {
	switch {
	case len(options) == 1, len(options) > 1 && step.Choose == contracts.ChooseFirst:
		t.row.Begin(t.now())
		t.row.Result = &Result{Summary: options[0].Label, Facts: map[string]any{"value": options[0].Value, "label": options[0].Label}}
		t.end(contracts.NodeCompleted)
		return true
	case len(options) > 1 && step.Choose == contracts.ChooseFail:
		t.fail(contracts.ErrPrecondition, fmt.Sprintf("%d values fit %s; say which", len(options), step.Param), contracts.EffectNone)
		return true
	default:
		return false
	}
}

// optionsOf reads the list of {value, label} that a search found. near means that none of them is
// an exact match: the search says so ("exact": false), or it returns names that lack a word of the
// query. If the sentence has the whole name of a match ("name"), only matches with that name are
// returned, and they are exact.
func optionsOf(t *activation, step *contracts.HumanStep) (options []contracts.InterruptOption, near bool, err error) {
	if step.OptionsFrom == "" {
		return stated(step), false, nil
	}
	value, _, err := evaluate(t, step.OptionsFrom)
	if err != nil {
		return nil, false, err
	}
	list, ok := value.([]any)
	if !ok {
		return nil, false, contracts.Errorf(contracts.CodeInvalid, "the search gave no list at %s", step.OptionsFrom)
	}
	options, near = make([]contracts.InterruptOption, 0, min(len(list), maxOptions)), len(list) > 0
	whole := runstate.QuotedMatch(t.run, t.n.Node, list)
	for i, item := range list {
		m, _ := item.(map[string]any)
		if whole != "" && m["name"] != whole {
			continue
		}
		if len(options) == maxOptions {
			break
		}
		options = append(options, optionOf(i, item))
		near = near && whole == "" && runstate.IsNearMatch(t.run, t.n.Node, m)
	}
	return options, near, nil
}

// stated returns the options of a question without a search: the enum of its response schema.
func stated(step *contracts.HumanStep) []contracts.InterruptOption {
	values, _ := step.ResponseSchema["enum"].([]any)
	var out []contracts.InterruptOption
	for i, v := range values[:min(len(values), maxOptions)] {
		out = append(out, optionOf(i, v))
	}
	return out
}

// shownBeside evaluates what a question shows.
func shownBeside(t *activation, step *contracts.HumanStep) (map[string]any, error) {
	if len(step.Show) == 0 {
		return nil, nil //nolint:nilnil // nothing is shown
	}
	return members(t, t.reader(), step.Show)
}

// listed formats what a question shows in one line.
func listed(shown map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		parts = append(parts, gateview.ParameterWords(name)+": "+asPart(asText(shown[name])))
	}
	if len(parts) == 0 {
		return ""
	}
	return " " + strings.Join(parts, "; ")
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

// labelOf returns the label of the chosen option, "" if none was chosen.
func labelOf(i *contracts.Interrupt) string {
	for _, o := range i.Options {
		if asText(o.Value) == asText(i.Response) {
			return o.Label
		}
	}
	return ""
}

// searchAgain repeats the search before a choice with the text that was answered; the choice is
// then made among its results.
func searchAgain(t *activation, last contracts.InterruptDecided) bool {
	words, ok := runstate.WordsOf(t.n.Gate.Response)
	if !ok || len(t.n.Gate.Options) > 0 {
		return false
	}
	search, param := t.run.SearchBefore(t.n.Node)
	if param == "" || search.State() != contracts.NodeCompleted {
		return false
	}
	edited := maps.Clone(search.Spec.Params)
	edited[param] = words
	t.take(runstate.SearchRepeated{Choice: t.n.ID(), Search: search.ID(), Edited: edited, By: []string{last.DecidedBy}})
	return true
}
