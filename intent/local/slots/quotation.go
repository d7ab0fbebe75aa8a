package slots

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// QuotedFrom reports whether a quotation begins at or behind token i.
func (r *Wording) QuotedFrom(i int) bool {
	return slices.ContainsFunc(r.Doc.Tokens[i:r.To], func(t tokenize.Token) bool { return t.Is(tokenize.FormQuoted) })
}

// QuotedTo returns the last token of the quotation that begins at a token, or first-1.
func (r *Wording) QuotedTo(first int) int {
	if !r.Doc.Tokens[first].Is(tokenize.FormQuoted) {
		return first - 1
	}
	last := first
	for last+1 < r.To && r.Doc.Tokens[last+1].Is(tokenize.FormQuoted) && !ClosesQuote(r.Gap(last, last+1)) {
		last++
	}
	return last
}

const quotationMarks = "\"'“”‘’«»`"

// ClosesQuote reports whether the text between two tokens contains a quotation mark.
func ClosesQuote(gap string) bool { return strings.ContainsAny(gap, quotationMarks) }

// Quotation returns the text between quotation marks, without a comma before the closing mark.
func (r *Wording) Quotation(first, last int) string {
	for _, q := range r.Quotes {
		if q.Start <= r.Doc.Tokens[first].Start && r.Doc.Tokens[last].End <= q.End {
			raw := strings.TrimRight(r.Doc.Src[q.Start:q.End], ", ")
			if first == last {
				raw = strings.TrimRight(raw, ".")
			}
			return tokenize.Clean(raw)
		}
	}
	return r.Text(first, last)
}

// InsideQuotation reports whether a span is part of a longer quotation: "Ping" in "Ping Two". A
// request that is quoted as a whole contains no quotation.
func (r *Wording) InsideQuotation(first, last int) bool {
	quoted := func(i int) bool { return i >= r.From && i < r.To && r.Doc.Tokens[i].Is(tokenize.FormQuoted) }
	if !quoted(first) {
		return false
	}
	from, to := first, last
	for quoted(from-1) && !ClosesQuote(r.Gap(from-1, from)) {
		from--
	}
	for quoted(to+1) && !ClosesQuote(r.Gap(to, to+1)) {
		to++
	}
	return to-from > last-first && (from > r.From || to < r.To-1)
}

// Dictated reports whether a message follows a colon at token i, and returns the particle of a
// separable verb before the colon: "gib in sales durch: …". half is " " if there is none.
func (r *Wording) Dictated(i int) (first int, half string, ok bool) {
	half = " "
	if i+1 < r.To && r.Doc.Tokens[i].Has(lexicon.Separates) {
		half = r.Doc.Tokens[i].Fold
		i++
	}
	return i, half, i > 0 && i < r.To && !r.Doc.Tokens[i].Is(tokenize.FormQuoted) && strings.Contains(r.Gap(i-1, i), ":")
}

// Addressee returns the last token of a name that begins at a token and ends at a colon, or
// first-1.
func (r *Wording) Addressee(first int) (last int) {
	for last = first; last < min(r.To-1, first+mostOfAddressee) && r.Doc.Tokens[last].Named(); last++ {
		if r.Dictates(last + 1) {
			return last
		}
		if r.Doc.Tokens[last+1].Break {
			break
		}
	}
	return first - 1
}

// mostOfAddressee is the maximum length of such a name in tokens.
const mostOfAddressee = 4

// AfterNaming reports whether a token follows words that give something a new name, such as "call
// it".
func AfterNaming(tokens []tokenize.Token, at int) bool {
	for i := max(0, at-longestNaming); i < at; i++ {
		hit, ok := lexicon.Find(&lexicon.Shipped().Frames, tokens[:at], i)
		if ok && hit.Value == lexicon.FrameNames && i+hit.Tokens == at && slices.ContainsFunc(tokens[i:at], func(t tokenize.Token) bool { return t.Has(lexicon.Third) || t.Has(lexicon.Anaphor) }) {
			return true
		}
	}
	return false
}

// longestNaming is the maximum length of such a phrase in tokens.
const longestNaming = 4

// IsSendVerb reports whether a word is a verb of sending or notifying, alone or with its separable
// particle.
func IsSendVerb(fold, half string) bool {
	lex := lexicon.Shipped()
	return (lex.Kin(strings.TrimSpace(half)+fold)|lex.Kin(fold))&(lexicon.KindOf("send")|lexicon.KindOf("notify")) != 0
}
