package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// maxOptions limits the options of one question; longer lists are typed.
const maxOptions = 25

// maxForms limits how many spoken forms are shown with one value. nearTongue is how similar in
// language the others must be to the best one.
const (
	maxForms   = 3
	nearTongue = 0.7
)

// said returns the text of an intent. Its language decides in which language options are offered.
func (c *compiler) said(intent string) string {
	for _, in := range c.req.Intents {
		if in.ID == intent {
			return in.Clause
		}
	}
	if c.req.Draft == nil {
		return ""
	}
	for _, s := range c.req.Draft.Steps {
		if s.ID == intent && s.Said != nil {
			return s.Said.Text
		}
	}
	return ""
}

// options returns the values that a parameter can have, if they are few: its enum with the spoken
// forms, else the values of its aliases, each once and in the requester's language.
func (c *capability) options(name, said string) []contracts.InterruptOption {
	property := c.property(name)
	values := property.Enum
	if len(values) == 0 {
		values = c.spec(name).Enum
	}
	forms := c.spokenForms(name, said)
	var out []contracts.InterruptOption
	for i, value := range values {
		text := spoken(value)
		out = append(out, contracts.InterruptOption{
			ID: text, Label: cmp.Or(contracts.CleanSummary(property.Label(i)), text), Value: value, Detail: contracts.CleanSummary(strings.Join(forms[text], ", ")),
		})
	}
	if len(values) == 0 {
		out = c.meanings(name, forms)
	}
	if len(out) > maxOptions {
		return nil
	}
	return out
}

// meanings returns the values of aliases, labelled with their first spoken form that differs from
// the value in more than case.
func (c *capability) meanings(name string, forms map[string][]string) []contracts.InterruptOption {
	aliases := c.spec(name).Aliases
	var out []contracts.InterruptOption
	for value, spokenForms := range forms {
		form := spokenForms[max(0, slices.IndexFunc(spokenForms, func(f string) bool { return !strings.EqualFold(f, value) }))]
		out = append(out, contracts.InterruptOption{ID: contracts.CleanSummary(form), Label: contracts.CleanSummary(form), Detail: value, Value: aliases[form]})
	}
	slices.SortFunc(out, func(a, b contracts.InterruptOption) int {
		x, isNumber := a.Value.(float64)
		y, isToo := b.Value.(float64)
		if isNumber && isToo {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a.ID, b.ID)
	})
	return out
}

// spokenForms groups the aliases of a parameter by their value, preferring the language of the
// text. The language of an alias is that of the examples that contain it.
func (c *capability) spokenForms(name, said string) map[string][]string {
	aliases := c.spec(name).Aliases
	asker := languageCountsOf(said)
	if slices.Max(asker) == 0 { // one language for all is better than the first form of each
		asker = languageCountsOf("the")
	}
	likeness := map[string]float64{}
	out := map[string][]string{}
	for _, s := range slices.Sorted(maps.Keys(aliases)) {
		value := spoken(aliases[s])
		out[value] = append(out[value], s)
		likeness[s] = asker.likeness(languageCountsOf(s + " " + c.examplesWith(s)))
	}
	for value, forms := range out {
		slices.SortStableFunc(forms, func(a, b string) int { return cmp.Compare(likeness[b], likeness[a]) })
		foreign := func(form string) bool { return likeness[form] < likeness[forms[0]]*nearTongue }
		if at := slices.IndexFunc(forms, foreign); at > 0 {
			forms = forms[:at]
		}
		out[value] = forms[:min(len(forms), maxForms)]
	}
	return out
}

// examplesWith returns the capability's examples that contain a text.
func (c *capability) examplesWith(words string) string {
	hints := c.Capability.Metadata.IntentHints
	if hints == nil {
		return ""
	}
	var out []string
	for _, example := range hints.Examples {
		if strings.Contains(" "+strings.ToLower(example)+" ", " "+strings.ToLower(words)+" ") {
			out = append(out, example)
		}
	}
	return strings.Join(out, " ")
}
