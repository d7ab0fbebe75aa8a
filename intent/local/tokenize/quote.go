package tokenize

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/manifold-run/manifold/intent/local/lexicon"
)

// Span is a byte range of the source, [Start, End).
type Span struct{ Start, End int }

// maxQuotes limits the number of quotations of a message.
const maxQuotes = 64

// Quotes returns the quoted spans of a text without quotation marks.
func Quotes(src string) []Span {
	var out []Span
	for i := 0; i < len(src) && len(out) < maxQuotes; {
		r, size := utf8.DecodeRuneInString(src[i:])
		closing := closingQuote(r)
		if closing == 0 || closing == '\'' && !opensSingle(src, i, size) {
			i += size
			continue
		}
		end, ok := quoteEnd(src, i+size, closing)
		if !ok {
			i += size
			continue
		}
		if end > i+size {
			out = append(out, Span{i + size, end})
		}
		_, closeSize := utf8.DecodeRuneInString(src[end:])
		i = end + closeSize
	}
	return out
}

func closingQuote(r rune) rune {
	switch r {
	case '"':
		return '"'
	case '\'':
		return '\''
	case '`':
		return '`'
	case '“', '„', '”':
		return '”'
	case '‘':
		return '’'
	case '«':
		return '»'
	case '「':
		return '」'
	default:
		return 0
	}
}

// opensSingle reports whether a single quote opens a quotation and is no apostrophe.
func opensSingle(src string, i, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(src[:i])
	after, _ := utf8.DecodeRuneInString(src[i+size:])
	return (i == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before)) && after != utf8.RuneError && !unicode.IsSpace(after)
}

func quoteEnd(src string, from int, closing rune) (int, bool) {
	for i := from; i < len(src); {
		r, size := utf8.DecodeRuneInString(src[i:])
		if r == '\n' {
			return 0, false
		}
		if r == closing || closing == '”' && r == '“' {
			next, _ := utf8.DecodeRuneInString(src[i+size:])
			if (closing != '\'' && closing != '’') || i+size == len(src) || !unicode.IsLetter(next) && !unicode.IsDigit(next) {
				return i, true
			}
		}
		i += size
	}
	return 0, false
}

// HeadsRelativeClause reports whether a verb follows a relative pronoun, with at most one adverb
// in between ("that just says").
func HeadsRelativeClause(tokens []Token, verb int) bool {
	before := verb - 1
	if before > 0 && isAdverb(tokens[before]) {
		before--
	}
	return before >= 0 && !tokens[verb].Break && tokens[before].Has(lexicon.Relative)
}

// isAdverb reports whether a function word is an adverb that negates nothing.
func isAdverb(t Token) bool {
	if !t.Has(lexicon.Function) || t.Break {
		return false
	}
	return !slices.ContainsFunc([]lexicon.Class{
		lexicon.Relative, lexicon.Subject, lexicon.Pronoun, lexicon.Article, lexicon.Third, lexicon.Finite, lexicon.Negation, lexicon.Faint,
	}, t.Has)
}

// QuotedClause returns the first token of the quotation between a relative pronoun and its verb,
// as in "der „Hallo“ sagt", or -1. Behind a comma an article counts as a relative pronoun.
func QuotedClause(tokens []Token, verb int) int {
	first := verb
	for first > 0 && tokens[first-1].Is(FormQuoted) {
		first--
	}
	if first == verb || first == 0 {
		return -1
	}
	if opens := tokens[first-1]; opens.Has(lexicon.Relative) || opens.Break && opens.Has(lexicon.Article) {
		return first
	}
	return -1
}
