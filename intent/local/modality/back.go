package modality

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// StartsNegated reports whether a text begins with a negated command. A negation behind a question
// word or within a relative clause, or one that is the subject, says which things are meant: "which
// flows were not changed", "flows nobody changed".
func StartsNegated(tokens []tokenize.Token) bool {
	for i, t := range tokens[:min(len(tokens), 4)] {
		if (Negates(t.Fold) || t.Fold == "no" || t.Fold == "ne" || t.Fold == "n") && !saysWhich(tokens[:i+1]) {
			return true
		}
	}
	return false
}

// saysWhich reports whether the negation at the end of a run says which things are meant.
func saysWhich(tokens []tokenize.Token) bool {
	last := len(tokens) - 1
	return tokens[last].Has(lexicon.Subject) || slices.ContainsFunc(tokens[:last], func(t tokenize.Token) bool {
		return t.Has(lexicon.Asks) || t.Has(lexicon.Relative) && t.Start != tokens[0].Start
	})
}

// TakesBack reports whether a message ends with a clause that only says "don't".
func TakesBack(lex *tokenize.Lexicon, tokens []tokenize.Token) bool {
	denied, ended, finite := false, false, false
	for i := len(tokens) - 1; i > 0; i-- {
		t := tokens[i]
		ended, finite = ended || t.Has(lexicon.Ending), finite || t.Has(lexicon.Finite)
		no := Negates(t.Fold) || Denies(t.Fold)
		if !no && !lex.StopWord(t.Fold) || t.Is(tokenize.FormQuoted) {
			return false
		}
		if denied = denied || no; denied && t.Break {
			return !ended || !finite // ", já não é preciso" gives a reason
		}
	}
	return false
}

// Limits for the end of a message that retracts it: its length in words, and the number of words
// behind the negation.
const (
	maxTailWords      = 6
	maxBehindNegation = 3
)

// Withdraws reports whether the last clause of a message retracts it: it ends with a negation ("…,
// anzi no"), or begins with one that is followed by a few words without a value ("…, no, leave
// it").
func Withdraws(tokens []tokenize.Token, covered []bool) bool {
	for i := len(tokens) - 1; i > 0 && i >= len(tokens)-maxTailWords; i-- {
		if covered[i] || tokens[i].Is(tokenize.FormQuoted|tokenize.FormDigits) {
			return false
		}
		if tokens[i].Break && endsDenied(tokens[i:]) {
			return true
		}
	}
	return false
}

// endsDenied reports whether a short clause ends with a negation, or has one before punctuation.
func endsDenied(tail []tokenize.Token) bool {
	no := func(t tokenize.Token) bool { return Negates(t.Fold) || Denies(t.Fold) || t.Has(lexicon.Faint) }
	last := len(tail) - 1
	if last < maxBehindNegation && last > 0 && no(tail[last]) && !no(tail[0]) && !tail[last].Break {
		return true
	}
	for k := 1; k <= last; k++ {
		if tail[k].Break && no(tail[k-1]) && last-k < maxBehindNegation {
			return true
		}
	}
	return false
}

// Refuses reports whether a message begins with a negation right before a noun: "no alert for
// Acme". Before punctuation or a value the negation is an answer.
func Refuses(tokens []tokenize.Token, covered []bool) bool {
	for i, t := range tokens[:max(0, len(tokens)-1)] {
		if Opening(t.Fold) {
			continue
		}
		next := tokens[i+1]
		return Denies(t.Fold) && t.Has(lexicon.Function) && !covered[i] && !covered[i+1] && !next.Break && !next.Has(lexicon.Function) && !next.Named() && !Negates(next.Fold) && !Denies(next.Fold)
	}
	return false
}
