package modality

import (
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// explains tells a clause of its own behind a command that says what is so, whatever nouns it
// has: "today's edit broke it", "the desk itself stays", "ist mit dem Team abgestimmt". It
// asks for nothing, and so has no operator, no value and no name in it.
func explains(m *Message, from int, s *Segment) bool {
	if !follows(m, s) || questions(m, s) || !bare(m, from, s.To) {
		return false
	}
	verb := from
	for verb < s.To && !m.is(verb, lexicon.Finite, lexicon.Helps, lexicon.Past, lexicon.Did, lexicon.Lasting) && (verb == from || !came(m, verb, s.To)) {
		verb++
	}
	switch {
	case verb == s.To || m.is(verb, lexicon.BeforeVerb, lexicon.Ought):
		return false
	case verb == from:
		return elided(m, from, s)
	}
	return subject(m, from, verb) && !orders(m, from, verb+1, s.To) && (verb+1 < s.To || m.is(verb, lexicon.Lasting))
}

// follows tells a segment with a clause of its own behind one that asks for something.
func follows(m *Message, s *Segment) bool {
	for k := range m.Segments {
		if o := &m.Segments[k]; o.To <= s.From && o.Kind == Open && !m.supposes(o.From) {
			return s.starts || strings.ContainsAny(m.gap(s.From), ",–—") || strings.Contains(m.gap(s.From), " - ")
		}
	}
	return false
}

// questions tells a segment with a question mark behind it.
func questions(m *Message, s *Segment) bool {
	end := len(m.Src)
	if s.To < len(m.Tokens) {
		end = m.Tokens[s.To].Start
	}
	return strings.Contains(m.Src[m.Tokens[s.To-1].End:end], "?")
}

// bare tells a run without an operator, a negation, a value or a name, and of nothing that
// stands for another thing of the kind that was said: "the blue one stays" excepts.
func bare(m *Message, from, to int) bool {
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

// elided tells a clause that begins with its verb and leaves out of what it is said, as nobody
// asks in it: "Ist abgestimmt". Others do so in any clause, and are told by their verb.
func elided(m *Message, from int, s *Segment) bool {
	return s.starts && m.lex.Languages[m.language].Capitalises && s.To-from > 1 &&
		!m.is(from+1, lexicon.Article, lexicon.Subject, lexicon.Pronoun) && !m.Tokens[from+1].Is(tokenize.FormTitle) && !orders(m, from, from+1, s.To)
}

// subject tells a run of who or what something is told of: it has a noun, and only the last
// of its words may be the verb of a request somewhere else, as a noun.
func subject(m *Message, from, to int) bool {
	noun := false
	for i := from; i < to; i++ {
		noun = noun || !m.light(i)
		verb := m.kin(i) != 0 && !m.named(i)
		if verb && (i == from || i+1 < to && !m.light(i+1)) || m.bids(i) && i == from && !m.light(i) {
			return false
		}
	}
	return noun
}

// replaced accounts for what makes room for the new value of a change: it is shown as not used,
// and where nothing is changed it binds, since it may be a request of its own.
func replaced(a *roleReading, s Segment) {
	for i := s.From; i < s.To; i++ {
		hit, ok := lexicon.Find(&a.m.lex.Frames, a.m.Tokens[:s.To], i)
		if !ok || hit.Value != lexicon.FrameReplaced || !a.m.frame[i] {
			continue
		}
		class := contracts.WordBinding
		if a.kinds&lexicon.KindOf("change") != 0 {
			class = contracts.WordBeside
		}
		a.set(i, i+hit.Tokens, class)
	}
}

// dictated tells what stands behind a colon where something is to be told: it is the text, even
// if it reads like a clause that only tells something.
func dictated(m *Message, s *Segment) bool {
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

// dictates tells a segment that asks to tell or to write something.
func dictates(m *Message, s *Segment) bool {
	for i := s.From; i < s.To; i++ {
		if m.word(i) && !m.named(i) && (m.is(i, lexicon.Tells) || m.kin(i)&(lexicon.KindOf("send")|lexicon.KindOf("notify")) != 0) {
			return true
		}
	}
	return false
}

// longestName is how many words the name has at most that stands behind a phrase such as "under
// the name".
const longestName = 4

// NameEnd gives the last token of a name that begins right behind such a phrase and runs to the
// end of its clause, "under the name Customer help, …"; -1 if none does.
func NameEnd(m *Message, first, next int) int {
	named := false
	for i := max(0, first-longestNaming); i < first && !named; i++ {
		named = NamingPhrase(m, i) == first-1
	}
	end := next
	for named && end < len(m.Tokens) && !m.Tokens[end].Break && !m.Tokens[end].Is(tokenize.FormFirst) && !m.couples(end) && !m.reason(end) && !m.frame[end] {
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
