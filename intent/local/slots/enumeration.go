package slots

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
)

// lists adds runs of spans that are separated only by commas and words such as "and".
func (f *field) lists(items []span) {
	for i := 0; i < len(items); {
		end := i
		for end+1 < len(items) && f.listed(items[end], items[end+1]) {
			end++
		}
		if end > i {
			whole := items[i]
			whole.last, whole.items = items[end].last, items[i:end+1]
			whole.bracketed = strings.HasSuffix(strings.TrimSpace(f.wording.Gap(whole.first-1, whole.first)), "[")
			if len(f.spans) < maxSpans {
				f.spans = append(f.spans, whole)
			}
		}
		i = end + 1
	}
}

// listed reports whether two spans are adjacent items of a list.
func (f *field) listed(a, b span) bool {
	between := 0
	if a.proper && b.proper && b.first == a.last+2 && opposes(f.doc.Tokens[a.last+1].Fold) {
		return true
	}
	for i := a.last + 1; i < b.first; i++ {
		if !IsConjunction(f.doc.Tokens[i].Fold) {
			return false
		}
		if !f.doc.Tokens[i].Has(lexicon.Article) {
			between++
		}
	}
	gap := strings.TrimSpace(f.wording.Gap(b.first-1, b.first))
	return between > 0 || gap == "," || gap == "&" || gap == "/" || gap == "、" || strings.HasSuffix(gap, ",")
}

// besideLike reports whether a span is an item of a list. For a single-value parameter such an
// item is ambiguous: "Anna, Bert".
func (f *field) besideLike(s span) bool {
	return slices.ContainsFunc(f.spans, func(o span) bool {
		return len(o.items) > 1 && slices.ContainsFunc(o.items, func(item span) bool { return item.first == s.first && item.last == s.last })
	})
}

// opposes reports whether a word contrasts two names, such as "versus".
func opposes(fold string) bool { return InClass(fold, lexicon.Versus) }
