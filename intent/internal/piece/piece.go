package piece

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/mood"
	"github.com/manifold-run/manifold/intent/internal/slot"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// Most bounds into how many pieces a message is cut for reading.
const Most = 12

// Piece is a run of tokens between two signs or words that may separate
// requests.
type Piece struct {
	From, To int
	Joint
	// Sentence counts the sentences.
	Sentence int
}

// Joint is what the words before a piece say of it.
type Joint struct {
	// Strong tells that the separator ends a sentence or says "then"; a weak one,
	// such as "and", often joins values.
	Strong bool
	// Sequence tells that the piece is to be done after the one before, Reverse
	// that it is to be done first.
	Sequence bool
	Reverse  bool
	// Subordinate tells that the piece is a clause such as "before you …".
	Subordinate bool
	// Contrast tells that a negation before does not reach the piece.
	Contrast bool
	// Main tells that the piece is what a clause such as "before you …" was said
	// of, or "then" and a verb. It is a request of its own, whatever it reads like
	// together with others.
	Main bool
}

// separator is a word or several that may stand between requests.
type separator struct {
	words []string
	Joint
}

// Cutter cuts messages into pieces that may be requests of their own.
type Cutter struct {
	// Lexicon has the words of the languages.
	Lexicon *text.Lexicon
	// Heads are the stems that say what is asked for, in any capability, Openers the
	// words that examples begin with, Values those of known values.
	Heads, Openers, Values map[string]bool

	separators map[string][]separator
}

// NewCutter makes a cutter that knows no capability yet.
func NewCutter(lexicon *text.Lexicon) Cutter {
	return Cutter{Lexicon: lexicon, Heads: map[string]bool{}, Openers: map[string]bool{}, Values: map[string]bool{}, separators: separators()}
}

// separators are those of English, Portuguese, Spanish, German and French by
// their first word, the longest first.
func separators() map[string][]separator {
	out := map[string][]separator{}
	add := func(j Joint, phrases ...string) {
		for _, p := range phrases {
			words := strings.Fields(p)
			out[words[0]] = append(out[words[0]], separator{words, j})
		}
	}
	add(Joint{Strong: true, Sequence: true},
		"and then", "and after that", "and afterwards", "and finally", "then", "after that", "afterwards", "after which", "finally", "subsequently",
		"e depois", "e em seguida", "em seguida", "depois disso", "depois", "e entao", "a seguir", "e por fim", "por fim",
		"y luego", "luego", "y despues", "despues", "y entonces", "y por ultimo", "por ultimo", "finalmente",
		"und dann", "dann", "und danach", "danach", "und anschliessend", "anschliessend", "hinterher", "zum schluss",
		"et puis", "puis", "et ensuite", "ensuite", "et apres", "apres cela", "apres ca", "et enfin", "enfin", "pour finir")
	add(Joint{Contrast: true}, "but", "instead", "mas", "pero", "aber", "mais")
	add(Joint{}, "and also", "as well as", "also", "and", "plus", "e tambem", "tambem", "e", "y tambien", "tambien", "y", "und auch", "und", "et aussi", "et", "ou", "or")
	add(Joint{Sequence: true, Subordinate: true}, "before", "antes de", "antes que", "bevor", "ehe", "avant de", "avant d", "avant que")
	add(Joint{Reverse: true, Subordinate: true}, "after", "depois de", "depois que", "despues de", "despues que", "nachdem", "apres avoir", "apres que")
	for _, seps := range out {
		slices.SortStableFunc(seps, func(a, b separator) int { return len(b.words) - len(a.words) })
	}
	return out
}

// Cut cuts a message. Weak separators count only where the words behind
// them could belong to a request.
func (x *Cutter) Cut(m *slot.Message) []Piece {
	var out []Piece
	current := Piece{}
	end := func(to int) {
		current.To = to
		if to > current.From {
			out = append(out, current)
		}
	}
	for i := 0; i < len(m.Tokens); {
		next, width, ok := boundary(m, i, x.separators)
		if ok && next.within(m.Tokens, current.From, i, width) {
			if len(out) > 0 {
				current.Strong, current.Sequence = true, true
			}
			ok = false
		}
		if !ok {
			i++
			continue
		}
		end(i)
		if current.To <= current.From {
			next.Joint = merge(current.Joint, next.Joint)
		}
		next.From, next.Sentence = i+width, current.Sentence+next.Sentence
		current = next
		i = max(i+width, i+1)
		if width == 0 {
			i = current.From + 1
		}
	}
	end(len(m.Tokens))
	return lead(x.turns(m, x.join(m, out)))
}

// turns marks the pieces that say "then" and begin as requests do.
func (x *Cutter) turns(m *slot.Message, pieces []Piece) []Piece {
	for k := range pieces {
		p := &pieces[k]
		p.Main = k > 0 && p.Sequence && !p.Subordinate && x.Bids(m.Tokens[p.From])
	}
	return pieces
}

// Bids tells a word that requests begin with.
func (x *Cutter) Bids(t text.Token) bool {
	return x.Lexicon.Kin(t.Fold) != 0 || text.Asks(t.Fold) || x.Openers[t.Fold] && !x.Lexicon.Light(t.Fold)
}

// within tells a "then" behind the verb of its own clause, as German has it:
// "und zeig danach …".
func (j Joint) within(tokens []text.Token, from, i, width int) bool {
	return width == 1 && j.Sequence && !j.Subordinate && i > from && i-from <= 2 && !tokens[i].Break
}

