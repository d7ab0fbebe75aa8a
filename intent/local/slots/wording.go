package slots

import (
	"math"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// Scope is what is read: a part of a message. It is set before anything is read and
// stays.
type Scope struct {
	Doc      *values.Doc
	From, To int
	Entities []values.Entity
	Quotes   []tokenize.Span
	Lexicon  *tokenize.Lexicon
}

// Wording answers positional questions about the tokens of a part of a message.
type Wording struct{ *Scope }

// StemAt is the stem of a token, "^" outside of the part.
func (r *Wording) StemAt(i int) string {
	if i < r.From || i >= r.To {
		return "^"
	}
	return r.Doc.Tokens[i].Stem
}

// AnyTitle stands for any title before a name, such as "Dr" and "Dra".
const AnyTitle = "Dr"

// LeftAt is the same of a word that announces a value: a preposition with an article in it
// is the preposition, and one title is as good as another.
func (r *Wording) LeftAt(i int) string {
	if i < r.From || i >= r.To {
		return r.StemAt(i)
	}
	if r.Doc.Tokens[i].Has(lexicon.Title) {
		return AnyTitle
	}
	if alone, ok := lexicon.Shipped().Preposition(r.Doc.Tokens[i].Lower); ok {
		return alone
	}
	return r.Doc.Tokens[i].Stem
}

// PhraseEndsAt reports whether a run of stems ends at a token.
func (r *Wording) PhraseEndsAt(words []string, last int) bool {
	first := last - len(words) + 1
	if first < r.From {
		return false
	}
	for k, w := range words {
		if r.Doc.Tokens[first+k].Stem != w {
			return false
		}
	}
	return true
}

// Dictates tells a token right behind a colon.
func (r *Wording) Dictates(i int) bool {
	return i > r.From && strings.Contains(r.Gap(i-1, i), ":")
}

// Gap is what stands between two tokens.
func (r *Wording) Gap(a, b int) string {
	if a < 0 || b >= len(r.Doc.Tokens) {
		return ""
	}
	return r.Doc.Src[r.Doc.Tokens[a].End:r.Doc.Tokens[b].Start]
}

// Text gives the cleaned text of a run of tokens.
func (r *Wording) Text(first, last int) string {
	return tokenize.Clean(r.Doc.Src[r.Doc.Tokens[first].Start:r.Doc.Tokens[last].End])
}

// Broken reports whether a part of a sentence begins within a run of tokens.
func (r *Wording) Broken(first, last int) bool {
	for i := first; i <= last; i++ {
		if r.Doc.Tokens[i].Break {
			return true
		}
	}
	return false
}

// Uncapitalised tells a text in which nothing is written as names are, as people
// type in a chat.
func (r *Wording) Uncapitalised() bool {
	for i := r.From; i < r.To; i++ {
		if t := r.Doc.Tokens[i]; !t.Is(tokenize.FormQuoted) && t.Is(tokenize.FormTitle|tokenize.FormCaps) && !t.Is(tokenize.FormFirst) {
			return false
		}
	}
	return true
}

// Owned tells a noun behind an article or a word such as "her".
func (r *Wording) Owned(i int) bool {
	return i > r.From && !r.Doc.Tokens[i].Break && (r.Doc.Tokens[i-1].Has(lexicon.Article) || r.Doc.Tokens[i-1].Has(lexicon.Pronoun))
}

// Numbers are the numbers of the part.
func (r *Wording) Numbers() []values.Entity {
	var out []values.Entity
	for _, e := range r.Entities {
		if e.Kind == values.Number && e.First >= r.From && e.Last < r.To {
			out = append(out, e)
		}
	}
	return out
}

// lastHour is the last one of a day.
const lastHour = 24

// BareHour tells a number that may be an hour: "at 9".
func (r *Wording) BareHour(e values.Entity) bool {
	return e.First > r.From && e.Unit == "" && !e.Money && !e.Percent && e.Number >= 0 && e.Number <= lastHour && e.Number == math.Trunc(e.Number) &&
		!r.Doc.Tokens[e.First].Break && r.Doc.Tokens[e.First-1].Has(lexicon.Function)
}

// CalledSo tells a known word that begins the name behind a word such as "called": the
// "Reply" of "called Reply Desk" is no kind of starter.
func (r *Wording) CalledSo(first, last int) bool {
	next := last + 1
	return first > r.From && next < r.To && r.Doc.Tokens[first].Is(tokenize.FormTitle) && !r.Doc.Tokens[first].Break && !r.Doc.Tokens[next].Break &&
		LinksName(r.Doc.Tokens[first-1].Fold) && r.Doc.Tokens[next].Is(tokenize.FormTitle|tokenize.FormCaps) && !r.Doc.Tokens[next].Is(tokenize.FormQuoted)
}

// InsideCode tells a part of a path, of a file's name or of an address: the
// ending of "map.png" asks for no picture.
func (r *Wording) InsideCode(first, last int) bool {
	c, ok := r.Doc.ChunkOf(first)
	return ok && last <= c.Last && (c.First < first || last < c.Last) && c.Code()
}

// AnyOrder finds all words of a name in a run with nothing but words of grammar between
// them: "use it for private" of "private_use".
func (r *Wording) AnyOrder(words []string, i int) (last int, ok bool) {
	open := slices.Clone(words)
	for j := i; j < r.To && j < i+2*len(words); j++ {
		t := r.Doc.Tokens[j]
		if j > i && t.Break {
			break
		}
		switch k := slices.Index(open, t.Stem); {
		case k >= 0:
			open = slices.Delete(open, k, k+1)
		case !r.Lexicon.StopWord(t.Fold) || IsNegation(t.Fold):
			return 0, false
		}
		if len(open) == 0 {
			return j, true
		}
	}
	return 0, false
}

// shortestApart is how many letters a word has at least that may be written as two.
const shortestApart = 6

// WrittenApart tells a word that the text has in two parts: "multi-player", "tow bar".
func (r *Wording) WrittenApart(word string, i int) bool {
	if i+1 >= r.To || !r.Doc.Tokens[i+1].Glued && (r.Doc.Tokens[i+1].Break || len(word) < shortestApart) {
		return false
	}
	return slices.Contains(tokenize.Stems(r.Doc.Tokens[i].Fold+r.Doc.Tokens[i+1].Fold), word)
}
