package modality

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// isRelative reports whether a segment is a relative clause about what precedes it: ", which is
// obsolete".
func isRelative(m *Message, from int, s *Segment) bool {
	if s.starts || s.From == 0 || m.is(from, lexicon.Article) || m.isCoordinating(s.From) && m.is(from, lexicon.Asks) {
		return false // a question: "…, and which tests does it have"
	}
	if m.is(from, lexicon.Asks) && !m.is(from, lexicon.Relative) { // such as "…, who had surgery"
		k := slices.IndexFunc(m.Segments, func(o Segment) bool { return o.To == s.From })
		verb := from + 1
		if !m.is(verb, lexicon.Past, lexicon.Helps, lexicon.Did) {
			verb++ // such as "who just had …"
		}
		return k >= 0 && m.Segments[k].Kind == Statement && m.is(verb, lexicon.Past, lexicon.Helps, lexicon.Did) && !m.commands(verb, s.To)
	}
	return m.is(from, lexicon.Relative) && !m.commands(from+1, s.To)
}

// isFilter reports whether a segment is a relative clause with its verb at the end, behind a noun
// that is only asked about. It says which things are meant: "Flows, die niemand geändert hat".
func isFilter(m *Message, from int, s *Segment) bool {
	if s.starts || s.From == 0 || !m.lex.Languages[m.language].Capitalises || !m.is(from, lexicon.Article) || !m.is(s.To-1, lexicon.Finite) {
		return false
	}
	return !slices.ContainsFunc(m.Tokens[:s.From], func(t tokenize.Token) bool { return m.lex.Kin(t.Fold)&lexicon.ActionKinds() != 0 })
}

// isNoLonger reports whether a clause says that something is no longer so: ", ya no hace falta".
func isNoLonger(m *Message, from int, s *Segment) bool {
	return !s.starts && s.From > 0 && s.To-from > 2 && m.is(from, lexicon.Ending) && m.is(from+1, lexicon.Faint, lexicon.Negation)
}

// isNarrative reports whether a clause is about somebody or something else in the present or past:
// "the whole family caught the flu". Its nouns are no request words.
func isNarrative(m *Message, from int, s *Segment) bool {
	end := subjectEnd(m, from, s.To)
	for i := end; i > from && i < min(s.To-1, end+near); i++ {
		switch {
		case m.is(i, lexicon.Want, lexicon.Needing), m.inEntity[i], !m.word(i), m.Tokens[i].Break:
			return false
		case m.is(i, lexicon.Helps, lexicon.Past, lexicon.Did, lexicon.Reports), m.is(i, lexicon.Finite) && m.lex.Gerund(m.Tokens[i+1].Fold), isPastVerb(m, i, s.To):
			return m.is(i+1, lexicon.BeforeVerb) || !hasCommand(m, from, i+1, s.To) // an obligation of the subject: "Ana has to cancel …"
		case !m.isFunctionWord(i) && !adverbial(m.Tokens[i].Fold):
			return m.lex.Bends(m.language, m.Tokens[i].Fold) && m.is(i+1, lexicon.Article, lexicon.Third) && !hasCommand(m, from, i+1, s.To)
		}
	}
	return false
}

// longestSubject is the maximum length of a subject behind its article in words.
const longestSubject = 4

// subjectEnd returns the end of the subject of a clause, a name or a noun with an article; from if
// there is none.
func subjectEnd(m *Message, from, to int) int {
	end := from
	for end < to && m.Tokens[end].Is(tokenize.FormTitle|tokenize.FormCaps) && m.word(end) && !m.inEntity[end] && !m.isFunctionWord(end) && (end > from || m.kin(end) == 0 && (!m.bids(end) || m.is(end+1, lexicon.Helps, lexicon.Past, lexicon.Did))) {
		end++
	}
	if end > from {
		return end
	}
	if !m.is(from, lexicon.Article, lexicon.Mine) && !m.is(from, lexicon.Third) {
		return from
	}
	for i := from + 1; i < min(to, from+1+longestSubject); i++ {
		if m.isFunctionWord(i) || m.inEntity[i] || !m.word(i) || m.is(i, lexicon.Did) || m.lex.EndsInPast(m.language, m.Tokens[i].Word) {
			if i > from+1 {
				return i
			}
			return from
		}
	}
	return from
}

