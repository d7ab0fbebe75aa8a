package modality_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

func TestMoodsOfSixLanguages(t *testing.T) {
	t.Parallel()
	for say, want := range map[string]modality.Modality{
		"close the shop":                    0,
		"don't close the shop":              modality.Negated,
		"instead of closing the shop":       modality.Negated,
		"what would happen if we closed it": modality.WhatIf,
		"how do I close the shop":           modality.HowTo,
		"can I close the shop":              modality.Permission,
		"why is the shop closed":            modality.Question,
		"we closed the shop":                modality.Narrative,
		"feche a loja":                      0,
		"não feche a loja":                  modality.Negated,
		"nao feche a loja":                  modality.Negated,
		"reserve para a Rita no dia 3":      0,
		"se chover feche a loja":            modality.Conditional,
		"a loja que se chama Sol":           0,
		"cierra la tienda":                  0,
		"no cierres la tienda":              modality.Negated,
		"¿puedo cerrar la tienda?":          modality.Permission,
		"schließ den Laden":                 0,
		"schließ den Laden nicht":           modality.Negated,
		"wie schließe ich den Laden":        modality.HowTo,
		"ferme la boutique s'il te plaît":   0,
		"ne ferme plus la boutique":         modality.Negated,
		"puis-je fermer la boutique":        modality.Permission,
		"chiudi il negozio":                 0,
		"non chiudere il negozio":           modality.Negated,
		"posso chiudere il negozio":         modality.Permission,
		"cosa accade se chiudo il negozio":  modality.WhatIf,
	} {
		if got := modality.NewReader().Of(tokenize.Tokens(say), nil, true); got != want {
			t.Errorf("%q: mood %b, want %b", say, got, want)
		}
	}
}

// What is said in a language without its tests is held, and nothing else is.
func TestALanguageThatIsNotProvenIsHeld(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for _, l := range lexicon.Shipped().Languages {
		raw, err := os.ReadFile("../lexicon/lexica/" + l.Code + ".toml")
		if err != nil {
			t.Fatal(err)
		}
		if l.Code == "it" {
			raw = []byte(strings.Replace(string(raw), "proven = true", "proven = false", 1))
		}
		files["lexica/"+l.Code+".toml"] = &fstest.MapFile{Data: raw}
	}
	lexica, err := lexicon.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	reader := modality.NewReaderOf(lexica)
	for say, held := range map[string]bool{
		"chiudi il negozio questa sera per favore": true, "close the shop this evening please": false, "fecha a loja esta noite por favor": false,
	} {
		m := reader.Of(tokenize.Tokens(say), nil, true)
		if (m&modality.Foreign != 0) != held || held && m.Note() == "" {
			t.Errorf("%q: held %v, want %v", say, m&modality.Foreign != 0, held)
		}
	}
}

// A word that says no in one language only is one wherever a verb of that language
// stands behind it, however foreign the names of the sentence are.
func TestNoBeforeItsVerbAlwaysSaysNo(t *testing.T) {
	t.Parallel()
	r := modality.NewReader()
	for say, negated := range map[string]bool{
		"no quites el chatflow Morning Standup": true,
		"no lo anules":                          true,
		"envie a mensagem no canal de vendas":   false,
		"publique o aviso no quadro da equipe":  false,
	} {
		if got := r.Of(tokenize.Tokens(say), nil, true)&modality.Negated != 0; got != negated {
			t.Errorf("%q: negated %v", say, got)
		}
	}
}

// A question that asks politely for a deed is a request, and one whether somebody did it,
// wants it or minds it is none.
func TestPoliteQuestionsAreRequests(t *testing.T) {
	t.Parallel()
	for say, question := range map[string]bool{
		"can u close the shop": false, "do you mind closing the shop": false, "do you close the shop": true,
		"wärst du so lieb und schließt den Laden": false, "wärst du lieber im Laden": true,
		"consegues fechar a loja": false, "conseguiste fechar a loja": true, "te importa cerrar la tienda": false, "te cerraron la tienda": true,
		"auriez-vous la bonté de fermer la boutique": false, "auriez-vous fermé la boutique": true, "tu veux bien fermer la boutique": false, "tu veux fermer la boutique": true,
		"riesci a chiudere il negozio": false, "mi fai il favore di chiudere il negozio": false, "hai chiuso il negozio": true,
	} {
		if got := modality.IsQuestion(tokenize.Tokens(say), nil); got != question {
			t.Errorf("%q: question %v, want %v", say, got, question)
		}
	}
}
