package text

import "strings"

// Kinds is a set of kinds of everyday verbs, one bit each.
type Kinds uint32

// Kin gives the kinds that a word belongs to. Verbs of one kind ask for the same
// thing, whatever it is done to: "remove", "erase" and "löschen". Most words
// belong to none.
func (l *Lexicon) Kin(fold string) Kinds {
	for n := len(fold); n >= 2 && len(fold)-n <= maxVerbEnding; n-- {
		if kinds, ok := l.kin[fold[:n]]; ok && verbEnding(fold[n:]) {
			return kinds
		}
	}
	return 0
}

const maxVerbEnding = 4

// verbEnding tells what may stand behind the stem of a verb.
func verbEnding(s string) bool {
	switch s {
	case "", "s", "es", "ies", "d", "ed", "ied", "ing", "e", "en", "n", "t", "st", "te", "er", "a", "o", "ar", "ir", "as", "am", "em", "ou", "i", "ei", "ue", "ues", "uem", "ando", "endo":
		return true
	}
	return false
}

func kinOf(lines string) map[string]Kinds {
	out := map[string]Kinds{}
	kind := Kinds(1)
	for line := range strings.Lines(strings.TrimSpace(lines)) {
		for stem := range strings.FieldsSeq(line) {
			out[stem] |= kind
		}
		kind <<= 1
	}
	return out
}

// kinWords holds one kind a line, at most 32: stems of verbs in English, Portuguese,
// German and Spanish, folded.
const kinWords = `
remov delet eras clear drop discard scrap wip rid purg apag exclu elimin borr quit losch entfern tilg streich
cancel withdr revok retract rescind undo drop scrap rid anul desmarc revog estorn stornier absag annullier zuruckzieh widerruf
creat add mak mad set open new regist cri adicion cadastr abr crea anad erstell anleg einricht eroffn hinzufug
chang updat modif edit alter adjust amend revis set mak mad giv renam mud alter atualiz ajust troc cambi actualiz ander aktualisier anpass setz gib geb bearbeit
send sent post writ messag tell told publish shar forward envi mand post escrev public compartilh escrib send schick schreib teil veroffentlich
notif alert warn inform ping tell told remind signal avis alert lembr benachrichtig warn meld erinner informier
request ask appl fil submit enter book log regist ped pec solicit requisit marc regist beantrag anforder einreich reich eintrag trag buch
reserv book allocat separ apart guard reservier vormerk buch
show list display view print present mostr list exib muestr zeig anzeig auflist
find search look locat seek busc procur encontr pesquis such find
start begin launch run execut trigger kick inici execut rod ejecut start beginn ausfuhr
stop halt end terminat abort paus par interromp encerr det stopp beend anhalt
approv accept confirm authoriz authoris aprov aceit confirm autoriz aprueb genehmig bestatig annehm
reject declin den refus rejeit recus neg rechaz ablehn verweiger
copi copy duplicat clon kop duplic kopier
mov transfer shift relocat mov transfer desloc verschieb ubertrag
compar contrast compar vergleich
calculat comput determin estimat evaluat calc calcul berechn ermittl
get retriev fetch obtain abruf hol
buy bought purchas order acquir compr pedid kauf bestell`
