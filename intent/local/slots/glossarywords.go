package slots

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// maxGlossary is the maximum number of words per capability in a glossary.
const maxGlossary = 40

// EntryKind is what a glossary entry stands for.
type EntryKind uint8

// EntryWord is a word of a request, EntryValue a value or a form of one. EntryAmbiguous is a value
// among several that their embeddings do not tell apart.
const (
	EntryWord EntryKind = iota
	EntryValue
	EntryAmbiguous
)

// vocabularyOf maps the single words of a capability to their kind.
type vocabularyOf map[string]EntryKind

// GlossaryWords returns the words in the names of a capability, of its domain and of its
// parameters, in its keywords and examples, and the values of its parameters, each with its kind.
func GlossaryWords(c *contracts.Capability, domain string) map[string]EntryKind {
	out := vocabularyOf{}
	stems := map[string]EntryKind{}
	var schema struct {
		Properties map[string]struct {
			Enum []any `json:"enum"`
		} `json:"properties"`
	}
	if json.Unmarshal(c.Schema, &schema) == nil {
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			out.words(tokenize.SplitName(name))
			out.values(schema.Properties[name].Enum, stems)
		}
	}
	out.words(tokenize.SplitName(c.Name), domain)
	if hints := c.Metadata.IntentHints; hints != nil {
		out.words(hints.Keywords...)
		out.words(hints.Examples...)
	}
	for w, sort := range out { // "trucks" is a form of the value "truck"
		for _, t := range tokenize.Tokens(w) {
			out[w] = max(sort, stems[t.Stem])
		}
	}
	return out
}

// words adds the words of texts that are neither function words nor values.
func (v vocabularyOf) words(texts ...string) {
	for _, s := range texts {
		for _, t := range tokenize.Tokens(s) {
			if !t.Named() {
				v.add(t, EntryWord)
			}
		}
	}
}

// values adds single-word values of an enum, and their stems.
func (v vocabularyOf) values(enum []any, stems map[string]EntryKind) {
	sort := EntryValue
	var tokens []tokenize.Token
	for _, of := range enum {
		if s, ok := of.(string); ok {
			if t := tokenize.Tokens(s); len(t) == 1 {
				tokens = append(tokens, t[0])
			}
		}
	}
	if slices.ContainsFunc(tokens, ambiguous) {
		sort = EntryAmbiguous
	}
	for _, t := range tokens {
		stems[t.Stem] = max(sort, stems[t.Stem])
		v.add(t, sort)
	}
}

// ambiguous reports whether a word is a function word in a language other than English, such as
// Spanish "van". A multilingual encoder gives it the wrong meaning.
func ambiguous(t tokenize.Token) bool {
	for n := len(lexicon.Shipped().Languages) - 1; n > 0; n-- {
		if slices.ContainsFunc([]lexicon.Class{lexicon.Function, lexicon.Pronoun, lexicon.Finite, lexicon.Helps}, func(c lexicon.Class) bool { return t.In(n, c) && !t.In(0, c) }) {
			return true
		}
	}
	return false
}

func (v vocabularyOf) add(t tokenize.Token, sort EntryKind) {
	plain := !t.Is(tokenize.FormQuoted|tokenize.FormDigits|tokenize.FormMixed|tokenize.FormSign) && !t.Has(lexicon.Function) && !t.Has(lexicon.Filler) && !t.Has(lexicon.Value)
	if plain && len(t.Fold) >= shortestMatched && len(v) < maxGlossary {
		v[t.Fold] = max(v[t.Fold], sort)
	}
}
