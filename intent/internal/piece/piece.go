// Package piece cuts a message into runs of words that may be requests of their own.
package piece

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/mood"
	"github.com/manifold-run/manifold/intent/internal/slot"
	"github.com/manifold-run/manifold/intent/internal/text"
	"github.com/manifold-run/manifold/intent/internal/value"
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

// Cutter cuts messages into pieces that may be requests of their own.
type Cutter struct {
	// Lexicon has the words of the languages.
	Lexicon *text.Lexicon
	// Heads are the stems that say what is asked for, in any capability, Openers the
	// words that examples begin with, Values those of known values.
	Heads, Openers, Values map[string]bool
}

// NewCutter makes a cutter that knows no capability yet.
func NewCutter(lexicon *text.Lexicon) Cutter {
	return Cutter{Lexicon: lexicon, Heads: map[string]bool{}, Openers: map[string]bool{}, Values: map[string]bool{}}
}

// jointOf is what a separator says of the piece behind it.
func jointOf(j lang.Joint) Joint {
	switch j {
	case lang.JointThen:
		return Joint{Strong: true, Sequence: true}
	case lang.JointContrast:
		return Joint{Contrast: true}
	case lang.JointBefore:
		return Joint{Sequence: true, Subordinate: true}
	case lang.JointAfter:
		return Joint{Reverse: true, Subordinate: true}
	case lang.JointAnd:
	}
	return Joint{}
}

