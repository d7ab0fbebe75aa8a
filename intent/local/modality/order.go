package modality

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// order finds what is told and then asked for: "Ana will be on leave from Monday on, please
// enter that". It is no story any more, but what somebody wants.
func order(m *Message) {
	for k := 1; k < len(m.Segments); k++ {
		if !orderly(m, &m.Segments[k]) {
			continue
		}
		first := k
		for first > 0 && wantable(m, &m.Segments[first-1]) && (first == k || !m.Segments[first].starts) {
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

// orderly tells a segment that says nothing but "please enter that".
func orderly(m *Message, s *Segment) bool {
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

// wantable tells a segment that commands nothing, hangs on nothing and denies nothing.
func wantable(m *Message, s *Segment) bool {
	for i := s.From; i < s.To; i++ {
		if m.has(i, lexicon.Negation, lexicon.Denial, lexicon.Lacking) || m.is(i, lexicon.Faint, lexicon.Switches) {
			return false
		}
	}
	asks := s.To < len(m.Tokens) && strings.Contains(m.gap(s.To), "?")
	return !asks && s.Kind != Courtesy && s.Kind != Reason && !m.supposes(s.From) && (s.Kind != Open || !m.commands(s.From, s.To))
}

// Ordered reports whether a run is told and asked for by what stands behind it.
func (m *Message) Ordered(from, to int) bool {
	return slices.Contains(m.ordered[from:to], true)
}

// NamingPhrase gives the last token of a phrase at a place behind which stands how something is to be
// called, such as "under the name"; -1 if none begins there.
func NamingPhrase(m *Message, i int) int {
	if hit, ok := lexicon.Find(&m.lex.Frames, m.Tokens, i); ok && hit.Value == lexicon.FrameNames && m.word(i) {
		return i + hit.Tokens - 1
	}
	return -1
}

// MarkNaming marks the words of a run from a token on that only say that a name comes next, in what
// is read of it: "and call it".
func MarkNaming(m *Message, from int, read []bool) {
	for i := from; m != nil && i < from+len(read); i++ {
		if i > from && m.named(i) || !naming(m, i) {
			continue
		}
		at := i
		if m.couples(i) {
			at++
		}
		for last := NamingPhrase(m, at); i <= last && i < from+len(read); i++ {
			read[i-from] = true
		}
	}
}

// conclude finds what is told before a command that follows from it: "they keep mixing up the
// desks, so please rename one".
func conclude(m *Message) {
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

// asksFor tells a segment that begins as requests and conditions do.
func asksFor(m *Message, s *Segment) bool {
	for i := s.From; i < s.To; i++ {
		if m.frame[i] || m.couples(i) || m.has(i, lexicon.Opening) {
			continue
		}
		return m.supposes(i) || m.bids(i) || m.kin(i) != 0 || m.is(i, lexicon.Light) || m.has(i, lexicon.Asks) || m.wants(i, s.To)
	}
	return true
}

// IsAlternative tells what stands behind a word such as "or": it is the other of two.
func IsAlternative(m *Message, i int) bool {
	hit, ok := lexicon.Find(&m.lex.Operators, m.Tokens, max(i-1, 0))
	return ok && i > 0 && hit.Value == lexicon.Or && m.word(i-1)
}

// naming tells a place at which it goes on with how what was asked for shall be called, with a
// word such as "and" before it or without: "…, and call it Desk".
func naming(m *Message, i int) bool {
	if m.couples(i) {
		i++
	}
	for k := 1; k < i; k++ {
		if m.is(k-1, lexicon.Relative) && m.has(k, lexicon.Utters) {
			return false // "…that replies hello, name it Desk": where what it says ends is not plain
		}
	}
	last := NamingPhrase(m, i)
	return last > 0 && last+1 < len(m.Tokens) && !m.Tokens[last+1].Break && (m.Tokens[last+1].Named() || m.Tokens[last+1].Is(tokenize.FormQuoted))
}
