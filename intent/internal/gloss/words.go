package gloss

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// mostGlossary is how many words of one capability a glossary has.
const mostGlossary = 40

// vocabularyOf collects the single words in which a capability is asked for, and of each
// whether it is a value.
type vocabularyOf map[string]bool

// Words are the words of the name of a capability, of its domain, of its keywords, its examples and the
// names of its parameters, and the values that they take; of each whether it is one.
func Words(c *contracts.Capability, domain string) map[string]bool {
	out := vocabularyOf{}
	var schema struct {
		Properties map[string]struct {
			Enum []any `json:"enum"`
		} `json:"properties"`
	}
	if json.Unmarshal(c.Schema, &schema) == nil {
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			out.words(text.SplitName(name))
			for _, v := range schema.Properties[name].Enum {
				out.value(v)
			}
		}
	}
	out.words(text.SplitName(c.Name), domain)
	if hints := c.Metadata.IntentHints; hints != nil {
		out.words(hints.Keywords...)
		out.words(hints.Examples...)
	}
	return out
}

// words adds the words of texts that are neither grammar nor values.
func (v vocabularyOf) words(texts ...string) {
	for _, s := range texts {
		for _, t := range text.Tokens(s) {
			if !t.Named() {
				v.add(t, false)
			}
		}
	}
}

// value adds a value of one word.
func (v vocabularyOf) value(of any) {
	if s, ok := of.(string); ok {
		if tokens := text.Tokens(s); len(tokens) == 1 {
			v.add(tokens[0], true)
		}
	}
}

func (v vocabularyOf) add(t text.Token, value bool) {
	plain := !t.Is(text.FormQuoted|text.FormDigits|text.FormMixed|text.FormSign) && !t.Has(lang.Function) && !t.Has(lang.Filler) && !t.Has(lang.Value)
	if plain && len(t.Fold) >= shortestGlossed && len(v) < mostGlossary {
		v[t.Fold] = v[t.Fold] || value
	}
}
