package modality

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// relates tells a clause that only says something of what stands before it:
// ", which is obsolete".
func relates(m *Message, from int, s *Segment) bool {
	if s.starts || s.From == 0 || m.is(from, lexicon.Article) || m.couples(s.From) && m.is(from, lexicon.Asks) {
		return false // "…, and which tests does it have"
	}
	if m.is(from, lexicon.Asks) && !m.is(from, lexicon.Relative) { // "…, who had surgery"
		k := slices.IndexFunc(m.Segments, func(o Segment) bool { return o.To == s.From })
		verb := from + 1
		if !m.is(verb, lexicon.Past, lexicon.Helps, lexicon.Did) {
			verb++ // "who just had …"
		}
		return k >= 0 && m.Segments[k].Kind == Statement && m.is(verb, lexicon.Past, lexicon.Helps, lexicon.Did) && !m.commands(verb, s.To)
	}
	return m.is(from, lexicon.Relative) && !m.commands(from+1, s.To)
}

// ceased tells a clause behind a comma that something is so no longer: ", ya no hace falta".
func ceased(m *Message, from int, s *Segment) bool {
	return !s.starts && s.From > 0 && s.To-from > 2 && m.is(from, lexicon.Ending) && m.is(from+1, lexicon.Faint, lexicon.Negation)
}

// narrates tells a clause of somebody or something else, and of what is so or has been: "the
// whole family caught the flu". Its nouns command nothing, whatever requests begin with.
func narrates(m *Message, from int, s *Segment) bool {
	end := subjectEnd(m, from, s.To)
	for i := end; i > from && i < min(s.To-1, end+near); i++ {
		switch {
		case m.is(i, lexicon.Want, lexicon.Needing), m.inEntity[i], !m.word(i), m.Tokens[i].Break:
			return false
		case m.is(i, lexicon.Helps, lexicon.Past, lexicon.Did, lexicon.Reports), m.is(i, lexicon.Finite) && m.lex.Gerund(m.Tokens[i+1].Fold), came(m, i, s.To):
			return m.is(i+1, lexicon.BeforeVerb) || !orders(m, from, i+1, s.To) // "Ana has to cancel …": it is hers to do
		case !m.light(i) && !adverbial(m.Tokens[i].Fold):
			return m.lex.Bends(m.language, m.Tokens[i].Fold) && m.is(i+1, lexicon.Article, lexicon.Third) && !orders(m, from, i+1, s.To)
		}
	}
	return false
}

// longestSubject is how many words stand at most behind the article of who or what is told
// of.
const longestSubject = 4

// subjectEnd is where the words end of which a clause tells something: a name, or a noun
// behind an article; where they begin if there are none.
func subjectEnd(m *Message, from, to int) int {
	end := from
	for end < to && m.Tokens[end].Is(tokenize.FormTitle|tokenize.FormCaps) && m.word(end) && !m.inEntity[end] && !m.light(end) && (end > from || m.kin(end) == 0 && (!m.bids(end) || m.is(end+1, lexicon.Helps, lexicon.Past, lexicon.Did))) {
		end++
	}
	if end > from {
		return end
	}
	if !m.is(from, lexicon.Article, lexicon.Mine) && !m.is(from, lexicon.Third) {
		return from
	}
	for i := from + 1; i < min(to, from+1+longestSubject); i++ {
		if m.light(i) || m.inEntity[i] || !m.word(i) || m.is(i, lexicon.Did) || m.lex.EndsInPast(m.language, m.Tokens[i].Word) {
			if i > from+1 {
				return i
			}
			return from
		}
	}
	return from
}

// orders tells a verb of a request behind a place in a clause that is neither told of as
// done nor a noun.
func orders(m *Message, from, at, to int) bool {
	for i := at; i < to; i++ {
		helped := i > from && m.is(i-1, lexicon.Helps) // "has changed", "a changé"
		if m.word(i) && m.kin(i) != 0 && m.bids(i) && !helped && !m.named(i) && !m.perfect(from, i) && !m.lex.Gerund(m.Tokens[i].Fold) {
			return true
		}
	}
	return false
}

// tells finds a finite clause: one that has a subject and says something of it.
func (m *Message) tells(from int, s *Segment) SegmentKind {
	finite := m.is(from, lexicon.Subject) && !m.is(from, lexicon.Article) && s.To-from > 1 && !m.inEntity[from]
	inside := !s.starts && s.From > 0 && s.To-from > 2 && !m.has(from, lexicon.Negation, lexicon.Denial) && denied(m, from, s.To)
	for i := from; i < min(s.To, from+6) && !inside; i++ {
		inside = m.is(i, lexicon.Want, lexicon.Needing) && denied(m, from, s.To) // "Bruno does not need it any more"
	}
	dropped := inside || m.headFirst() && (m.is(from, lexicon.Finite) || denied(m, from, s.To) && s.To-from > 2 && !m.bids(from))
	for i := from + 1; i < min(s.To, from+7) && !finite; i++ {
		finite = i < s.To-1 && m.is(i, lexicon.Finite, lexicon.Reports, lexicon.Past) || s.starts && i > from+1 && m.is(from, lexicon.Article) && came(m, i, s.To)
	}
	switch {
	case !finite && !dropped, m.has(from, lexicon.Asks), !content(m, from, s.To): // ", but not al-7" excepts
		return Open
	case m.past(from, s.To):
		return Past
	}
	return Statement
}

// content tells a run with a word that is none of grammar, no name and no value.
func content(m *Message, from, to int) bool {
	for i := from; i < to; i++ {
		grammar := m.light(i) || m.couples(i) || m.has(i, lexicon.Negation, lexicon.Denial) || m.is(i, lexicon.Faint)
		if m.is(i, lexicon.Finite) || !grammar && m.word(i) && !m.inEntity[i] && !m.Tokens[i].Is(tokenize.FormTitle|tokenize.FormCaps) {
			return true
		}
	}
	return false
}

// came tells a verb of what came to pass behind a noun: "the customer changed", "el
// cliente se arrepintió", "le client a changé".
func came(m *Message, i, to int) bool {
	if !m.word(i) || m.inEntity[i] || m.Tokens[i].Named() {
		return false
	}
	if m.is(i, lexicon.Did) || m.is(i, lexicon.Helps) && i+1 < to && !m.light(i+1) {
		return true
	}
	return m.lex.EndsInPast(m.language, m.Tokens[i].Word) && !m.is(i-1, lexicon.Article) && (!m.light(i-1) || m.Tokens[i].Lower != m.Tokens[i].Fold)
}

// past reports whether a run reports what was.
func (m *Message) past(from, to int) bool {
	for i := from; i < min(to, from+6); i++ {
		if m.is(i, lexicon.Past, lexicon.Reports) {
			return true
		}
		if i > from && m.is(from, lexicon.Subject) && i == from+1 && strings.HasSuffix(m.Tokens[i].Fold, "ed") {
			return true
		}
	}
	return false
}

func denied(m *Message, from, to int) bool {
	faint, ends := false, false
	for i := from; i < to; i++ {
		faint, ends = faint || m.is(i, lexicon.Faint), ends || m.is(i, lexicon.Ending)
		if m.has(i, lexicon.Negation) || m.has(i, lexicon.Ending) && m.is(from, lexicon.Subject) || faint && ends { // "ya no hace falta"
			return true
		}
	}
	return false
}
