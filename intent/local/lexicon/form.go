package lexicon

import (
	"fmt"
	"slices"
	"strings"
)

// Form is a phrase with slots, such as "in <n> <unit>".
type Form struct{ pattern pattern }

// Placed is a token with the text before it.
type Placed interface {
	Spoken
	// Gap returns the text between the previous token and this one.
	Gap() string
}

// Slots matches the values of slots.
type Slots interface {
	// Fill calls then with the end of each value that a slot can match at a token. The value is
	// captured until then returns.
	Fill(slot string, at int, then func(next int))
}

// NewForm parses a form with the given slots. It may begin with an optional place.
func NewForm(say string, known []string) (Form, error) {
	p, err := parsePlaces(say)
	if err != nil {
		return Form{}, err
	}
	for _, a := range p {
		if a.slot != "" && !slices.Contains(known, a.slot) {
			return Form{}, fmt.Errorf("%q: no value is called %q", say, a.slot)
		}
	}
	return Form{p}, nil
}

// Starts returns the folded words and the slots that the form can begin with.
func (f Form) Starts() (words, slots []string) {
	for _, a := range f.pattern {
		if a.comma || a.dash {
			continue
		}
		if a.slot != "" {
			slots = append(slots, a.slot)
		}
		for _, w := range a.words {
			words = append(words, w.fold)
		}
		if !a.optional {
			break
		}
	}
	return words, slots
}

// Seal marks the words that must keep their accents.
func (f Form) Seal(l *Lexica) { f.pattern.seal(l.table) }

// Walk calls done with the end of each match of the form at a token.
func Walk[T Placed](f Form, tokens []T, at int, slots Slots, done func(end int)) {
	walk(f.pattern, tokens, at, true, slots, done)
}

// walk matches the rest of a form. free is set if punctuation may precede the next token.
func walk[T Placed](p pattern, tokens []T, at int, free bool, slots Slots, done func(end int)) {
	if len(p) == 0 {
		done(at)
		return
	}
	a := &p[0]
	inside := at < len(tokens)
	if a.comma {
		walk(p[1:], tokens, at, true, slots, done)
		return
	}
	if a.not {
		if !inside || !a.takes(tokens[at].Spelling()) {
			walk(p[1:], tokens, at, free, slots, done)
		}
		return
	}
	if a.dash {
		if inside && dashed(tokens[at].Gap()) {
			walk(p[1:], tokens, at, true, slots, done)
		}
		return
	}
	if inside && (free || !tokens[at].Parted()) {
		switch {
		case a.slot != "":
			slots.Fill(a.slot, at, func(next int) { walk(p[1:], tokens, next, false, slots, done) })
		case a.takes(tokens[at].Spelling()):
			walk(p[1:], tokens, at+1, false, slots, done)
		}
	}
	if a.optional {
		walk(p[1:], tokens, at, free, slots, done)
	}
}

// dashed reports whether a gap is a dash, optionally with the dot of a number before it.
func dashed(gap string) bool {
	gap = strings.TrimSpace(strings.TrimPrefix(gap, "."))
	return gap == "-" || gap == "–" || gap == "—" || gap == "‐" || gap == "‑"
}
