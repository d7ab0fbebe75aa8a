package tokenize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"

	"github.com/manifold-run/manifold/intent/local/lexicon"
)

// Fold returns the comparable form of a word: compatibility forms resolved, lower case, Latin
// accents and apostrophes removed.
func Fold(raw string) string { return lexicon.Fold(raw) }

// unaccented returns the lower-case letter without its accent.
func unaccented(r rune) rune {
	r, _ = utf8.DecodeRuneInString(norm.NFKD.String(string(unicode.ToLower(r))))
	return r
}

// stem removes the English ending of a plain ASCII word.
func stem(fold string) string {
	if len(fold) < 3 || len(fold) > 32 {
		return fold
	}
	for i := range len(fold) {
		if fold[i] < 'a' || fold[i] > 'z' {
			return fold
		}
	}
	return english.Stem(fold, false)
}

// Phrase returns the folded words of a short text, such as an alias.
func Phrase(s string) []string {
	tokens := Tokens(s)
	out := make([]string, len(tokens))
	for i, t := range tokens {
		out[i] = t.Fold
	}
	return out
}

// Stems returns the stems of a short text.
func Stems(s string) []string {
	tokens := Tokens(s)
	out := make([]string, len(tokens))
	for i, t := range tokens {
		out[i] = t.Stem
	}
	return out
}

// SplitName splits an identifier such as price_of, priceOf or price.of into words. Capitals at the
// start of a word are lowered, so that they do not look like names.
func SplitName(name string) string {
	var b strings.Builder
	runes := []rune(name)
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return 0
		}
		return runes[i]
	}
	for i, r := range runes {
		prev, next := at(i-1), at(i+1)
		// The last capital of "CADPreview" begins a word, that of "IDs" does not.
		begins := unicode.IsUpper(r) && (unicode.IsLower(prev) || unicode.IsUpper(prev) && unicode.IsLower(next) && unicode.IsLower(at(i+2)))
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		case begins, unicode.IsDigit(r) != unicode.IsDigit(prev) && unicode.IsLetter(prev):
			b.WriteByte(' ')
		}
		if unicode.IsLower(next) && (begins || !unicode.IsLetter(prev)) {
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// Clean normalises a value: valid UTF-8, collapsed white space, no control or invisible
// characters.
func Clean(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError:
			space = true
			continue
		case ignorable(r):
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
	}
	return b.String()
}
