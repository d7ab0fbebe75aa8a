package modality

import (
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// isExplanation reports whether a segment is a statement behind a command, whatever nouns it has:
// "today's edit broke it", "the desk itself stays", "ist mit dem Team abgestimmt". It contains no
// operator, no value and no name.
func isExplanation(m *Message, from int, s *Segment) bool {
	if !followsCommand(m, s) || isFollowedByQuestionMark(m, s) || !isBareStatement(m, from, s.To) {
		return false
	}
	verb := from
	for verb < s.To && !m.is(verb, lexicon.Finite, lexicon.Helps, lexicon.Past, lexicon.Did, lexicon.Lasting) && (verb == from || !isPastVerb(m, verb, s.To)) {
		verb++
	}
	switch {
	case verb == s.To || m.is(verb, lexicon.BeforeVerb, lexicon.Ought):
		return false
	case verb == from:
		return isElided(m, from, s)
	}
	return subject(m, from, verb) && !hasCommand(m, from, verb+1, s.To) && (verb+1 < s.To || m.is(verb, lexicon.Lasting))
}

// followsCommand reports whether a segment begins a new clause after a command.
func followsCommand(m *Message, s *Segment) bool {
	for k := range m.Segments {
		if o := &m.Segments[k]; o.To <= s.From && o.Kind == Open && !m.isConditional(o.From) {
			return s.starts || strings.ContainsAny(m.gap(s.From), ",–—") || strings.Contains(m.gap(s.From), " - ")
		}
	}
	return false
}

// isFollowedByQuestionMark reports whether a question mark follows a segment.
func isFollowedByQuestionMark(m *Message, s *Segment) bool {
	end := len(m.Src)
	if s.To < len(m.Tokens) {
		end = m.Tokens[s.To].Start
	}
	return strings.Contains(m.Src[m.Tokens[s.To-1].End:end], "?")
}

// isBareStatement reports whether a run has no operator, negation, value or name, and no pronoun
// for another thing of the same kind: "the blue one stays" is an exception.
func isBareStatement(m *Message, from, to int) bool {
	for i := from; i < to; i++ {
		t := m.Tokens[i]
		if !m.word(i) || m.inEntity[i] || t.Is(tokenize.FormCaps|tokenize.FormMixed|tokenize.FormDigits) || t.Is(tokenize.FormTitle) && i > from && !m.lex.Languages[m.language].Capitalises {
			return false
		}
		if m.has(i, lexicon.Negation, lexicon.Denial, lexicon.Lacking, lexicon.Condition) || m.is(i, lexicon.Faint, lexicon.Switches, lexicon.Want, lexicon.Needing, lexicon.Anaphor, lexicon.Asks, lexicon.Reports) {
			return false
		}
		if _, ok := lexicon.FindIn(&m.lex.Operators, m.Tokens[:to], i, m.languages.At(i).Possible); ok {
			return false
		}
	}
	return to-from > 1
}

// isElided reports whether a clause begins with its verb and omits its subject without being a
// question: "Ist abgestimmt". This applies to German; other languages are recognised by the verb.
func isElided(m *Message, from int, s *Segment) bool {
	return s.starts && m.lex.Languages[m.language].Capitalises && s.To-from > 1 &&
		!m.is(from+1, lexicon.Article, lexicon.Subject, lexicon.Pronoun) && !m.Tokens[from+1].Is(tokenize.FormTitle) && !hasCommand(m, from, from+1, s.To)
}

// subject reports whether a run is the subject of a statement: it has a noun, and only its last
// word may also be a request verb.
func subject(m *Message, from, to int) bool {
	noun := false
	for i := from; i < to; i++ {
		noun = noun || !m.isFunctionWord(i)
		verb := m.kin(i) != 0 && !m.named(i)
		if verb && (i == from || i+1 < to && !m.isFunctionWord(i+1)) || m.bids(i) && i == from && !m.isFunctionWord(i) {
			return false
		}
	}
	return noun
}

// markReplaced marks the value that a change replaces. For a capability that changes something it is
// shown as not used, else it is binding, since it may be a separate request.
func markReplaced(a *roleReading, s Segment) {
	for i := s.From; i < s.To; i++ {
		hit, ok := lexicon.Find(&a.m.lex.Frames, a.m.Tokens[:s.To], i)
		if !ok || hit.Value != lexicon.FrameReplaced || !a.m.frame[i] {
			continue
		}
		class := contracts.WordUnresolved
		if a.kinds&lexicon.KindOf("change") != 0 {
			class = contracts.WordUnused
		}
		a.set(i, i+hit.Tokens, class)
	}
}

// isDictated reports whether a segment follows a colon after a command to tell or write something.
// It is the text then, even if it reads like a statement.
func isDictated(m *Message, s *Segment) bool {
	from := s.From
	for k := len(m.Segments) - 1; k >= 0 && !s.starts; k-- {
		o := &m.Segments[k]
		if o.To == from && strings.Contains(m.gap(from), ":") {
			return o.Kind == Open && dictates(m, o)
		}
		if o.To == from && o.starts {
			return false
		}
		if o.To == from {
			from = o.From
		}
	}
	return false
}

// dictates reports whether a segment asks to tell or write something.
func dictates(m *Message, s *Segment) bool {
	for i := s.From; i < s.To; i++ {
		if m.word(i) && !m.named(i) && (m.is(i, lexicon.Tells) || m.kin(i)&(lexicon.KindOf("send")|lexicon.KindOf("notify")) != 0) {
			return true
		}
	}
	return false
}

// longestName is the maximum distance of a name from the phrase "under the name" in tokens.
const longestName = 4

// NameEnd returns the last token of a name that begins right behind such a phrase and extends to
// the end of its clause, as in "under the name Customer help, …"; or -1.
func NameEnd(m *Message, first, next int) int {
	named := false
	for i := max(0, first-longestNaming); i < first && !named; i++ {
		named = NamingPhrase(m, i) == first-1
	}
	end := next
	for named && end < len(m.Tokens) && !m.Tokens[end].Break && !m.Tokens[end].Is(tokenize.FormFirst) && !m.isCoordinating(end) && !m.reason(end) && !m.frame[end] {
		if _, ok := lexicon.FindIn(&m.lex.Operators, m.Tokens, end, m.languages.At(end).Possible); ok || !m.word(end) || m.inEntity[end] || m.bids(end) && m.kin(end) != 0 {
			return -1
		}
		end++
	}
	if !named || end == next || end-first > longestName {
		return -1
	}
	return end - 1
}
