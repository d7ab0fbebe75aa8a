package lexicon

import (
	"fmt"
	"strconv"
	"strings"
)

// Spoken is a token that phrases can match.
type Spoken interface {
	// Spelling returns the word.
	Spelling() Word
	// Parted reports whether punctuation precedes it.
	Parted() bool
}

// pattern is a phrase in a tiny notation, a place a word:
//
//	a|b    one of these words
//	a|b?   one of these words, or nothing
//	!a|b   none of these words stands here; no word is taken
//	^a|b   none of these words stands before
//	*      any word
//	..3    up to three words
//	*ing   a word with this ending, of three letters or more before it
//	ge*    a word with this beginning
//	<day>  a value, where values are read (see Form)
//	,      a sign such as a comma may stand here
//	-      a dash stands here
//
// In a file spaces separate the places. A word with an accent is also found where
// people leave the accent out, unless the word without it is another one.
type pattern []place

type place struct {
	words    []spelling
	endings  []string
	openings []string
	slot     string
	any      bool
	optional bool
	not      bool
	behind   bool
	comma    bool
	dash     bool
	gap      int
}

// spelling is a word of a pattern. exact is set if its form without accents is another word.
type spelling struct {
	lower, fold string
	exact       bool
}

func parsePattern(phrase string) (pattern, error) {
	p, err := parsePlaces(phrase)
	if err == nil && (p[0].not || p[0].gap > 0) {
		err = fmt.Errorf("%q: a phrase begins with a word", phrase)
	}
	return p, err
}

func parsePlaces(phrase string) (pattern, error) {
	var p pattern
	for field := range strings.FieldsSeq(phrase) {
		var at place
		if field == ",?" || field == "," || field == "-" {
			p = append(p, place{comma: field != "-", dash: field == "-"})
			continue
		}
		if n, ok := strings.CutPrefix(field, ".."); ok {
			gap, err := strconv.Atoi(n)
			if err != nil || gap < 1 || gap > 12 {
				return nil, fmt.Errorf("%q: a gap is ..1 to ..12", phrase)
			}
			p = append(p, place{gap: gap})
			continue
		}
		field, at.not = strings.CutPrefix(field, "!")
		field, at.behind = strings.CutPrefix(field, "^")
		field, at.optional = strings.CutSuffix(field, "?")
		if strings.HasPrefix(field, "<") {
			if !strings.HasSuffix(field, ">") {
				return nil, fmt.Errorf("%q: %q is not closed", phrase, field)
			}
			at.slot = field[1 : len(field)-1]
			p = append(p, at)
			continue
		}
		for w := range strings.SplitSeq(field, "|") {
			switch {
			case w == "":
				return nil, fmt.Errorf("%q: an empty word", phrase)
			case w == "*":
				at.any = true
			case strings.HasPrefix(w, "*"):
				at.endings = append(at.endings, Fold(w[1:]))
			case strings.HasSuffix(w, "*"):
				at.openings = append(at.openings, Fold(w[:len(w)-1]))
			default:
				at.words = append(at.words, spelling{lower: Lower(w), fold: Fold(w)})
			}
		}
		p = append(p, at)
	}
	if len(p) == 0 {
		return nil, fmt.Errorf("%q: an empty phrase", phrase)
	}
	return p, nil
}

// shortestStem is the minimum number of letters before an ending.
const shortestStem = 3

func (a *place) takes(w Word) bool {
	if a.any {
		return true
	}
	for _, s := range a.words {
		if s.lower == w.Lower || s.fold == w.Fold && !s.exact && (w.Lower == w.Fold || !w.Exact()) {
			return true
		}
	}
	for _, e := range a.endings {
		if len(w.Fold) >= len(e)+shortestStem && strings.HasSuffix(w.Fold, e) {
			return true
		}
	}
	for _, o := range a.openings {
		if len(w.Fold) > len(o) && strings.HasPrefix(w.Fold, o) {
			return true
		}
	}
	return false
}

