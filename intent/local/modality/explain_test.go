package modality_test

import (
	"slices"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// asksWith is a vocabulary of verbs alone.
type asksWith []string

func (asksWith) Head(tokenize.Token) bool           { return false }
func (asksWith) Describes(tokenize.Token) bool      { return false }
func (v asksWith) Verbs() []string                  { return v }
func (asksWith) Like(tokenize.Token) bool           { return false }
func (asksWith) Labels(tokenize.Token, string) bool { return false }
func (asksWith) Measures(string, string) bool       { return false }
func (asksWith) Says([]string) bool                 { return false }

// What makes room for the new value of a change is shown as not used; where something is
// made, it may be a wish of its own and binds, and what is excepted from a change binds too.
func TestWhatIsReplaced(t *testing.T) {
	t.Parallel()
	lex := lexicon.Shipped()
	for say, want := range map[string]struct {
		verb string
		last contracts.WordClass
	}{
		"change it to oak instead of the old wood":        {"change", contracts.WordUnused},
		"ändere es auf Eiche statt der alten Buche":       {"änder", contracts.WordUnused},
		"cambia la madera en vez de la madera vieja":      {"cambi", contracts.WordUnused},
		"book one instead of the old table":               {"book", contracts.WordUnresolved},
		"change it to oak instead of pine":                {"change", contracts.WordUnresolved},
		"change it from now on":                           {"change", contracts.WordCourtesy},
		"book one, and change the rest from today onward": {"book", contracts.WordUnresolved},
	} {
		tokens := tokenize.Tokens(say)
		bids := func(i int) bool { return lex.Kin(tokens[i].Fold) != 0 }
		m := modality.Segmented(lex, say, tokens, nil, bids, func(int, int) bool { return false })
		a := m.RolesOf(modality.RoleRequest{From: 0, To: len(tokens), Knows: asksWith{lexicon.Fold(want.verb)}})
		if !slices.Contains(a.Classes, want.last) || want.last != contracts.WordUnresolved && slices.Contains(a.Classes[len(tokens)-2:], contracts.WordUnresolved) {
			t.Errorf("%q: %v", say, a.Classes)
		}
	}
}

// A name behind such words as "under the name" runs to the end of its clause, and no operator or
// request is part of it.
func TestNamesRunToTheEndOfTheirClause(t *testing.T) {
	t.Parallel()
	lex := lexicon.Shipped()
	for say, want := range map[string]string{
		"keep it under the name Garden help, we need it":  "Garden help",
		"guárdalo con el nombre Ayuda técnica":            "Ayuda técnica",
		"keep it under the name Garden":                   "",
		"keep it under the name Garden for now":           "",
		"keep it under the name Garden help of the house": "",
		"keep it like Garden help, we need it":            "",
	} {
		tokens := tokenize.Tokens(say)
		bids := func(i int) bool { return lex.Kin(tokens[i].Fold) != 0 }
		m := modality.Segmented(lex, say, tokens, nil, bids, func(int, int) bool { return false })
		first := slices.IndexFunc(tokens, func(t tokenize.Token) bool { return t.Fold == "garden" || t.Fold == "ayuda" })
		got := ""
		if end := modality.NameEnd(m, first, first+1); end > 0 {
			got = say[tokens[first].Start:tokens[end].End]
		}
		if got != want {
			t.Errorf("%q: %q, want %q", say, got, want)
		}
	}
}
