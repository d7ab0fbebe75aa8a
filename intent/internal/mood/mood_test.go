package mood_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/manifold-run/manifold/intent/internal/mood"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

func TestMoodsOfSixLanguages(t *testing.T) {
	t.Parallel()
	for say, want := range map[string]mood.Mood{
		"close the shop":                    0,
		"don't close the shop":              mood.Negated,
		"instead of closing the shop":       mood.Negated,
		"what would happen if we closed it": mood.WhatIf,
		"how do I close the shop":           mood.HowTo,
		"can I close the shop":              mood.Permission,
		"why is the shop closed":            mood.Question,
		"we closed the shop":                mood.Narrative,
		"feche a loja":                      0,
		"não feche a loja":                  mood.Negated,
		"nao feche a loja":                  mood.Negated,
		"reserve para a Rita no dia 3":      0,
		"se chover feche a loja":            mood.Conditional,
		"a loja que se chama Sol":           0,
		"cierra la tienda":                  0,
		"no cierres la tienda":              mood.Negated,
		"¿puedo cerrar la tienda?":          mood.Permission,
		"schließ den Laden":                 0,
		"schließ den Laden nicht":           mood.Negated,
		"wie schließe ich den Laden":        mood.HowTo,
		"ferme la boutique s'il te plaît":   0,
		"ne ferme plus la boutique":         mood.Negated,
		"puis-je fermer la boutique":        mood.Permission,
		"chiudi il negozio":                 0,
		"non chiudere il negozio":           mood.Negated,
		"posso chiudere il negozio":         mood.Permission,
		"cosa accade se chiudo il negozio":  mood.WhatIf,
	} {
		if got := mood.New().Of(tokenize.Tokens(say), nil, true); got != want {
			t.Errorf("%q: mood %b, want %b", say, got, want)
		}
	}
}

// What is said in a language without its tests is held, and nothing else is.
func TestALanguageThatIsNotProvenIsHeld(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for _, l := range lexicon.Shipped().Languages {
		raw, err := os.ReadFile("../lang/lexica/" + l.Code + ".toml")
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
	reader := mood.Of(lexica)
	for say, held := range map[string]bool{
		"chiudi il negozio questa sera per favore": true, "close the shop this evening please": false, "fecha a loja esta noite por favor": false,
	} {
		m := reader.Of(tokenize.Tokens(say), nil, true)
		if (m&mood.Foreign != 0) != held || held && m.Note() == "" {
			t.Errorf("%q: held %v, want %v", say, m&mood.Foreign != 0, held)
		}
	}
}

// A word that says no in one language only is one wherever a verb of that language
// stands behind it, however foreign the names of the sentence are.
func TestNoBeforeItsVerbAlwaysSaysNo(t *testing.T) {
	t.Parallel()
	r := mood.New()
	for say, negated := range map[string]bool{
		"no quites el chatflow Morning Standup": true,
		"no lo anules":                          true,
		"envie a mensagem no canal de vendas":   false,
		"publique o aviso no quadro da equipe":  false,
	} {
		if got := r.Of(tokenize.Tokens(say), nil, true)&mood.Negated != 0; got != negated {
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
		if got := mood.IsQuestion(tokenize.Tokens(say), nil); got != question {
			t.Errorf("%q: question %v, want %v", say, got, question)
		}
	}
}
