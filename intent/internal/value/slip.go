package value

import (
	"slices"
	"strings"
	"sync"

	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// shortestCalendar is how many letters a word of the calendar has at least of which a
// typing error is told.
const shortestCalendar = 6

// calendarWords are the long names of months, weekdays and days such as "tomorrow", by
// language.
var calendarWords = sync.OnceValue(func() [][]string {
	var out [][]string
	for _, l := range lang.Shipped().Languages {
		var words []string
		add := func(list string) {
			for w := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ' ' || r == '|' }) {
				if w = lang.Fold(w); len(w) >= shortestCalendar && !slices.Contains(words, w) {
					words = append(words, w)
				}
			}
		}
		add(l.Dates.Months)
		add(l.Dates.Weekdays)
		for _, day := range l.Dates.Near {
			// "1 tomorrow morning|night?" is the word by itself, too
			if f := strings.Fields(day); (len(f) == 2 || len(f) == 3 && strings.HasSuffix(f[2], "?")) && !strings.HasSuffix(f[1], "?") {
				add(f[1])
			}
		}
		out = append(out, words)
	}
	return out
})

// respell reads a word that no language has as the one name of the calendar that it is one
// slip from: "tommorow", "Wendesday". A name is none: "Augusto" without a number beside it.
func (d *Doc) respell() {
	for i, t := range d.Tokens {
		if len(t.Fold) < shortestCalendar || t.Known() || t.Is(text.FormQuoted|text.FormMixed|text.FormDigits|text.FormCaps|text.FormSign) || t.Glued {
			continue
		}
		near, many := "", false
		for n, words := range calendarWords() {
			if !d.Voice.At(i).Likely(n) {
				continue
			}
			for _, w := range words {
				if text.OneSlip(t.Fold, w) || t.Fold != w && singly(t.Fold) == singly(w) {
					many = many || near != "" && near != w
					near = w
				}
			}
		}
		if near == "" || many || t.Is(text.FormTitle) && !t.Is(text.FormFirst) && !d.numbered(i) {
			continue
		}
		d.Tokens[i] = t.Respelled(near)
	}
}

// singly is a word with each letter once where it is doubled.
func singly(w string) string {
	var b strings.Builder
	for i := range len(w) {
		if i == 0 || w[i] != w[i-1] {
			b.WriteByte(w[i])
		}
	}
	return b.String()
}

// numbered tells a token with a number right before or behind it.
func (d *Doc) numbered(i int) bool {
	digits := func(i int) bool { return i >= 0 && i < len(d.Tokens) && d.Tokens[i].Is(text.FormDigits|text.FormMixed) }
	return digits(i-1) || digits(i+1)
}
