package slots

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// MaxSegments bounds how many segments of a message are read.
const MaxSegments = 12

// Segment is a run of tokens between two separators that may be a request of its own.
type Segment struct {
	From, To int
	Connection
	// Sentence counts the sentences.
	Sentence int
}

// Connection is how a segment is connected to the one before it.
type Connection struct {
	// Strong tells that the separator ends a sentence or says "then"; a weak one,
	// such as "and", often joins values.
	Strong bool
	// Sequence tells that the segment is to be done after the one before, Reverse
	// that it is to be done first.
	Sequence bool
	Reverse  bool
	// Subordinate tells that the segment is a clause such as "before you …".
	Subordinate bool
	// Contrast tells that a negation before does not reach the segment.
	Contrast bool
	// Main tells that the segment is what a clause such as "before you …" was said
	// of, or "then" and a verb. It is a request of its own, whatever it reads like
	// together with others.
	Main bool
}

// Segmenter cuts messages into segments that may be requests of their own.
type Segmenter struct {
	// Lexicon has the words of the languages.
	Lexicon *tokenize.Lexicon
	// Heads are the stems that say what is asked for, in any capability, Openers the
	// words that examples begin with, Values those of known values.
	Heads, Openers, Values map[string]bool
}

// NewSegmenter makes a segmenter that knows no capability yet.
func NewSegmenter(lexicon *tokenize.Lexicon) Segmenter {
	return Segmenter{Lexicon: lexicon, Heads: map[string]bool{}, Openers: map[string]bool{}, Values: map[string]bool{}}
}

// connectionOf is what a separator says of the segment behind it.
func connectionOf(j lexicon.Connective) Connection {
	switch j {
	case lexicon.ConnectiveThen:
		return Connection{Strong: true, Sequence: true}
	case lexicon.ConnectiveContrast:
		return Connection{Contrast: true}
	case lexicon.ConnectiveBefore:
		return Connection{Sequence: true, Subordinate: true}
	case lexicon.ConnectiveAfter:
		return Connection{Reverse: true, Subordinate: true}
	case lexicon.ConnectiveAnd:
	}
	return Connection{}
}