// lead turns a clause such as "before you …" around where it opens its sentence:
// what it says of itself is said of the clause behind it.
func lead(pieces []Piece) []Piece {
	for k := range pieces[:max(len(pieces)-1, 0)] {
		p, next := &pieces[k], &pieces[k+1]
		opens := k == 0 || pieces[k-1].Sentence != p.Sentence
		if !opens || !p.Subordinate || next.Sentence != p.Sentence {
			continue
		}
		next.Strong, next.Main = true, true
		next.Sequence, next.Reverse = p.Reverse, p.Sequence
		p.Sequence, p.Reverse = false, false
	}
	return pieces
}

// merge keeps what both of two separators in a row say.
func merge(a, b Joint) Joint {
	return Joint{
		Strong: a.Strong || b.Strong, Sequence: a.Sequence || b.Sequence, Reverse: a.Reverse || b.Reverse,
		Subordinate: a.Subordinate || b.Subordinate, Contrast: a.Contrast || b.Contrast,
	}
}

// boundary tells whether a piece can begin at token i, and how many tokens the
// separating words have.
func boundary(m *slot.Message, i int, seps map[string][]separator) (p Piece, width int, ok bool) {
	t := m.Tokens[i]
	if t.Is(text.FormQuoted) {
		return Piece{}, 0, false
	}
	gap := ""
	if i > 0 {
		gap = m.Src[m.Tokens[i-1].End:t.Start]
	}
	switch {
	case i == 0:
	case strings.ContainsAny(gap, ";\n") || t.Is(text.FormFirst) && !abbreviated(m.Tokens[i-1], gap):
		p, ok = Piece{Joint: Joint{Strong: true}, Sentence: 1}, true
	case strings.ContainsAny(gap, ",，、") && !t.Glued:
		ok = true
	}
	for _, s := range seps[t.Fold] {
		if !saysAt(m.Tokens, i, s.words) || i == 0 && !s.Reverse && !s.Sequence {
			continue
		}
		if !s.stands(m, i) {
			continue
		}
		strong := p.Strong || s.Strong
		p.Joint, p.Strong = s.Joint, strong
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

// stands tells whether the words of a separator at token i mean what they
// mean between requests.
func (s *separator) stands(m *slot.Message, i int) bool {
	tokens := m.Tokens
	behind := tokens[i+len(s.words):]
	switch last := s.words[len(s.words)-1]; {
	case s.Subordinate:
		return verbFollows(last, behind)
	case last == "e", last == "ou", last == "mas" && tokens[i].Break:
		return strings.EqualFold(m.Src[tokens[i].Start:tokens[i].End], last) // no "é", "où", "más"
	case last == "y":
		return len(behind) == 0 || behind[0].Fold != "a" || len(behind) > 1 && behind[1].Fold != "t" && (i == 0 || tokens[i-1].Fold != "il" && !tokens[i].Glued) // no "y a-t-il"
	case last == "depois" || last == "despues":
		return len(behind) == 0 || !slices.Contains([]string{"de", "del", "da", "do", "das", "dos", "que", "d"}, behind[0].Fold)
	case last == "mais", last == "mas": // "more", too
		return tokens[i].Break
	}
	return true
}

// verbFollows tells "before requesting" from "before Monday", given the last
// word of the separator and what stands behind it.
func verbFollows(last string, behind []text.Token) bool {
	switch last {
	case "bevor", "ehe", "nachdem", "que", "avoir":
		return true
	case "de", "d":
		return slices.ContainsFunc(behind[:min(len(behind), 3)], func(t text.Token) bool { return infinitive(t.Fold) })
	}
	return len(behind) > 0 && (mood.Gerund(behind[0].Fold) || slices.Contains([]string{"you", "i", "we"}, behind[0].Fold))
}

// infinitive tells verbs such as "apagar", "borrarla", "annuler" and "mettre".
func infinitive(fold string) bool {
	for _, pronoun := range []string{"lo", "la", "los", "las"} {
		fold = strings.TrimSuffix(fold, pronoun)
	}
	return len(fold) > 3 && slices.Contains([]string{"ar", "er", "ir", "re"}, fold[len(fold)-2:])
}

// join puts pieces back together that cannot be requests of their own.
func (x *Cutter) join(m *slot.Message, pieces []Piece) []Piece {
	weak := len(pieces) <= Most
	var out []Piece
	for _, p := range pieces {
		if len(out) > 0 && !p.Strong && (!weak || !x.speaks(m.Tokens[p.From:p.To]) || x.another(m.Tokens, out[len(out)-1], p)) {
			out[len(out)-1].To = p.To
			continue
		}
		out = append(out, p)
	}
	return out
}

// listed is how many words a value has at most that is listed behind a preposition.
const listed = 3

// another tells one more value behind the preposition of the one before: "to sales and
// to operations".
func (x *Cutter) another(tokens []text.Token, before, p Piece) bool {
	first := tokens[p.From]
	if p.To-p.From < 2 || p.To-p.From > 1+listed || !first.Has(lang.Function) || p.Sequence || p.Subordinate {
		return false
	}
	for _, t := range tokens[p.From+1 : p.To] {
		if t.Break || !t.Named() && !t.Is(text.FormDigits) && !x.Values[t.Fold] {
			return false
		}
	}
	return slices.ContainsFunc(tokens[before.From:before.To], func(t text.Token) bool { return t.Fold == first.Fold })
}

// speaks tells whether a run of tokens has a word of some request in it, not
// only values.
func (x *Cutter) speaks(tokens []text.Token) bool {
	for _, t := range tokens {
		if t.Is(text.FormSign) || x.Heads[t.Stem] && !x.Lexicon.Light(t.Fold) && !t.Is(text.FormCaps|text.FormMixed|text.FormDigits) {
			return true
		}
	}
	return false
}

// Empty tells greetings and other runs without content.
func (x *Cutter) Empty(tokens []text.Token) bool {
	return !slices.ContainsFunc(tokens, func(t text.Token) bool { return !x.Lexicon.Light(t.Fold) })
}
