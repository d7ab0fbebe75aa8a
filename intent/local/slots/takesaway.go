package slots

import (
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// TakesAway reports whether the first verb removes something, for a capability without such a
// verb, so that the named boolean is to be false: "take the paid mark off the invoice".
func TakesAway(lexica *lexicon.Lexica, own lexicon.Kinds, tokens []tokenize.Token) bool {
	away := lexicon.KindOf("delete") | lexicon.KindOf("cancel") | lexicon.KindOf("stop")
	if own&away != 0 {
		return false
	}
	for i, t := range tokens {
		kin := lexica.Kin(t.Fold)
		for _, behind := range tokens[i+1:] {
			kin |= lexica.Kin(behind.Fold + t.Fold) // separable verb such as "take … off"
		}
		if kin != 0 {
			return kin&away != 0
		}
	}
	return false
}
