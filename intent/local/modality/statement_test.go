package modality_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// A clause that tells something of somebody else commands nothing, whatever nouns it
// holds; what asks for something stays a command, also with a name before it.
func TestWhatIsToldCommandsNothing(t *testing.T) {
	t.Parallel()
	lex := lexicon.Shipped()
	nouns := []string{"cabin", "change", "keep", "crew"} // that requests of a catalog begin with
	for say, want := range map[string]string{
		"Cancel it, the cabin crew caught a cold":                "command, told",
		"Please buy two, the old ones are falling to bits":       "command, told",
		"Lena Abel runs the kitchen, cancel her booking":         "told, command",
		"Omar Reis has to cancel his flight, book a train":       "told, command",
		"I keep losing them, order five more":                    "told, command",
		"le client a changé d'avis, annule la commande":          "told, command",
		"el cliente se arrepintió, cancela el pedido":            "told, command",
		"Lena Abel needs two days off, please request it":        "command, courtesy",
		"the crew keeps mixing up the keys, so cancel the cabin": "told, command",
		"die Gäste ärgern sich, also storniere die Buchung":      "told, command",
		"a todos les molesta, así que cancela el pedido":         "told, command",
		"cancel the cabin, so close C-5":                         "command, command",
		"if the crew agrees, so cancel the cabin":                "command, command",
		// what is dictated is the text, whatever it reads like
		"Tell the crew: The cabin has lost its heating": "command, command",
		"Schick der Küche: die Gäste sind da":           "command, command",
		// a clause of its own behind a request says why, or what stays
		"Close C-5 please, this weeks change broke it":          "command, told",
		"Wipe the bookings of C-5. The cabin itself stays":      "command, told",
		"Storniere die Buchung. Ist mit der Küche abgesprochen": "command, told",
		"Lösch die Buchung, die alte Kabine ist weg":            "command, told",
		"Close all of them. The blue one stays":                 "command, command",
		"Close the cabin. Is the crew gone?":                    "command, command",
		"cancel the cabin":                                      "command",
		"close C-5, but not C-7":                                "command, command", // an exception is none
		"Close the account. Cheers, Tom":                        "command, courtesy, courtesy",
		"Hi, Tom":                                               "courtesy, command", // nothing is signed so
	} {
		tokens := tokenize.Tokens(say)
		bids := func(i int) bool {
			return lex.Kin(tokens[i].Fold) != 0 || slices.Contains(nouns, tokens[i].Fold)
		}
		var kinds []string
		for _, s := range modality.Segmented(lex, say, tokens, nil, bids, func(int, int) bool { return false }).Segments {
			switch {
			case s.Kind == modality.Courtesy:
				kinds = append(kinds, "courtesy")
			case s.Kind.Silent():
				kinds = append(kinds, "told")
			default:
				kinds = append(kinds, "command")
			}
		}
		if got := strings.Join(kinds, ", "); got != want {
			t.Errorf("%q is %s, want %s", say, got, want)
		}
	}
}
