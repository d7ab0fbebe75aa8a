package text

import "strings"

// Kin gives the numbers of the groups of everyday verbs that a word belongs to.
// Verbs of one group ask for the same kind of thing, whatever it is done to:
// "remove", "erase" and "löschen". Most words belong to none.
func (l *Lexicon) Kin(fold string) []int {
	for n := len(fold); n >= 2 && len(fold)-n <= maxVerbEnding; n-- {
		if groups, ok := l.kin[fold[:n]]; ok && verbEnding(fold[n:]) {
			return groups
		}
	}
	return nil
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

func kinOf(lines string) map[string][]int {
	out := map[string][]int{}
	group := 0
	for line := range strings.Lines(lines) {
		for stem := range strings.FieldsSeq(line) {
			out[stem] = append(out[stem], group)
		}
		group++
	}
	return out
}

// kinWords holds one group a line: stems of verbs in English, Portuguese,
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
buy bought purchas order acquir compr pedid kauf bestell`
