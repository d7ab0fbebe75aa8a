package slots

import (
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// KnownWords are the words that a capability is asked for with: its name, keywords, the
// objects of its examples, its listed values and the names of its parameters.
type KnownWords struct {
	stems map[string]bool
	// called are the stems of its name, its keywords and the nouns of its examples.
	called map[string]bool
	// long are the words of five letters or more, sorted.
	long []string
	// says are the examples, folded, with a space around every word.
	says []string
}

// Add takes a word in.
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

// usual is in how many examples a word stands that belongs to the request, though
// some value was read over it.
const usual = 2

// Collect takes the name of a capability, its other names, and what its hints say.
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
		if seen[t.Fold]++; seen[t.Fold] == usual && !t.Is(tokenize.FormDigits|tokenize.FormMixed|tokenize.FormCaps|tokenize.FormQuoted) && !t.Is(tokenize.FormTitle) {
			k.Add(t) // what many examples say is no value of one
			if !t.Has(lexicon.Function) && !t.Has(lexicon.Filler) && !t.Has(lexicon.Value) && lex.Kin(t.Fold) == 0 {
				k.called[t.Stem] = true
			}
		}
	}
	k.says = append(k.says, b.String())
}

// shortestPart is how many letters a word has that another may end in, as German
// compounds do.
const shortestPart = 4

// Called tells a stem of the name, a keyword or a noun of the examples.
func (k *KnownWords) Called(stem string) bool { return k.called[stem] }

// Head tells a word that is asked for with, in another form, misspelled by a letter, or at the
// end of a compound.
func (k *KnownWords) Head(t tokenize.Token) bool {
	if k.stems[t.Stem] {
		return true
	}
	if len(t.Fold) < 4 || t.Is(tokenize.FormDigits|tokenize.FormMixed|tokenize.FormQuoted) {
		return false
	}
	if len(t.Fold) == 4 { // a word of its own is no slip of another
		return !t.Has(lexicon.Function) && !t.Is(tokenize.FormTitle) && slices.ContainsFunc(k.long, func(w string) bool { return len(w) == 5 && w[0] == t.Fold[0] && NearSpelling(t.Fold, w) })
	}
	for _, w := range k.long {
		if NearSpelling(t.Fold, w) || SameInflection(t.Fold, w) || len(w) >= shortestPart && strings.HasSuffix(t.Fold, w) {
			return true
		}
	}
	return false
}

// Says reports whether an example has folded words in a row.
func (k *KnownWords) Says(folds []string) bool {
	words := " " + strings.Join(folds, " ") + " "
	return slices.ContainsFunc(k.says, func(example string) bool { return strings.Contains(example, words) })
}