// Cut cuts a message. Weak separators count only where the words behind
// them could belong to a request.
func (x *Cutter) Cut(m *slot.Message) []Piece {
	var out []Piece
	current := Piece{}
	numbers := text.Numbered(m.Src, m.Tokens, func(i int) bool {
		return slices.ContainsFunc(m.Entities, func(e value.Entity) bool { return e.First < e.Last && e.First <= i && i <= e.Last })
	})
	end := func(to int) {
		current.To = to
		if to > current.From {
			out = append(out, current)
		}
	}
	for i := 0; i < len(m.Tokens); {
		next, width, ok := x.boundary(m, i)
		if numbers[i] {
			next, width, ok = Piece{Joint: Joint{Strong: true}, Sentence: 1}, 1, true
		}
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
func (x *Cutter) boundary(m *slot.Message, i int) (p Piece, width int, ok bool) {
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
	case x.names(m.Tokens, i), between(m.Entities, i):
		return Piece{}, 0, false
	case strings.ContainsAny(gap, ";\n") || t.Is(text.FormFirst) && !abbreviated(m.Tokens[i-1], gap):
		p, ok = Piece{Joint: Joint{Strong: true}, Sentence: 1}, true
	case strings.ContainsAny(gap, ",，、") && !t.Glued, strings.Contains(gap, " + "):
		ok = true
	}
	hit, found := lang.Find(&x.Lexicon.Separators, m.Tokens, i)
	if weak := hit.Value == lang.JointAnd && hit.Tokens == 1; !p.Strong && (weak || !found && ok) && x.sameCodes(m, i, i+hit.Tokens) {
		return p, 0, false
	}
	said := jointOf(hit.Value)
	if !found || i == 0 && !said.Reverse && !said.Sequence || !whole(m.Tokens[i:i+hit.Tokens]) || !stands(m, hit, i) {
		return p, 0, ok
	}
	said.Strong = said.Strong || p.Strong
	p.Joint = said
	return p, hit.Tokens, true
}

// names tells words behind which stands how what was asked for shall be called, with a word
// such as "and" before them or without: "…, and call it Desk".
func (x *Cutter) names(tokens []text.Token, i int) bool {
	if hit, ok := lang.Find(&x.Lexicon.Separators, tokens, i); ok && hit.Value == lang.JointAnd {
		i += hit.Tokens
	}
	hit, ok := lang.Find(&x.Lexicon.Frames, tokens, i)
	next := i + hit.Tokens
	return ok && hit.Value == lang.FrameNames && next < len(tokens) && !tokens[next].Break && (tokens[next].Named() || tokens[next].Is(text.FormQuoted))
}

// between tells a place between the two ends of a period: "between today and Friday".
func between(entities []value.Entity, i int) bool {
	for k, e := range entities[:max(len(entities)-1, 0)] {
		if next := entities[k+1]; e.Edge == value.Start && next.Edge == value.End && e.First < i && i <= next.First {
			return true
		}
	}
	return false
}

// sameCodes tells two codes of one form with nothing but a separator and an article between,
// of which nothing more is said: "R-204 and R-311, the fair is off".
func (x *Cutter) sameCodes(m *slot.Message, i, behind int) bool {
	if i == 0 || behind >= len(m.Tokens) {
		return false
	}
	if m.Tokens[behind].Has(lang.Article) && behind+1 < len(m.Tokens) {
		behind++
	}
	a, one := m.ChunkOf(i - 1)
	b, two := m.ChunkAt(behind)
	if !one || !two || a.Last != i-1 || form(a.Text) == "" || form(a.Text) != form(b.Text) {
		return false
	}
	next := b.Last + 1
	return next >= len(m.Tokens) || m.Tokens[next].Break || m.Tokens[next].Has(lang.Joins)
}

// form is a code without the digits at its end, "" for what is none.
func form(code string) string {
	letters := strings.TrimRight(code, "0123456789")
	if letters == code {
		return ""
	}
	return strings.ToUpper(letters)
}

// whole tells words without a sign between them, none of which is part of another.
func whole(tokens []text.Token) bool {
	for k, t := range tokens {
		if t.Glued || k > 0 && t.Break {
			return false
		}
	}
	return true
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

// shortWord is how many letters a word has at most that is another one with an accent:
// "é", "où", "más".
const shortWord = 3

// stands tells whether a separator at a place means what it means between requests.
func stands(m *slot.Message, hit lang.Hit[lang.Joint], i int) bool {
	t, behind := m.Tokens[i], m.Tokens[i+hit.Tokens:]
	joint := jointOf(hit.Value)
	switch {
	case joint.Subordinate:
		return verbFollows(m.Tokens[i+hit.Tokens-1], hit.Language, behind)
	case hit.Tokens == 1 && len(t.Fold) <= shortWord && t.Lower != t.Fold:
		return false
	case joint.Contrast && !t.Break && belongs(m, i):
		return false
	case joint.Contrast && t.Has(lang.Ending): // "more", too
		return t.Break
	case t.Fold == "y": // no "y a-t-il"
		return len(behind) == 0 || behind[0].Fold != "a" || len(behind) > 1 && behind[1].Fold != "t" && m.Tokens[i-1].Fold != "il"
	}
	return true
}

// belongs tells a word that says whose something is in a language that the message may be in:
// "si ma cheffe est d'accord" has no Italian "ma".
func belongs(m *slot.Message, i int) bool {
	for l := range lang.Shipped().Languages {
		if m.Voice.At(i).Likely(l) && m.Tokens[i].In(l, lang.Mine) {
			return true
		}
	}
	return false
}

// verbFollows tells "before requesting" from "before Monday", given the last word of
// the separator, its language and what stands behind it.
func verbFollows(last text.Token, language int, behind []text.Token) bool {
	switch {
	case len(behind) == 0:
		return false
	case language == 0:
		return mood.Gerund(behind[0].Fold) || behind[0].In(language, lang.Subject)
	case last.In(language, lang.Function) && last.Has(lang.Particle):
		return slices.ContainsFunc(behind[:min(len(behind), 3)], func(t text.Token) bool { return lang.Shipped().Infinitive(t.Fold) })
	}
	return true
}

// join puts pieces back together that cannot be requests of their own.
func (x *Cutter) join(m *slot.Message, pieces []Piece) []Piece {
	weak := len(pieces) <= Most
	var out []Piece
	for _, p := range pieces {
		if len(out) > 0 && !p.Strong && (!weak || !x.speaks(m.Tokens[p.From:p.To]) || x.another(m.Tokens, out[len(out)-1], p) || relates(m.Tokens, out[len(out)-1], p)) {
			out[len(out)-1].To = p.To
			continue
		}
		out = append(out, p)
	}
	return out
}

// relates tells a piece that goes on with the relative clause of the one before, by the
// form of its verb: "a bot that answers from the page, remembers, and uses …".
func relates(tokens []text.Token, before, p Piece) bool {
	for i := before.From + 1; i < before.To && !p.Sequence && !p.Subordinate && third(tokens[p.From]); i++ {
		if tokens[i-1].Has(lang.Relative) && third(tokens[i]) {
			return true
		}
	}
	return false
}

// third tells a word that ends as the third person of an English verb does.
func third(t text.Token) bool {
	return len(t.Fold) > 3 && strings.HasSuffix(t.Fold, "s") && !strings.HasSuffix(t.Fold, "ss") && !t.Is(text.FormDigits|text.FormMixed|text.FormCaps|text.FormTitle|text.FormQuoted)
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
