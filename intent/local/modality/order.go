package modality

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// order marks statements that a later request refers to: "Ana will be on leave from Monday on,
// please enter that". They are requests then.
func order(m *Message) {
	for k := 1; k < len(m.Segments); k++ {
		if !isOrder(m, &m.Segments[k]) {
			continue
		}
		first := k
		for first > 0 && canBeOrdered(m, &m.Segments[first-1]) && (first == k || !m.Segments[first].starts) {
			first--
		}
		for i := first; i < k; i++ {
			s := &m.Segments[i]
			if s.Kind == Statement || s.Kind == Past {
				s.Kind = Open
			}
			for t := s.From; t < s.To; t++ {
				m.ordered[t] = s.Kind == Open && !m.frame[t]
			}
		}
	}
}

// isOrder reports whether a segment only says "please enter that".
func isOrder(m *Message, s *Segment) bool {
	if s.Kind != Courtesy {
		return false
	}
	for i := s.From; i < s.To; i++ {
		if hit, ok := lexicon.Find(&m.lex.Frames, m.Tokens[:s.To], i); ok && hit.Value == lexicon.FrameOrders {
			return true
		}
	}
	return false
}

// canBeOrdered reports whether a segment is a statement that a request can refer to: no command, no
// question, no negation and no reason.
func canBeOrdered(m *Message, s *Segment) bool {
	for i := s.From; i < s.To; i++ {
		if m.has(i, lexicon.Negation, lexicon.Denial, lexicon.Lacking) || m.is(i, lexicon.Faint, lexicon.Switches) {
			return false
		}
	}
	asks := s.To < len(m.Tokens) && strings.Contains(m.gap(s.To), "?")
	return !asks && s.Kind != Courtesy && s.Kind != Reason && !m.isConditional(s.From) && (s.Kind != Open || !m.commands(s.From, s.To))
}

// Ordered reports whether a run contains a statement that a later request refers to.
func (m *Message) Ordered(from, to int) bool {
	return slices.Contains(m.ordered[from:to], true)
}

// NamingPhrase returns the last token of a phrase that introduces a name, such as "under the
// name", or -1 if none begins at the token.
func NamingPhrase(m *Message, i int) int {
	if hit, ok := lexicon.Find(&m.lex.Frames, m.Tokens, i); ok && hit.Value == lexicon.FrameNames && m.word(i) {
		return i + hit.Tokens - 1
	}
	return -1
}

// MarkNaming sets read for the words from a token on that only introduce a name: "and call it".
func MarkNaming(m *Message, from int, read []bool) {
	for i := from; m != nil && i < from+len(read); i++ {
		if i > from && m.named(i) || !naming(m, i) {
			continue
		}
		at := i
		if m.isCoordinating(i) {
			at++
		}
		for last := NamingPhrase(m, at); i <= last && i < from+len(read); i++ {
			read[i-from] = true
		}
	}
}

// markConclusions marks a statement before a command that follows from it as a reason: "they keep
// mixing up the desks, so please rename one".
func markConclusions(m *Message) {
	for k := 1; k < len(m.Segments); k++ {
		s := &m.Segments[k]
		hit, ok := lexicon.Find(&m.lex.Reasons, m.Tokens, s.From)
		if !ok || hit.Value != lexicon.ReasonSo || s.Kind != Open || !m.commands(s.From+hit.Tokens, s.To) {
			continue
		}
		for before := k - 1; before >= 0 && !m.Segments[before+1].starts; before-- {
			if p := &m.Segments[before]; p.Kind == Open && !asksFor(m, p) {
				p.Kind = Statement
			}
		}
	}
}

// asksFor reports whether a segment begins like a request or a condition.
func asksFor(m *Message, s *Segment) bool {
	for i := s.From; i < s.To; i++ {
		if m.frame[i] || m.isCoordinating(i) || m.has(i, lexicon.Opening) {
			continue
		}
		return m.isConditional(i) || m.bids(i) || m.kin(i) != 0 || m.is(i, lexicon.Light) || m.has(i, lexicon.Asks) || m.wants(i, s.To)
	}
	return true
}

// IsAlternative reports whether a token follows a word such as "or".
func IsAlternative(m *Message, i int) bool {
	hit, ok := lexicon.Find(&m.lex.Operators, m.Tokens, max(i-1, 0))
	return ok && i > 0 && hit.Value == lexicon.Or && m.word(i-1)
}

// naming reports whether the tokens introduce a new name, with or without a leading "and": "…, and
// call it Desk".
func naming(m *Message, i int) bool {
	if m.isCoordinating(i) {
		i++
	}
	for k := 1; k < i; k++ {
		if m.is(k-1, lexicon.Relative) && m.has(k, lexicon.Utters) {
			return false // in "…that replies hello, name it Desk" the end of the speech is ambiguous
		}
	}
	last := NamingPhrase(m, i)
	return last > 0 && last+1 < len(m.Tokens) && !m.Tokens[last+1].Break && (m.Tokens[last+1].Named() || m.Tokens[last+1].Is(tokenize.FormQuoted))
}
