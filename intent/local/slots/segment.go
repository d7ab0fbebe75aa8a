package slots

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// MaxSegments limits how many segments of a message are read.
const MaxSegments = 12

// Segment is a run of tokens between two separators that may be a separate request.
type Segment struct {
	From, To int
	Connection
	// Sentence is the index of the sentence.
	Sentence int
}

// Connection is how a segment is connected to the one before it.
type Connection struct {
	// Strong is set if the separator ends a sentence or says "then". A weak separator such as
	// "and" often joins values.
	Strong bool
	// Sequence is set if the segment is to be done after the one before it, Reverse if it is to be
	// done first.
	Sequence bool
	Reverse  bool
	// Subordinate is set for a clause such as "before you …".
	Subordinate bool
	// Contrast is set if a negation in the segment before does not apply to this one.
	Contrast bool
	// Main is set for the main clause of a clause such as "before you …", and for "then" with a
	// verb. Such a segment is always a separate request.
	Main bool
}

// Segmenter splits messages into segments that may be separate requests.
type Segmenter struct {
	// Lexicon has the words of all languages.
	Lexicon *tokenize.Lexicon
	// Heads holds the stems of request words of any capability, Openers the first words of
	// examples, Values the words of known values.
	Heads, Openers, Values map[string]bool
}

// NewSegmenter returns a segmenter without any capability.
func NewSegmenter(lexicon *tokenize.Lexicon) Segmenter {
	return Segmenter{Lexicon: lexicon, Heads: map[string]bool{}, Openers: map[string]bool{}, Values: map[string]bool{}}
}

// connectionOf returns how a separator connects the segment behind it.
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

// Cut splits a message. A weak separator splits only if the words behind it could be part of a
// request.
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
		if ok && next.insideClause(m.Tokens, current.From, i, width) {
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
	return reorderLeading(x.markSequence(m, x.join(m, out)))
}

// markSequence sets Main for the segments that begin with "then" and a request word.
func (x *Segmenter) markSequence(m *Message, segments []Segment) []Segment {
	for k := range segments {
		p := &segments[k]
		p.Main = k > 0 && p.Sequence && !p.Subordinate && x.Bids(m.Tokens[p.From])
	}
	return segments
}

// Bids reports whether a token may begin a request.
func (x *Segmenter) Bids(t tokenize.Token) bool {
	return x.Lexicon.Kin(t.Fold) != 0 || tokenize.Asks(t.Fold) || x.Openers[t.Fold] && !x.Lexicon.StopWord(t.Fold)
}

// insideClause reports whether "then" stands behind the verb of its own clause, as in German "und
// zeig danach …".
func (j Connection) insideClause(tokens []tokenize.Token, from, i, width int) bool {
	return width == 1 && j.Sequence && !j.Subordinate && i > from && i-from <= 2 && !tokens[i].Break
}

// reorderLeading moves the connection of a clause such as "before you …" to the main clause behind
// it, if it opens its sentence.
func reorderLeading(segments []Segment) []Segment {
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

// merge combines the connections of two adjacent separators.
func merge(a, b Connection) Connection {
	return Connection{
		Strong: a.Strong || b.Strong, Sequence: a.Sequence || b.Sequence, Reverse: a.Reverse || b.Reverse,
		Subordinate: a.Subordinate || b.Subordinate, Contrast: a.Contrast || b.Contrast,
	}
}

// boundary reports whether a segment can begin at token i, and how many tokens the separator has.
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
	case x.introducesName(m.Tokens, i), between(m.Entities, i):
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
	if !found || i == 0 && !said.Reverse && !said.Sequence || !isContiguous(m.Tokens[i:i+hit.Tokens]) || !separates(m, hit, i) {
		return p, 0, ok
	}
	said.Strong = said.Strong || p.Strong
	p.Connection = said
	return p, hit.Tokens, true
}

// introducesName reports whether the tokens introduce a new name, with or without a leading "and":
// "…, and call it Desk".
func (x *Segmenter) introducesName(tokens []tokenize.Token, i int) bool {
	if hit, ok := lexicon.Find(&x.Lexicon.Separators, tokens, i); ok && hit.Value == lexicon.ConnectiveAnd {
		i += hit.Tokens
	}
	hit, ok := lexicon.Find(&x.Lexicon.Frames, tokens, i)
	next := i + hit.Tokens
	return ok && hit.Value == lexicon.FrameNames && next < len(tokens) && !tokens[next].Break && (tokens[next].Named() || tokens[next].Is(tokenize.FormQuoted))
}

// between reports whether a token is between the two ends of a period: "between today and Friday".
func between(entities []values.Entity, i int) bool {
	for k, e := range entities[:max(len(entities)-1, 0)] {
		if next := entities[k+1]; e.Edge == values.Start && next.Edge == values.End && e.First < i && i <= next.First {
			return true
		}
	}
	return false
}

// sameCodes reports whether two codes of the same form are separated only by a separator and an
// article, with no more words about the second one: "R-204 and R-311, the fair is off".
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

// form returns a code without its trailing digits, or "" if it has none.
func form(code string) string {
	letters := strings.TrimRight(code, "0123456789")
	if letters == code {
		return ""
	}
	return strings.ToUpper(letters)
}