// hasCommand reports whether a request verb follows in a clause that is neither a noun nor in the
// past.
func hasCommand(m *Message, from, at, to int) bool {
	for i := at; i < to; i++ {
		helped := i > from && m.is(i-1, lexicon.Helps) // an auxiliary: "has changed", "a changé"
		if m.word(i) && m.kin(i) != 0 && m.bids(i) && !helped && !m.named(i) && !m.perfect(from, i) && !m.lex.Gerund(m.Tokens[i].Fold) {
			return true
		}
	}
	return false
}

// classifyFinite classifies a segment with a finite clause, which has a subject and a verb.
func (m *Message) classifyFinite(from int, s *Segment) SegmentKind {
	finite := m.is(from, lexicon.Subject) && !m.is(from, lexicon.Article) && s.To-from > 1 && !m.inEntity[from]
	inside := !s.starts && s.From > 0 && s.To-from > 2 && !m.has(from, lexicon.Negation, lexicon.Denial) && denied(m, from, s.To)
	for i := from; i < min(s.To, from+6) && !inside; i++ {
		inside = m.is(i, lexicon.Want, lexicon.Needing) && denied(m, from, s.To) // such as "Bruno does not need it any more"
	}
	dropped := inside || m.headFirst() && (m.is(from, lexicon.Finite) || denied(m, from, s.To) && s.To-from > 2 && !m.bids(from))
	for i := from + 1; i < min(s.To, from+7) && !finite; i++ {
		finite = i < s.To-1 && m.is(i, lexicon.Finite, lexicon.Reports, lexicon.Past) || s.starts && i > from+1 && m.is(from, lexicon.Article) && isPastVerb(m, i, s.To)
	}
	switch {
	case !finite && !dropped, m.has(from, lexicon.Asks), !hasContent(m, from, s.To): // ", but not al-7" is an exception
		return Open
	case m.past(from, s.To):
		return Past
	}
	return Statement
}

// hasContent reports whether a run contains a content word that is neither a name nor a value.
func hasContent(m *Message, from, to int) bool {
	for i := from; i < to; i++ {
		grammar := m.isFunctionWord(i) || m.isCoordinating(i) || m.has(i, lexicon.Negation, lexicon.Denial) || m.is(i, lexicon.Faint)
		if m.is(i, lexicon.Finite) || !grammar && m.word(i) && !m.inEntity[i] && !m.Tokens[i].Is(tokenize.FormTitle|tokenize.FormCaps) {
			return true
		}
	}
	return false
}

// isPastVerb reports whether a token is a verb in the past behind a noun: "the customer changed",
// "el cliente se arrepintió", "le client a changé".
func isPastVerb(m *Message, i, to int) bool {
	if !m.word(i) || m.inEntity[i] || m.Tokens[i].Named() {
		return false
	}
	if m.is(i, lexicon.Did) || m.is(i, lexicon.Helps) && i+1 < to && !m.isFunctionWord(i+1) {
		return true
	}
	return m.lex.EndsInPast(m.language, m.Tokens[i].Word) && !m.is(i-1, lexicon.Article) && (!m.isFunctionWord(i-1) || m.Tokens[i].Lower != m.Tokens[i].Fold)
}

// past reports whether a run is about the past.
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
		if m.has(i, lexicon.Negation) || m.has(i, lexicon.Ending) && m.is(from, lexicon.Subject) || faint && ends { // such as "ya no hace falta"
			return true
		}
	}
	return false
}
