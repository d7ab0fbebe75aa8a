package values

import (
	"sync"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// minMisspelledLength is the minimum length of a calendar word that is matched with a misspelling.
const minMisspelledLength = 6

// calendarWords holds the long calendar words by language.
var calendarWords = sync.OnceValue(func() [][]string {
	var out [][]string
	for _, l := range lexicon.Shipped().Languages {
		out = append(out, l.CalendarWords(minMisspelledLength))
	}
	return out
})

// respell corrects an unknown word to the only calendar word within one edit or a doubled letter:
// "tomorrwo", "sunnday". Names are excluded, such as "Augusto" without a number beside it.
func (d *Doc) respell() {
	for i, t := range d.Tokens {
		if len(t.Fold) < minMisspelledLength || t.Known() || t.Is(tokenize.FormQuoted|tokenize.FormMixed|tokenize.FormDigits|tokenize.FormCaps|tokenize.FormSign) || t.Glued {
			continue
		}
		near, many := "", false
		for n, words := range calendarWords() {
			if !d.Languages.At(i).Likely(n) {
				continue
			}
			for _, w := range words {
				if tokenize.OneSlip(t.Fold, w) || tokenize.Doubled(t.Fold, w) {
					many = many || near != "" && near != w
					near = w
				}
			}
		}
		if near == "" || many || t.Is(tokenize.FormTitle) && !t.Is(tokenize.FormFirst) && !d.numbered(i) {
			continue
		}
		d.Tokens[i] = t.Respelled(near)
	}
}

// numbered reports whether a number stands beside a token.
func (d *Doc) numbered(i int) bool {
	digits := func(i int) bool {
		return i >= 0 && i < len(d.Tokens) && d.Tokens[i].Is(tokenize.FormDigits|tokenize.FormMixed)
	}
	return digits(i-1) || digits(i+1)
}