// Cut cuts a message. Weak separators count only where the words behind
// them could belong to a request.
func (x *Segmenter) Cut(m *Message) []Segment {
	var out []Segment
	current := Segment{}
	numbers := tokenize.Numbered(m.Src, m.Tokens, func(i int) bool {
		return slices.ContainsFunc(m.Entities, func(e values.Entity) bool { return e.First < e.Last && e.First <= i && i <= e.Last })
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
			next, width, ok = Segment{Connection: Connection{Strong: true}, Sentence: 1}, 1, true
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
			next.Connection = merge(current.Connection, next.Connection)
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

// turns marks the segments that say "then" and begin as requests do.
func (x *Segmenter) turns(m *Message, segments []Segment) []Segment {
	for k := range segments {
		p := &segments[k]
		p.Main = k > 0 && p.Sequence && !p.Subordinate && x.Bids(m.Tokens[p.From])
	}
	return segments
}

// Bids tells a word that requests begin with.
func (x *Segmenter) Bids(t tokenize.Token) bool {
	return x.Lexicon.Kin(t.Fold) != 0 || tokenize.Asks(t.Fold) || x.Openers[t.Fold] && !x.Lexicon.StopWord(t.Fold)
}

// within tells a "then" behind the verb of its own clause, as German has it:
// "und zeig danach …".
func (j Connection) within(tokens []tokenize.Token, from, i, width int) bool {
	return width == 1 && j.Sequence && !j.Subordinate && i > from && i-from <= 2 && !tokens[i].Break
}

// lead turns a clause such as "before you …" around where it opens its sentence:
// what it says of itself is said of the clause behind it.
func lead(segments []Segment) []Segment {
	for k := range segments[:max(len(segments)-1, 0)] {
		p, next := &segments[k], &segments[k+1]
		opens := k == 0 || segments[k-1].Sentence != p.Sentence
		if !opens || !p.Subordinate || next.Sentence != p.Sentence {
			continue
		}
		next.Strong, next.Main = true, true
		next.Sequence, next.Reverse = p.Reverse, p.Sequence
		p.Sequence, p.Reverse = false, false
	}
	return segments
}

// merge keeps what both of two separators in a row say.
func merge(a, b Connection) Connection {
	return Connection{
		Strong: a.Strong || b.Strong, Sequence: a.Sequence || b.Sequence, Reverse: a.Reverse || b.Reverse,
		Subordinate: a.Subordinate || b.Subordinate, Contrast: a.Contrast || b.Contrast,
	}
}

// boundary reports whether a segment can begin at token i, and how many tokens the
// separating words have.
func (x *Segmenter) boundary(m *Message, i int) (p Segment, width int, ok bool) {
	t := m.Tokens[i]
	if t.Is(tokenize.FormQuoted) {
		return Segment{}, 0, false
	}
	gap := ""
	if i > 0 {
		gap = m.Src[m.Tokens[i-1].End:t.Start]
	}
	switch {
	case i == 0:
	case x.names(m.Tokens, i), between(m.Entities, i):
		return Segment{}, 0, false
	case strings.ContainsAny(gap, ";\n") || t.Is(tokenize.FormFirst) && !abbreviated(m.Tokens[i-1], gap):
		p, ok = Segment{Connection: Connection{Strong: true}, Sentence: 1}, true
	case strings.ContainsAny(gap, ",，、") && !t.Glued, strings.Contains(gap, " + "):
		ok = true
	}
	hit, found := lexicon.Find(&x.Lexicon.Separators, m.Tokens, i)
	if weak := hit.Value == lexicon.ConnectiveAnd && hit.Tokens == 1; !p.Strong && (weak || !found && ok) && x.sameCodes(m, i, i+hit.Tokens) {
		return p, 0, false
	}
	said := connectionOf(hit.Value)
	if !found || i == 0 && !said.Reverse && !said.Sequence || !whole(m.Tokens[i:i+hit.Tokens]) || !separates(m, hit, i) {
		return p, 0, ok
	}
	said.Strong = said.Strong || p.Strong
	p.Connection = said
	return p, hit.Tokens, true
}

// names tells words behind which stands how what was asked for shall be called, with a word
// such as "and" before them or without: "…, and call it Desk".
func (x *Segmenter) names(tokens []tokenize.Token, i int) bool {
	if hit, ok := lexicon.Find(&x.Lexicon.Separators, tokens, i); ok && hit.Value == lexicon.ConnectiveAnd {
		i += hit.Tokens
	}
	hit, ok := lexicon.Find(&x.Lexicon.Frames, tokens, i)
	next := i + hit.Tokens
	return ok && hit.Value == lexicon.FrameNames && next < len(tokens) && !tokens[next].Break && (tokens[next].Named() || tokens[next].Is(tokenize.FormQuoted))
}

// between tells a place between the two ends of a period: "between today and Friday".
func between(entities []values.Entity, i int) bool {
	for k, e := range entities[:max(len(entities)-1, 0)] {
		if next := entities[k+1]; e.Edge == values.Start && next.Edge == values.End && e.First < i && i <= next.First {
			return true
		}
	}
	return false
}

// sameCodes tells two codes of one form with nothing but a separator and an article between,
// of which nothing more is said: "R-204 and R-311, the fair is off".
func (x *Segmenter) sameCodes(m *Message, i, behind int) bool {
	if i == 0 || behind >= len(m.Tokens) {
		return false
	}
	if m.Tokens[behind].Has(lexicon.Article) && behind+1 < len(m.Tokens) {
		behind++
	}
	a, one := m.ChunkOf(i - 1)
	b, two := m.ChunkAt(behind)
	if !one || !two || a.Last != i-1 || form(a.Text) == "" || form(a.Text) != form(b.Text) {
		return false
	}
	next := b.Last + 1
	return next >= len(m.Tokens) || m.Tokens[next].Break || m.Tokens[next].Has(lexicon.Joins)
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
func whole(tokens []tokenize.Token) bool {
	for k, t := range tokens {
		if t.Glued || k > 0 && t.Break {
			return false
		}
	}
	return true
}

// abbreviated tells a dot that ends no sentence: "Dr. Souza".
func abbreviated(before tokenize.Token, gap string) bool {
	if strings.TrimSpace(gap) != "." {
		return false
	}
	switch before.Fold {
	case "dr", "mr", "mrs", "ms", "st", "prof", "sr", "sra", "vs", "no", "eg", "ie", "approx", "jr":
		return true
	}
	return len(before.Fold) == 1 && !before.Is(tokenize.FormDigits)
}

// shortWord is how many letters a word has at most that is another one with an accent:
// "é", "où", "más".
const shortWord = 3

// separates reports whether a separator at a place means what it means between requests.
func separates(m *Message, hit lexicon.Hit[lexicon.Connective], i int) bool {
	t, behind := m.Tokens[i], m.Tokens[i+hit.Tokens:]
	connection := connectionOf(hit.Value)
	switch {
	case connection.Subordinate:
		return verbFollows(m.Tokens[i+hit.Tokens-1], hit.Language, behind)
	case hit.Tokens == 1 && len(t.Fold) <= shortWord && t.Lower != t.Fold:
		return false
	case connection.Contrast && !t.Break && belongs(m, i):
		return false
	case connection.Contrast && t.Has(lexicon.Ending): // "more", too
		return t.Break
	case t.Fold == "y": // no "y a-t-il"
		return len(behind) == 0 || behind[0].Fold != "a" || len(behind) > 1 && behind[1].Fold != "t" && m.Tokens[i-1].Fold != "il"
	}
	return true
}

// belongs tells a word that says whose something is in a language that the message may be in:
// "si ma cheffe est d'accord" has no Italian "ma".
func belongs(m *Message, i int) bool {
	for l := range lexicon.Shipped().Languages {
		if m.Languages.At(i).Likely(l) && m.Tokens[i].In(l, lexicon.Mine) {
			return true
		}
	}
	return false
}

// verbFollows tells "before requesting" from "before Monday", given the last word of
// the separator, its language and what stands behind it.
func verbFollows(last tokenize.Token, language int, behind []tokenize.Token) bool {
	switch {
	case len(behind) == 0:
		return false
	case language == 0:
		return modality.Gerund(behind[0].Fold) || behind[0].In(language, lexicon.Subject)
	case last.In(language, lexicon.Function) && last.Has(lexicon.Particle):
		return slices.ContainsFunc(behind[:min(len(behind), 3)], func(t tokenize.Token) bool { return lexicon.Shipped().Infinitive(t.Fold) })
	}
	return true
}

// join puts segments back together that cannot be requests of their own.
func (x *Segmenter) join(m *Message, segments []Segment) []Segment {
	weak := len(segments) <= MaxSegments
	var out []Segment
	for _, p := range segments {
		if len(out) > 0 && !p.Strong && (!weak || !x.speaks(m.Tokens[p.From:p.To]) || x.another(m.Tokens, out[len(out)-1], p) || continuesRelativeClause(m.Tokens, out[len(out)-1], p) || completesMeans(m.Tokens, out[len(out)-1], p)) {
			out[len(out)-1].To = p.To
			continue
		}
		out = append(out, p)
	}
	return out
}

// continuesRelativeClause reports whether a segment goes on with the relative clause of the
// one before, by the form of its verb: "a bot that answers from the page, remembers, and
// uses …".
func continuesRelativeClause(tokens []tokenize.Token, before, p Segment) bool {
	for i := before.From + 1; i < before.To && !p.Sequence && !p.Subordinate && isThirdPerson(tokens[p.From]); i++ {
		if tokens[i-1].Has(lexicon.Relative) && isThirdPerson(tokens[i]) {
			return true
		}
	}
	return false
}

// completesMeans reports whether all that stands before a segment says with what its command
// is to be carried out: "using the small model, build …".
func completesMeans(tokens []tokenize.Token, before, p Segment) bool {
	return tokens[before.From].Has(lexicon.PrepMeans) && !p.Sequence && !p.Subordinate
}

// isThirdPerson reports whether a word ends as the third person of an English verb does.
func isThirdPerson(t tokenize.Token) bool {
	return len(t.Fold) > 3 && strings.HasSuffix(t.Fold, "s") && !strings.HasSuffix(t.Fold, "ss") && !t.Is(tokenize.FormDigits|tokenize.FormMixed|tokenize.FormCaps|tokenize.FormTitle|tokenize.FormQuoted)
}

// listed is how many words a value has at most that is listed behind a preposition.
const listed = 3

// another tells one more value behind the preposition of the one before: "to sales and
// to operations".
func (x *Segmenter) another(tokens []tokenize.Token, before, p Segment) bool {
	first := tokens[p.From]
	if p.To-p.From < 2 || p.To-p.From > 1+listed || !first.Has(lexicon.Function) || p.Sequence || p.Subordinate {
		return false
	}
	for _, t := range tokens[p.From+1 : p.To] {
		if t.Break || !t.Named() && !t.Is(tokenize.FormDigits) && !x.Values[t.Fold] {
			return false
		}
	}
	return slices.ContainsFunc(tokens[before.From:before.To], func(t tokenize.Token) bool { return t.Fold == first.Fold })
}

// speaks reports whether a run of tokens has a word of some request in it, not
// only values.
func (x *Segmenter) speaks(tokens []tokenize.Token) bool {
	for _, t := range tokens {
		if t.Is(tokenize.FormSign) || x.Heads[t.Stem] && !x.Lexicon.StopWord(t.Fold) && !t.Is(tokenize.FormCaps|tokenize.FormMixed|tokenize.FormDigits) {
			return true
		}
	}
	return false
}

// Empty tells greetings and other runs without content.
func (x *Segmenter) Empty(tokens []tokenize.Token) bool {
	return !slices.ContainsFunc(tokens, func(t tokenize.Token) bool { return !x.Lexicon.StopWord(t.Fold) })
}
