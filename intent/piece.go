package intent

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/internal/slot"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// maxPieces bounds into how many pieces a message is cut for reading.
const maxPieces = 12

// piece is a run of tokens between two signs or words that may separate
// requests.
type piece struct {
	from, to int
	// strong tells that the separator before the piece ends a sentence or says
	// "then"; a weak one, such as "and", often joins values.
	strong bool
	// sequence tells that the piece is to be done after the one before, reverse
	// that it is to be done first.
	sequence bool
	reverse  bool
	// contrast tells that a negation before does not reach the piece.
	contrast bool
	// sentence counts the sentences.
	sentence int
}

// separator is a word or several that may stand between requests.
type separator struct {
	words    []string
	strong   bool
	sequence bool
	reverse  bool
	contrast bool
}

func separators() []separator {
	var out []separator
	add := func(s separator, phrases ...string) {
		for _, p := range phrases {
			s.words = strings.Fields(p)
			out = append(out, s)
		}
	}
	add(separator{strong: true, sequence: true},
		"and then", "and after that", "and afterwards", "and finally", "then", "after that", "afterwards", "after which", "finally", "subsequently",
		"e depois", "e em seguida", "em seguida", "depois disso", "und dann", "dann", "danach", "anschliessend", "y luego", "luego", "y despues", "et puis", "puis", "ensuite")
	add(separator{contrast: true}, "but", "instead", "mas", "pero", "aber", "mais")
	add(separator{}, "and also", "as well as", "also", "and", "plus", "e tambem", "tambem", "e", "y", "und", "et", "ou", "or")
	add(separator{sequence: true}, "before", "antes de", "bevor")
	add(separator{reverse: true}, "after", "depois de", "nachdem")
	slices.SortStableFunc(out, func(a, b separator) int { return len(b.words) - len(a.words) })
	return out
}

// pieces cuts a message. Weak separators count only where the words behind
// them could belong to a request.
func (x *Index) pieces(m *slot.Message) []piece {
	var out []piece
	seps := separators()
	current := piece{}
	end := func(to int) {
		current.to = to
		if to > current.from {
			out = append(out, current)
		}
	}
	for i := 0; i < len(m.Tokens); {
		next, width, ok := boundary(m, i, seps)
		if !ok {
			i++
			continue
		}
		end(i)
		if current.to <= current.from {
			next = merge(current, next)
		}
		next.from, next.sentence = i+width, current.sentence+next.sentence
		current = next
		i = max(i+width, i+1)
		if width == 0 {
			i = current.from + 1
		}
	}
	end(len(m.Tokens))
	return x.join(m, out)
}

// merge keeps what both of two separators in a row say.
func merge(a, b piece) piece {
	b.strong = b.strong || a.strong
	b.sequence = b.sequence || a.sequence
	b.reverse = b.reverse || a.reverse
	b.contrast = b.contrast || a.contrast
	return b
}

// boundary tells whether a piece can begin at token i, and how many tokens the
// separating words have.
func boundary(m *slot.Message, i int, seps []separator) (p piece, width int, ok bool) {
	t := m.Tokens[i]
	if t.Is(text.FormQuoted) {
		return piece{}, 0, false
	}
	gap := ""
	if i > 0 {
		gap = m.Src[m.Tokens[i-1].End:t.Start]
	}
	switch {
	case i == 0:
	case strings.ContainsAny(gap, ";\n") || t.Is(text.FormFirst) && !abbreviated(m.Tokens[i-1], gap):
		p, ok = piece{strong: true, sentence: 1}, true
	case strings.ContainsAny(gap, ",，、") && !t.Glued:
		ok = true
	}
	for _, s := range seps {
		if !saysAt(m.Tokens, i, s.words) || i == 0 && !s.reverse && !s.sequence {
			continue
		}
		if (s.reverse || s.words[0] == "before") && !verbFollows(m.Tokens, i+len(s.words)) {
			continue
		}
		p.strong = p.strong || s.strong
		p.sequence, p.reverse, p.contrast = s.sequence, s.reverse, s.contrast
		return p, len(s.words), true
	}
	return p, 0, ok
}

// abbreviated tells a dot that ends no sentence: "Dr. Souza".
func abbreviated(before text.Token, gap string) bool {
	if strings.TrimSpace(gap) != "." {
		return false
	}
	switch before.Fold {
	case "dr", "mr", "mrs", "ms", "st", "prof", "sr", "sra", "vs", "no", "eg", "ie", "approx", "jr":
		return true
	}
	return len(before.Fold) == 1 && !before.Is(text.FormDigits)
}

func saysAt(tokens []text.Token, i int, words []string) bool {
	if i+len(words) > len(tokens) {
		return false
	}
	for k, w := range words {
		if tokens[i+k].Fold != w || k > 0 && tokens[i+k].Break || tokens[i+k].Glued {
			return false
		}
	}
	return true
}

// verbFollows tells "before requesting" from "before Monday".
func verbFollows(tokens []text.Token, i int) bool {
	if i >= len(tokens) {
		return false
	}
	f := tokens[i].Fold
	return strings.HasSuffix(f, "ing") && len(f) > 5 || f == "you" || f == "i" || f == "we"
}

// join puts pieces back together that cannot be requests of their own.
func (x *Index) join(m *slot.Message, pieces []piece) []piece {
	weak := len(pieces) <= maxPieces
	var out []piece
	for _, p := range pieces {
		if len(out) > 0 && !p.strong && (!weak || !x.speaks(m.Tokens[p.from:p.to])) {
			out[len(out)-1].to = p.to
			continue
		}
		out = append(out, p)
	}
	return out
}

// speaks tells whether a run of tokens has a word of some request in it, not
// only values.
func (x *Index) speaks(tokens []text.Token) bool {
	for _, t := range tokens {
		if t.Is(text.FormSign) || x.heads[t.Stem] && !x.tools.Lexicon.Light(t.Fold) && !t.Is(text.FormCaps|text.FormMixed|text.FormDigits) {
			return true
		}
	}
	return false
}

// empty tells greetings and other runs without content.
func (x *Index) empty(tokens []text.Token) bool {
	return !slices.ContainsFunc(tokens, func(t text.Token) bool { return !x.tools.Lexicon.Light(t.Fold) })
}
