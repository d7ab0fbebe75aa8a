package lexicon

import (
	"slices"
	"strings"
)

// CalendarWords returns the folded names of months, weekdays and days such as "tomorrow" with a
// minimum length.
func (l *Language) CalendarWords(shortest int) []string {
	var words []string
	add := func(list string) {
		for w := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ' ' || r == '|' }) {
			if w = Fold(w); len(w) >= shortest && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	add(l.Dates.Months)
	add(l.Dates.Weekdays)
	for _, day := range l.Dates.Near {
		// "1 tomorrow morning|night?" also stands for its first word.
		if f := strings.Fields(day); (len(f) == 2 || len(f) == 3 && strings.HasSuffix(f[2], "?")) && !strings.HasSuffix(f[1], "?") {
			add(f[1])
		}
	}
	return words
}
