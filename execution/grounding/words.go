package grounding

import (
	"slices"
	"strings"
)

// commonWords start sentences in the languages of answers, or are capitalized within them, without
// being names.
const commonWords = `
i a an the this that these those there here it its he she they we you his her their our your my one both all each every
none no not nobody nothing yes in on at of for from by with without to into since until before after during between among and or
but so if when while where which who whose what how most least more less fewer only still also now then currently together
altogether overall total next last first second third finally however according as is are was were has have had can may will
would do does did some many few several other another right mr mrs ms dr please note sorry unfortunately
der die das dem den des ein eine einen einem einer kein keine keiner es er sie ihr ihre sein seine wir ich dies diese dieser
dieses in im am an auf aus bei bis fur mit nach seit uber um unter von vom vor wahrend zu zum zur zwischen und oder aber wenn
als wie wo wer was welche welcher welches alle alles beide jeder jede insgesamt zusammen derzeit aktuell noch nur auch dann
danach davor zuerst zuletzt damit dabei davon dort hier ja nein nicht nichts niemand am meisten wenigsten mehr weniger
ist sind war waren hat haben herr frau leider bitte gesamt
o os as um uma uns umas ele ela eles elas seu sua seus suas este esta estes estas esse essa isso isto no na nos nas do da dos
das de em por para com sem sobre entre ate desde antes depois durante e ou mas se quando onde quem qual quais que como todos
todas ambos ambas cada nenhum nenhuma ninguem nada sim nao mais menos somente apenas tambem ainda agora atualmente juntos
juntas ao aos total proximo proxima ultimo ultima primeiro primeira ha sao esta estao tem e foi foram sr sra
el la los las un una unos unas ella ellos ellas su sus este estos esos esas eso esto al del en por para con sin sobre entre
hasta desde antes despues durante y o pero si cuando donde quien cual cuales que como todos todas ambos ambas cada ningun
ninguno ninguna nadie nada no mas menos solo tambien todavia ahora actualmente juntos juntas hay son esta estan tiene tienen
fue fueron es proximo proxima ultimo ultima primero primera
le les l' d' un une des il elle ils elles son sa ses leur leurs ce cet cette ces au aux du en par pour avec sans sur sous
entre jusqu'a depuis avant apres pendant et ou mais quand qui que quel quelle quels quelles comment comme tous toutes chaque
aucun aucune personne rien oui non plus moins seulement aussi encore maintenant actuellement ensemble c'est est sont ont
a etait prochain prochaine dernier derniere premier premiere m mme dans deux voici
`

var common = func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(commonWords) {
		out[w] = true
	}
	return out
}()

// multiplied reports whether a word announces a computed value that is not checked.
func multiplied(fold string) bool {
	return slices.Contains([]string{
		"half", "twice", "double", "triple", "thrice", "quarter", "dozen", "halfte", "halb", "doppelt", "dreifach", "dutzend", "metade", "dobro", "triplo", "mitad",
		"doble", "moitie", "average", "durchschnitt", "media", "promedio", "moyenne",
	}, fold)
}

// determiner reports whether a word stands before a noun, which German capitalizes, and not before
// a name.
func determiner(fold string) bool {
	return slices.Contains(strings.Fields(`der die das dem den des ein eine einen einem einer eines kein keine keinen im am zum zur
		beim vom ins diese dieser dieses diesem diesen ihre ihr ihren ihrem seine sein seinen seinem alle allen jede jeder jedem
		offene offenen freie freien viele vielen mehr weniger meisten wenigsten welche welcher als ganze ganzen weitere weiteren
		verbleibende verbleibenden restliche restlichen letzte letzten nachste nachsten erste ersten neue neuen noch`), fold)
}

// german reports whether a sentence is German, judged by its function words.
func german(tokens []token) bool {
	count := 0
	for _, t := range tokens {
		if t.kind == kindWord && slices.Contains([]string{"der", "die", "das", "und", "hat", "haben", "ist", "sind", "mit", "von", "fur", "nicht", "noch", "bei", "den", "dem", "ein", "eine", "im", "zu", "wurde", "kostet", "am", "vom", "auf", "es"}, t.fold) {
			count++
		}
	}
	return count > 0
}

// nounEnding reports whether a word ends like a German noun; few names do.
func nounEnding(fold string) bool {
	if slices.Contains([]string{"uhr", "stand", "ende", "anfang", "rest", "person", "personen", "liste", "minus", "plus"}, fold) {
		return true
	}
	for _, ending := range []string{"ung", "ungen", "heit", "keit", "keiten", "schaft", "tion", "tionen", "tage", "tagen", "zeit", "zeiten", "preis", "preise", "summe", "betrag", "nummer", "anzahl", "termin", "termine", "urlaub", "antrag", "antrage"} {
		if strings.HasSuffix(fold, ending) {
			return true
		}
	}
	return unitOf(fold) != ""
}

// parting reports whether a token begins a new clause.
func parting(t token) bool {
	switch t.text {
	case ",", ";", ":", "—", "–", "(", ")", ".", "·", "/":
		return true
	}
	return slices.Contains([]string{
		"and", "or", "but", "while", "whereas", "und", "oder", "aber", "wahrend", "e", "ou", "mas", "enquanto", "y", "o", "pero", "mientras", "et", "mais", "tandis", "than", "als", "que", "como",
	}, t.fold) && t.kind == kindWord
}
