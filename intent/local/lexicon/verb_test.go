package lexicon_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/intent/local/lexicon"
)

// Everyday verbs have their kinds in the forms that people write, with the pronouns
// that Romance languages put behind and the halves that German puts before.
func TestEverydayVerbsHaveTheirKinds(t *testing.T) {
	t.Parallel()
	for kind, words := range map[string]string{
		"cancel":  "ditch ditched offblow abblasen abbestelle descarta risque suspende descarte décommande résiliez disdire cancellala",
		"delete":  "trash offtake beseitige rauswerfen descarte tacha jette éliminez scarta dumped outtake delete limpa vacía entsorge rausschmeißen purgez svuota",
		"create":  "enrol registered inpencil anmelden eintragen inscreve inscribe apunta inscrivez iscrivi",
		"change":  "switch ersetze tausche markieren troque marque corrige convierte remplacez marquez sostituisci contrassegna flag rewrite substitui configura sustituye reescribe umschalten überarbeite verwende réglez utiliser riscrivi regola",
		"send":    "relay resend weiterleiten zuschicken encaminhe reenvía transmettez inoltralo outpush divulga reinstellen herumschicken difunde relaie",
		"request": "enrolling downput register anmelde inscreva encomenda apúntalo gestiona déposez iscriva",
		"move":    "postponed backpush reschedule verlegen umbuchen adia remarque aplaza adelanta repoussez décale rinvia posticipa",
		"approve": "ratify offsign bewilligen freigeben valide validar autorice validez valida",
		"record":  "jotted captures aufschreiben protokolliere aponta guarde escríbelo notez consignez scrivilo annotala",
		"buy":     "procured besorgen anschaffen encomende adquiere achète procura",
		"raise":   "hike boosted anheben steigere suba eleva sube haussez alza",
		"lower":   "slashed trim herabsetzen verkürze baixe abaixa rebaja baje abaissez ribassa",
		"reserve": "secure inpencil vorbuchen terminiere separe guarda retiens pianifica",
		"assign":  "delegate overhand zuordnen anvertraue delegue designa délègue affida",
		"stop":    "suspended freeze unterbrich pausieren suspenda paúsalo suspendez sospendi",
		"start":   "resume repeat aktiviere wiederhole repita retoma empieza repite relance ripeti",
		"find":    "outfind raussuchen heraussuche localize busque localiza repérez rintraccia",
	} {
		for word := range strings.FieldsSeq(words) {
			if lexicon.Shipped().Kin(lexicon.Fold(word))&lexicon.KindOf(kind) == 0 {
				t.Errorf("%q is no %s", word, kind)
			}
		}
	}
}

// Nouns and adjectives that begin like one of these verbs are none.
func TestNounsAreNoEverydayVerbs(t *testing.T) {
	t.Parallel()
	for word := range strings.FieldsSeq("Termin Tag Tage Leiter Unterricht sicher kurz story upset valid active reporter genere aprile portale ritiro salvo not pas creme modelo") {
		if kinds := lexicon.Shipped().Kin(lexicon.Fold(word)); kinds != 0 {
			t.Errorf("%q is a verb: %b", word, kinds)
		}
	}
}

// What people are called is no everyday verb in any of the languages: "Mark extended it" is
// told of Mark.
func TestFirstNamesAreNoEverydayVerbs(t *testing.T) {
	t.Parallel()
	for name := range strings.FieldsSeq("Mark Monte Salva Rita Grant Drew Rob Chase Nick Pat Bill Jack Clara Pia Paz Dina Elena Alma Luz Guido Vito Remi Valentin Odile Heike Ute Jens") {
		if kinds := lexicon.Shipped().Kin(lexicon.Fold(name)); kinds != 0 {
			t.Errorf("%q is a verb: %b", name, kinds)
		}
	}
}

// All forms of a verb have one root, whatever pronoun stands behind.
func TestFormsOfAVerbHaveOneRoot(t *testing.T) {
	t.Parallel()
	for root, words := range map[string]string{"cambi": "cambia cámbiale cambiar", "borr": "borra bórralo bórralas", "delet": "delete deleting", "": "table lentamente"} {
		for word := range strings.FieldsSeq(words) {
			if got := lexicon.Shipped().Root(lexicon.Fold(word)); got != root {
				t.Errorf("the root of %q is %q, want %q", word, got, root)
			}
		}
	}
}
