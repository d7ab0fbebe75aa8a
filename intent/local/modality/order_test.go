package modality_test

import (
	"slices"
	"testing"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// What is told and asked for behind it is what somebody wants; what is denied, supposed or
// asked is not, and no request is asked for twice.
func TestWhatIsToldMayBeAskedFor(t *testing.T) {
	t.Parallel()
	lex := lexicon.Shipped()
	for say, want := range map[string]bool{
		"Lena Abel will be away next week, enter that please":         true,
		"Lena Abel was ill. Please put it in for her":                 true,
		"Lena Abel ist nächste Woche weg, bitte eintragen":            true,
		"Lena Abel está fora na próxima semana, trata disso":          true,
		"Lena Abel estará fuera, regístralo por favor":                true,
		"Lena Abel sera absente, merci de faire la demande":           true,
		"Lena Abel è in ferie, registralo per favore":                 true,
		"Lena Abel isn't away next week, enter that please":           false,
		"Lena Abel will be away next week, don't enter that":          false,
		"if Lena Abel is away next week, enter that":                  false,
		"Is Lena Abel away next week? Enter that":                     false,
		"cancel the trip of Lena Abel, take care of it please":        false,
		"Lena Abel n'est pas absente, merci de faire la demande":      false,
		"Lena Abel ist nächste Woche nicht weg, bitte eintragen":      false,
		"Lena Abel no está fuera, regístralo":                         false,
		"Lena Abel will be away next week, what do you think of that": false,
	} {
		tokens := tokenize.Tokens(say)
		bids := func(i int) bool { return lex.Kin(tokens[i].Fold) != 0 }
		m := modality.Segmented(lex, say, tokens, nil, bids, func(int, int) bool { return false })
		if got := slices.ContainsFunc(m.Segments, func(s modality.Segment) bool { return m.Ordered(s.From, s.To) }); got != want {
			t.Errorf("%q is asked for: %v", say, got)
		}
	}
}