// match returns the length of the longest match of a pattern at a token, or -1.
func match[T Spoken](p pattern, tokens []T, at int, over bool) int {
	if len(p) == 0 {
		return 0
	}
	a := &p[0]
	inside := at < len(tokens)
	switch {
	case a.gap > 0:
		for n := min(a.gap, len(tokens)-at); n >= 0; n-- {
			if rest := match(p[1:], tokens, at+n, over); rest >= 0 {
				return n + rest
			}
		}
		return -1
	case a.behind:
		if at > 0 && a.takes(tokens[at-1].Spelling()) {
			return -1
		}
		return match(p[1:], tokens, at, over)
	case a.not:
		if inside && a.takes(tokens[at].Spelling()) {
			return -1
		}
		return match(p[1:], tokens, at, over)
	}
	if inside && a.takes(tokens[at].Spelling()) {
		if rest := match(p[1:], tokens, at+1, over); rest >= 0 && (over || rest == 0 || at+1 >= len(tokens) || !tokens[at+1].Parted()) {
			return 1 + rest
		}
	}
	if a.optional {
		return match(p[1:], tokens, at, over)
	}
	return -1
}

// Book holds phrases of all languages with their values.
type Book[V any] struct {
	first map[string][]phrase[V] // by folded first word
	loose []phrase[V]            // phrases that begin with an ending, an opening or an optional word
	// over is set if punctuation may occur inside of a phrase.
	over bool
}

type phrase[V any] struct {
	pattern  pattern
	language int
	value    V
}

// add adds a phrase while the lexica are compiled.
func (b *Book[V]) add(language int, say string, v V) error {
	p, err := parsePattern(say)
	if err != nil {
		return err
	}
	if b.first == nil {
		b.first = map[string][]phrase[V]{}
	}
	ph := phrase[V]{p, language, v}
	first := p[0]
	if first.behind && len(p) > 1 {
		first = p[1]
	}
	if first.any {
		return fmt.Errorf("%q: a phrase begins with a word that is told", say)
	}
	if first.optional || len(first.endings)+len(first.openings) > 0 {
		b.loose = append(b.loose, ph)
		return nil
	}
	seen := map[string]bool{}
	for _, s := range first.words {
		if !seen[s.fold] {
			seen[s.fold] = true
			b.first[s.fold] = append(b.first[s.fold], ph)
		}
	}
	return nil
}

// seal marks the words that must keep their accents.
func (b *Book[V]) seal(t table) {
	for _, phrases := range b.first {
		for _, ph := range phrases {
			ph.pattern.seal(t)
		}
	}
	for _, ph := range b.loose {
		ph.pattern.seal(t)
	}
}

func (p pattern) seal(t table) {
	for i := range p {
		for k := range p[i].words {
			s := &p[i].words[k]
			s.exact = t.other(s.lower, s.fold)
		}
	}
}

// Hit is a match of a phrase.
type Hit[V any] struct {
	Value V
	// Tokens is the length of the match, Language the language of the phrase.
	Tokens, Language int
}

// Find returns the longest phrase that begins at a token; of equal ones the first. It searches all
// languages, so that a wrong language guess can only lead to a question.
func Find[V any, T Spoken](b *Book[V], tokens []T, at int) (Hit[V], bool) {
	return FindIn(b, tokens, at, func(int) bool { return true })
}

// FindIn is Find for the languages that possible accepts. possible is only called for a match.
func FindIn[V any, T Spoken](b *Book[V], tokens []T, at int, possible func(language int) bool) (Hit[V], bool) {
	best, found := Hit[V]{}, false
	if at < 0 || at >= len(tokens) {
		return best, false
	}
	look := func(phrases []phrase[V]) {
		for i := range phrases {
			if n := match(phrases[i].pattern, tokens, at, b.over); n > best.Tokens && possible(phrases[i].language) {
				best, found = Hit[V]{Value: phrases[i].value, Tokens: n, Language: phrases[i].language}, true
			}
		}
	}
	look(b.first[tokens[at].Spelling().Fold])
	look(b.loose)
	return best, found
}