// isContiguous reports whether a run of tokens contains no punctuation and no glued token.
func isContiguous(tokens []tokenize.Token) bool {
	for k, t := range tokens {
		if t.Glued || k > 0 && t.Break {
			return false
		}
	}
	return true
}

// abbreviated reports whether a dot belongs to an abbreviation: "Dr. Souza".
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

// shortWord is the maximum length of a word that differs from another one only by its accent: "é",
// "où", "más".
const shortWord = 3

// separates reports whether a separator at a token separates requests.
func separates(m *Message, hit lexicon.Hit[lexicon.Connective], i int) bool {
	t, behind := m.Tokens[i], m.Tokens[i+hit.Tokens:]
	connection := connectionOf(hit.Value)
	switch {
	case connection.Subordinate:
		return verbFollows(m.Tokens[i+hit.Tokens-1], hit.Language, behind)
	case hit.Tokens == 1 && len(t.Fold) <= shortWord && t.Lower != t.Fold:
		return false
	case connection.Contrast && !t.Break && isPossessive(m, i):
		return false
	case connection.Contrast && t.Has(lexicon.Ending): // it also means "more"
		return t.Break
	case t.Fold == "y": // but not in "y a-t-il"
		return len(behind) == 0 || behind[0].Fold != "a" || len(behind) > 1 && behind[1].Fold != "t" && m.Tokens[i-1].Fold != "il"
	}
	return true
}

// isPossessive reports whether a token is a possessive in a likely language: in "si ma cheffe est
// d'accord" the "ma" is not the Italian "but".
func isPossessive(m *Message, i int) bool {
	for l := range lexicon.Shipped().Languages {
		if m.Languages.At(i).Likely(l) && m.Tokens[i].In(l, lexicon.Mine) {
			return true
		}
	}
	return false
}

// verbFollows distinguishes "before requesting" from "before Monday". last is the last token of
// the separator.
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

// join merges segments that cannot be separate requests into the one before.
func (x *Segmenter) join(m *Message, segments []Segment) []Segment {
	weak := len(segments) <= MaxSegments
	var out []Segment
	for _, p := range segments {
		if len(out) > 0 && !p.Strong && (!weak || !x.hasRequestWord(m.Tokens[p.From:p.To]) || x.isFurtherValue(m.Tokens, out[len(out)-1], p) || continuesRelativeClause(m.Tokens, out[len(out)-1], p) || completesMeans(m.Tokens, out[len(out)-1], p)) {
			out[len(out)-1].To = p.To
			continue
		}
		out = append(out, p)
	}
	return out
}

// continuesRelativeClause reports whether a segment continues the relative clause of the one
// before, by its verb form: "a bot that answers from the page, remembers, and uses …".
func continuesRelativeClause(tokens []tokenize.Token, before, p Segment) bool {
	for i := before.From + 1; i < before.To && !p.Sequence && !p.Subordinate && isThirdPerson(tokens[p.From]); i++ {
		if tokens[i-1].Has(lexicon.Relative) && isThirdPerson(tokens[i]) {
			return true
		}
	}
	return false
}

// completesMeans reports whether the segment before gives the means of a command: "using the small
// model, build …".
func completesMeans(tokens []tokenize.Token, before, p Segment) bool {
	return tokens[before.From].Has(lexicon.PrepMeans) && !p.Sequence && !p.Subordinate
}

// isThirdPerson reports whether a word has the ending of an English verb in the third person.
func isThirdPerson(t tokenize.Token) bool {
	return len(t.Fold) > 3 && strings.HasSuffix(t.Fold, "s") && !strings.HasSuffix(t.Fold, "ss") && !t.Is(tokenize.FormDigits|tokenize.FormMixed|tokenize.FormCaps|tokenize.FormTitle|tokenize.FormQuoted)
}

// maxCoordinatedValue is the maximum length in tokens of a coordinated value behind a preposition.
const maxCoordinatedValue = 3

// isFurtherValue reports whether a segment is a further value with the same preposition: "to sales
// and to operations".
func (x *Segmenter) isFurtherValue(tokens []tokenize.Token, before, p Segment) bool {
	first := tokens[p.From]
	if p.To-p.From < 2 || p.To-p.From > 1+maxCoordinatedValue || !first.Has(lexicon.Function) || p.Sequence || p.Subordinate {
		return false
	}
	for _, t := range tokens[p.From+1 : p.To] {
		if t.Break || !t.Named() && !t.Is(tokenize.FormDigits) && !x.Values[t.Fold] {
			return false
		}
	}
	return slices.ContainsFunc(tokens[before.From:before.To], func(t tokenize.Token) bool { return t.Fold == first.Fold })
}

// hasRequestWord reports whether a run of tokens contains a request word, not only values.
func (x *Segmenter) hasRequestWord(tokens []tokenize.Token) bool {
	for _, t := range tokens {
		if t.Is(tokenize.FormSign) || x.Heads[t.Stem] && !x.Lexicon.StopWord(t.Fold) && !t.Is(tokenize.FormCaps|tokenize.FormMixed|tokenize.FormDigits) {
			return true
		}
	}
	return false
}

// Empty reports whether a run has no content words, such as a greeting.
func (x *Segmenter) Empty(tokens []tokenize.Token) bool {
	return !slices.ContainsFunc(tokens, func(t tokenize.Token) bool { return !x.Lexicon.StopWord(t.Fold) })
}
