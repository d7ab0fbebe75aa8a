package slots

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// SwitchWords maps the stems in the description of a boolean parameter to the value that they
// indicate.
type SwitchWords map[string]bool

// DescribedSwitch returns the words of a description. Words behind "false" indicate false, and
// denied words the opposite: "false for those that may eat".
func DescribedSwitch(description string) SwitchWords {
	out, on, denied := SwitchWords{}, true, false
	tokens := tokenize.Tokens(description)
	for i, t := range tokens {
		switch {
		case t.Fold == "true":
			on, denied = true, false
		case t.Fold == "false":
			on, denied = false, false
		case IsDenial(tokens, i):
			denied = true
		case t.Break:
			denied = false
		}
		if len(t.Fold) >= minIndicatorLength && !t.Has(lexicon.Yes) && !t.Has(lexicon.No) && !t.Has(lexicon.Function) && !t.Has(lexicon.Filler) && !t.Has(lexicon.Pronoun) && !t.Is(tokenize.FormDigits|tokenize.FormMixed) {
			if was, ok := out[t.Stem]; ok && was != (on != denied) {
				delete(out, t.Stem) // it occurs for both values
				continue
			}
			out[t.Stem] = on != denied
		}
	}
	return out
}

// minIndicatorLength is the minimum length of an indicating word.
const minIndicatorLength = 3

// IsDenial reports whether a token negates what follows, also as a split contraction such as
// "mustn't".
func IsDenial(tokens []tokenize.Token, i int) bool {
	t := tokens[i]
	if t.Has(lexicon.Negation) || t.Has(lexicon.Switches) || t.Has(lexicon.Lacking) {
		return true
	}
	if i+1 >= len(tokens) || !tokens[i+1].Glued && len(tokens[i+1].Fold) > 1 {
		return false
	}
	return lexicon.Shipped().Folded(t.Fold + tokens[i+1].Fold).Has(lexicon.Negation)
}

// denialReach is the maximum distance in words between a negation and the negated word.
const denialReach = 3

// FindDenial returns the negation before a token in the same clause.
func FindDenial(tokens []tokenize.Token, from, i int) (at int, ok bool) {
	for j := i - 1; j >= from && j >= i-denialReach && !tokens[j+1].Break; j-- {
		if IsDenial(tokens, j) {
			return j, true
		}
	}
	return i, false
}

// Said returns the value that a word indicates for a boolean parameter by its description.
func (w SwitchWords) Said(tokens []tokenize.Token, from, i int) (first int, on, ok bool) {
	t := tokens[i]
	on, ok = w[t.Stem]
	if !ok || t.Is(tokenize.FormQuoted|tokenize.FormDigits|tokenize.FormMixed) || t.Is(tokenize.FormTitle) && !t.Is(tokenize.FormFirst) {
		return i, false, false
	}
	first, denied := FindDenial(tokens, from, i)
	return first, on != denied, true
}

// HeadNoun returns the last noun of the name of a boolean parameter, or "" for a single word.
func HeadNoun(name string) string {
	stems := tokenize.Stems(name)
	if len(stems) < 2 || slices.Contains([]string{"only", "at"}, stems[len(stems)-1]) {
		return ""
	}
	return strings.TrimSpace(stems[len(stems)-1])
}

// LackingNouns returns the stems of nouns behind words such as "without".
func LackingNouns(lex *lexicon.Lexica, tokens []tokenize.Token, covered []bool) []string {
	var out []string
	for i := range len(tokens) - 1 {
		noun := i + 1
		for noun+1 < len(tokens) && tokens[noun].Has(lexicon.Article) {
			noun++
		}
		t := tokens[noun]
		if tokens[i].Has(lexicon.Lacking) && !covered[noun] && !t.Break && !t.Has(lexicon.Function) && !t.Has(lexicon.Pronoun) && lex.Kin(t.Fold) == 0 && !lex.Gerund(t.Fold) {
			out = append(out, t.Stem)
		}
	}
	return out
}
