package slots

import (
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// KnownWords is the request vocabulary of a capability: its name, keywords, objects of its
// examples, listed values and parameter names.
type KnownWords struct {
	stems map[string]bool
	// called holds the stems of the name, the keywords and the nouns of the examples.
	called map[string]bool
	// long holds the words of five letters or more, sorted.
	long []string
	// says holds the examples, folded, with a space around each word.
	says []string
}

// Add adds a word.
func (k *KnownWords) Add(t tokenize.Token) {
	if k.stems == nil {
		k.stems = map[string]bool{}
	}
	k.stems[t.Stem] = true
	if len(t.Fold) >= 5 {
		k.long = append(k.long, t.Fold)
	}
}

func (k *KnownWords) addText(texts ...string) {
	for _, s := range texts {
		for _, t := range tokenize.Tokens(s) {
			k.Add(t)
		}
	}
}

func stemsOf(texts ...string) map[string]bool {
	out := map[string]bool{}
	for _, s := range texts {
		for _, t := range tokenize.Tokens(s) {
			out[t.Stem] = true
		}
	}
	return out
}

// minCommonExamples is the minimum number of examples that contain a word for it to be a request
// word, even where a value covers it.
const minCommonExamples = 2

// Collect adds the words of the name, of other names and of the intent hints of a capability.
func (k *KnownWords) Collect(lex *lexicon.Lexica, h *contracts.IntentHints, name string, names []string) {
	k.addText(name)
	k.addText(names...)
	k.called = stemsOf(name)
	seen := map[string]int{}
	if h != nil {
		k.addText(h.Keywords...)
		maps.Copy(k.called, stemsOf(h.Keywords...))
		for _, example := range h.Examples {
			k.example(lex, example, seen)
		}
	}
	slices.Sort(k.long)
	k.long = slices.Compact(k.long)
}

func (k *KnownWords) example(lex *lexicon.Lexica, example string, seen map[string]int) {
	var b strings.Builder
	b.WriteByte(' ')
	for _, t := range tokenize.Tokens(example) {
		b.WriteString(t.Fold)
		b.WriteByte(' ')
		if seen[t.Fold]++; seen[t.Fold] == minCommonExamples && !t.Is(tokenize.FormDigits|tokenize.FormMixed|tokenize.FormCaps|tokenize.FormQuoted) && !t.Is(tokenize.FormTitle) {
			k.Add(t) // a word of several examples is no value of one
			if !t.Has(lexicon.Function) && !t.Has(lexicon.Filler) && !t.Has(lexicon.Value) && lex.Kin(t.Fold) == 0 {
				k.called[t.Stem] = true
			}
		}
	}
	k.says = append(k.says, b.String())
}

// minCompoundPart is the minimum length of a word that a compound may end in, as in German.
const minCompoundPart = 4

// Called reports whether a stem is in the name, a keyword, or a noun of the examples.
func (k *KnownWords) Called(stem string) bool { return k.called[stem] }

// Head reports whether a token is a request word, another form of one, one with a misspelled
// letter, or a compound that ends in one.
func (k *KnownWords) Head(t tokenize.Token) bool {
	if k.stems[t.Stem] {
		return true
	}
	if len(t.Fold) < 4 || t.Is(tokenize.FormDigits|tokenize.FormMixed|tokenize.FormQuoted) {
		return false
	}
	if len(t.Fold) == 4 { // a short function word or name is no misspelling
		return !t.Has(lexicon.Function) && !t.Is(tokenize.FormTitle) && slices.ContainsFunc(k.long, func(w string) bool { return len(w) == 5 && w[0] == t.Fold[0] && NearSpelling(t.Fold, w) })
	}
	for _, w := range k.long {
		if NearSpelling(t.Fold, w) || SameInflection(t.Fold, w) || len(w) >= minCompoundPart && strings.HasSuffix(t.Fold, w) {
			return true
		}
	}
	return false
}

// Says reports whether an example contains a sequence of folded words.
func (k *KnownWords) Says(folds []string) bool {
	words := " " + strings.Join(folds, " ") + " "
	return slices.ContainsFunc(k.says, func(example string) bool { return strings.Contains(example, words) })
}
