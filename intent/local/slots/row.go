package slots

import (
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// BehindConnector returns the token behind ",", "and" or both.
func (r *Wording) BehindConnector(last int) (int, bool) {
	i := last + 1
	if i < r.To && r.Doc.Tokens[i].Fold == "s" && r.Doc.Tokens[i].Glued {
		i++ // "Ana's, Bruno's and Chen's"
	}
	if i >= r.To {
		return 0, false
	}
	gap := strings.Trim(r.Gap(i-1, i), " "+quotationMarks)
	connected := gap == "," || gap == "&" || gap == "/" || gap == "+" || gap == "、" || gap == "，"
	if IsCoordination(r.Doc.Tokens[i].Fold) && (gap == "" || connected) {
		i, connected = i+1, true
	}
	return i, connected && i < r.To
}

// Joined reports whether a comma or a word such as "and" stands between two tokens.
func (r *Wording) Joined(last, first int) bool {
	for i := last + 1; i <= first; i++ {
		if hit, ok := lexicon.Find(&lexicon.Shipped().Separators, r.Doc.Tokens[:first], i); ok && hit.Value == lexicon.ConnectiveAnd && hit.Tokens > 1 {
			return true // "as well as"
		}
		if i < first && IsCoordination(r.Doc.Tokens[i].Fold) || strings.ContainsAny(r.Gap(i-1, i), ",;&/+|、，") {
			return true
		}
	}
	return false
}

// InRow reports whether only commas, words such as "and" and articles stand between two tokens.
func (r *Wording) InRow(last, first int) bool {
	if first <= last+1 {
		return false
	}
	joined := false
	for i := last + 1; i < first; i++ {
		t := r.Doc.Tokens[i]
		joins := IsCoordination(t.Fold) && !t.Has(lexicon.Article)
		if !joins && !t.Has(lexicon.Article) {
			return false
		}
		joined = joined || joins || t.Break
	}
	return joined
}

// Continues reports whether the number at b continues the run that ends at a.
func (r *Wording) Continues(a, b int) bool {
	words := 0
	for i := a + 1; i < b; i++ {
		if !IsConjunction(r.Doc.Tokens[i].Fold) {
			return false
		}
		words++
	}
	gap := r.Doc.Src[r.Doc.Tokens[a].End:r.Doc.Tokens[b].Start]
	if strings.ContainsAny(gap, "[](){}:") {
		return false
	}
	return words > 0 || strings.ContainsAny(gap, ",;/|") || r.Doc.Tokens[b].Is(tokenize.FormDigits) && r.Bracketed(a)
}

// Bracketed reports whether a token lies inside square brackets.
func (r *Wording) Bracketed(i int) bool {
	before := r.Doc.Src[:r.Doc.Tokens[i].Start]
	return strings.LastIndexByte(before, '[') > strings.LastIndexByte(before, ']')
}

// NothingBetween reports whether only function words and request words stand between two values,
// and not just one such as "to": "a.txt to b.txt" is no list.
func (r *Wording) NothingBetween(last, first int, known func(tokenize.Token) bool) bool {
	listed, joined := r.Doc.Tokens[first].Break, false
	for i := last + 1; i < first; i++ {
		t := r.Doc.Tokens[i]
		light := t.Has(lexicon.Function) || t.Has(lexicon.Pronoun) || t.Has(lexicon.Filler)
		if !light && !IsCoordination(t.Fold) && !known(t) {
			return false
		}
		joined = joined || IsCoordination(t.Fold)
		listed = listed || t.Break || IsCoordination(t.Fold) && t.Has(lexicon.Listing)
	}
	return listed || !joined
}
