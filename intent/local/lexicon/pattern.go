package lexicon

import (
	"fmt"
	"strconv"
	"strings"
)

// Spoken is a token of a message, as far as phrases look at it.
type Spoken interface {
	// Spelling is the word.
	Spelling() Word
	// Parted tells that a sign such as a comma stands before it.
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

// spelling is a word of a pattern. exact tells that without its accents it is
// another word.
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

// shortestStem is how many letters stand before an ending at least.
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

// match gives how many tokens from a place on a pattern takes, the most there
// are, -1 for none.
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

// Book holds phrases of all languages with what each stands for.
type Book[V any] struct {
	first map[string][]phrase[V] // by the folded first word
	loose []phrase[V]            // those that begin with an ending, an opening or an optional word
	// over tells that a sign between two words does not part them.
	over bool
}

type phrase[V any] struct {
	pattern  pattern
	language int
	value    V
}

// add files a phrase. It is called while the lexica are made.
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

// Hit is a phrase that was found.
type Hit[V any] struct {
	Value V
	// Tokens is how many of them it takes; Language the one that has it.
	Tokens, Language int
}

// Find gives the longest phrase that begins at a place, of two equal ones the
// first filed. Restraint is looked for in every language, so that a wrong guess of
// the language can only ask.
func Find[V any, T Spoken](b *Book[V], tokens []T, at int) (Hit[V], bool) {
	return FindIn(b, tokens, at, func(int) bool { return true })
}

// FindIn is Find in the languages that possible tells; it is asked only where a
// phrase fits.
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
