package modality_test

import (
	"testing"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// heard reads a message in which every everyday verb begins a request.
func heard(say string) *modality.Message {
	tokens := tokenize.Tokens(say)
	bids := func(i int) bool { return lexicon.Shipped().Kin(tokens[i].Fold) != 0 }
	return modality.Segmented(lexicon.Shipped(), say, tokens, nil, bids, func(int, int) bool { return false })
}

// What begins or ends a request politely, and what asks once more for what was just
// told, makes no command of its own, in any of the languages.
func TestCourtesyAroundARequestIsNone(t *testing.T) {
	t.Parallel()
	for _, say := range []string{
		"sorry to bother you again", "when you get a spare minute", "quick favour", "no rush at all", "there's no hurry", "whenever suits", "many thanks", "talk soon",
		"can you take care of it", "please put the request in", "could you put it through for her please", "would you sort that out?", "as agreed on the phone", "as per our call",
		"wenn du gerade eine Minute hast", "sobald Sie Zeit haben", "kleine Bitte", "entschuldige die Störung", "eilt nicht", "keine Eile", "liebe Grüße", "schönes Wochenende",
		"wie vereinbart", "sei doch so nett", "reich das bitte ein", "kümmerst du dich darum?", "könnten Sie das bitte erledigen",
		"assim que tiver um tempinho", "desculpa incomodar de novo", "um favorzinho rápido", "sem pressa", "não há pressa", "melhores cumprimentos", "até breve",
		"como combinado", "faça o pedido por favor", "podes tratar disso?", "cuida disso para ela",
		"en cuanto tengas un rato", "perdona que te moleste otra vez", "una cosita rápida", "sin prisa", "no corre prisa", "hasta luego", "saludos cordiales",
		"como acordamos", "haz la solicitud por favor", "¿te encargas tú?", "hazlo por favor",
		"quand vous aurez un moment", "dès que tu peux", "désolée de vous déranger encore", "rien d'urgent", "bien cordialement", "à bientôt",
		"comme convenu", "pourriez-vous faire la demande", "occupe-t'en", "tu t'en occupes ?",
		"appena hai un attimo", "scusa il disturbo", "un piccolo favore", "senza fretta", "non c'è fretta", "buon lavoro", "distinti saluti",
		"come concordato", "mi raccomando", "occupatene tu", "ci pensi tu?", "fai la richiesta per favore",
	} {
		for _, s := range heard(say).Segments {
			if s.Kind != modality.Courtesy {
				t.Errorf("%q asks for something: %+v", say, s)
			}
		}
	}
}

// What is denied, what depends on more than somebody's time, and what has a value of
// its own is never courtesy.
func TestWhatOnlyLooksLikeCourtesyIsKept(t *testing.T) {
	t.Parallel()
	for _, say := range []string{
		"do not put it through", "don't take care of it", "when you have the signed form", "if you get the money", "put it in room 5", "as agreed with the customer",
		"nicht das erledigen", "wenn du das Geld hast", "trag das nicht ein",
		"não trates disso", "quando tiver o contrato", "no hacerlo", "cuando tengas el dinero",
		"ne le fais pas", "quand tu auras payé la facture", "non farlo", "quando hai i soldi",
	} {
		m := heard(say)
		if len(m.Segments) != 1 || m.Segments[0].Kind == modality.Courtesy {
			t.Errorf("%q is nothing but courtesy", say)
		}
	}
}

// Clauses of what came to pass are told, whichever verb they have.
func TestIrregularVerbsTellWhatCameToPass(t *testing.T) {
	t.Parallel()
	for _, say := range []string{
		"Ana chose the other room", "the driver overslept", "the parcel froze in the yard", "Paul drove it home",
		"Anna fand den Schlüssel", "Paul verlor die Karte", "Ana trouxe o carro", "o Rui esteve doente", "Marta tuvo fiebre", "Luis trajo el coche",
		"Claire vendit la voiture", "Paola ruppe lo specchio", "Luca rimase a casa",
	} {
		tokens := tokenize.Tokens(say)
		if !heard(say).Reports(0, len(tokens), make([]bool, len(tokens))) {
			t.Errorf("%q is not told", say)
		}
	}
}
