package slots

import (
	"math"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// Scope is a range of a message with its entities. It is immutable.
type Scope struct {
	Doc      *values.Doc
	From, To int
	Entities []values.Entity
	Quotes   []tokenize.Span
	Lexicon  *tokenize.Lexicon
}

// Wording answers questions about the tokens of a scope by position.
type Wording struct{ *Scope }

// StemAt returns the stem of a token, or "^" outside of the range.
func (r *Wording) StemAt(i int) string {
	if i < r.From || i >= r.To {
		return "^"
	}
	return r.Doc.Tokens[i].Stem
}

// AnyTitle is the normal form of a title before a name, such as "Dr" or "Dra".
const AnyTitle = "Dr"

// LeftAt returns the normal form of a token as context of a value: like StemAt, but a contracted
// preposition is reduced to the preposition and every title to AnyTitle.
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

// PhraseEndsAt reports whether a sequence of stems ends at a token.
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

// Dictates reports whether a token follows a colon.
func (r *Wording) Dictates(i int) bool {
	return i > r.From && strings.Contains(r.Gap(i-1, i), ":")
}

// Gap returns the text between two tokens.
func (r *Wording) Gap(a, b int) string {
	if a < 0 || b >= len(r.Doc.Tokens) {
		return ""
	}
	return r.Doc.Src[r.Doc.Tokens[a].End:r.Doc.Tokens[b].Start]
}

// Text returns the cleaned text of a run of tokens.
func (r *Wording) Text(first, last int) string {
	return tokenize.Clean(r.Doc.Src[r.Doc.Tokens[first].Start:r.Doc.Tokens[last].End])
}

// Broken reports whether a clause begins within a run of tokens.
func (r *Wording) Broken(first, last int) bool {
	for i := first; i <= last; i++ {
		if r.Doc.Tokens[i].Break {
			return true
		}
	}
	return false
}

// Uncapitalised reports whether no token is written as a name, as in informal chat.
func (r *Wording) Uncapitalised() bool {
	for i := r.From; i < r.To; i++ {
		if t := r.Doc.Tokens[i]; !t.Is(tokenize.FormQuoted) && t.Is(tokenize.FormTitle|tokenize.FormCaps) && !t.Is(tokenize.FormFirst) {
			return false
		}
	}
	return true
}

// Owned reports whether a token follows an article or a pronoun such as "her".
func (r *Wording) Owned(i int) bool {
	return i > r.From && !r.Doc.Tokens[i].Break && (r.Doc.Tokens[i-1].Has(lexicon.Article) || r.Doc.Tokens[i-1].Has(lexicon.Pronoun))
}

// Numbers returns the numbers of the range.
func (r *Wording) Numbers() []values.Entity {
	var out []values.Entity
	for _, e := range r.Entities {
		if e.Kind == values.Number && e.First >= r.From && e.Last < r.To {
			out = append(out, e)
		}
	}
	return out
}

// lastHour is the last hour of a day.
const lastHour = 24

// BareHour reports whether a number may be an hour: "at 9".
func (r *Wording) BareHour(e values.Entity) bool {
	return e.First > r.From && e.Unit == "" && !e.Money && !e.Percent && e.Number >= 0 && e.Number <= lastHour && e.Number == math.Trunc(e.Number) &&
		!r.Doc.Tokens[e.First].Break && r.Doc.Tokens[e.First-1].Has(lexicon.Function)
}

// CalledSo reports whether a known word begins a name behind a word such as "called": "Reply" in
// "called Reply Desk" is no kind of starter.
func (r *Wording) CalledSo(first, last int) bool {
	next := last + 1
	return first > r.From && next < r.To && r.Doc.Tokens[first].Is(tokenize.FormTitle) && !r.Doc.Tokens[first].Break && !r.Doc.Tokens[next].Break &&
		LinksName(r.Doc.Tokens[first-1].Fold) && r.Doc.Tokens[next].Is(tokenize.FormTitle|tokenize.FormCaps) && !r.Doc.Tokens[next].Is(tokenize.FormQuoted)
}

// InsideCode reports whether a span is part of a path, a file name or an address: "png" in
// "map.png" asks for no picture.
func (r *Wording) InsideCode(first, last int) bool {
	c, ok := r.Doc.ChunkOf(first)
	return ok && last <= c.Last && (c.First < first || last < c.Last) && c.Code()
}

// AnyOrder matches all words of a name in any order, with only function words in between: "use it
// for private" for "private_use".
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

// minSplitLength is the minimum length of a word that may be written as two.
const minSplitLength = 6

// WrittenApart reports whether a word is written as two tokens: "multi-player", "tow bar".
func (r *Wording) WrittenApart(word string, i int) bool {
	if i+1 >= r.To || !r.Doc.Tokens[i+1].Glued && (r.Doc.Tokens[i+1].Break || len(word) < minSplitLength) {
		return false
	}
	return slices.Contains(tokenize.Stems(r.Doc.Tokens[i].Fold+r.Doc.Tokens[i+1].Fold), word)
}
