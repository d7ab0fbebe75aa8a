package chat_test

import (
	"testing"

	"github.com/manifold-run/manifold/orchestrator/chat"
)

func TestFragmentsInManyWords(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]chat.Fragment{
		"oops, wrong person, Vera Lang":              {Kind: chat.FragmentCorrect, Rest: "Vera Lang"},
		"oh wait, it should be Tuesday please":       {Kind: chat.FragmentCorrect, Rest: "Tuesday"},
		"ach, falsche Person, für Vera Lang bitte":   {Kind: chat.FragmentCorrect, Rest: "für Vera Lang"},
		"opa, pessoa errada, para a Vera":            {Kind: chat.FragmentCorrect, Rest: "para a Vera"},
		"perdona, me equivoqué, para Vera":           {Kind: chat.FragmentCorrect, Rest: "para Vera"},
		"attends, je me suis trompé, pour Vera, svp": {Kind: chat.FragmentCorrect, Rest: "pour Vera"},
		"aspetta, persona sbagliata, per Vera":       {Kind: chat.FragmentCorrect, Rest: "per Vera"},
		"mach 7 daraus":                              {Kind: chat.FragmentChange, Rest: "7"},
		"and for Vera, please":                       {Kind: chat.FragmentAnother, Rest: "Vera"},
	} {
		if got, ok := chat.ReadFragment(message); !ok || got != want {
			t.Errorf("%q is %+v", message, got)
		}
	}
	for _, message := range []string{"mach den Export an", "wait", "please", "thanks"} {
		if got, ok := chat.ReadFragment(message); ok {
			t.Errorf("%q is %+v", message, got)
		}
	}
}

func TestNamesAndAimsStandAlone(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"call it Night Desk": "Night Desk", "it's called “Night Desk”": "Night Desk", "nenn ihn Nachtdienst bitte": "Nachtdienst", "er soll Nachtdienst heißen": "Nachtdienst",
		"chama-lhe Plantão": "Plantão", "llámalo Guardia": "Guardia", "appelle-le Garde de nuit": "Garde de nuit", "chiamalo Guardia": "Guardia",
	} {
		if got, ok := chat.Named(message); !ok || got != want {
			t.Errorf("%q names %q", message, got)
		}
	}
	if name, ok := chat.Named("Night Desk"); ok {
		t.Errorf("a name alone is read as %q", name)
	}
	for message, want := range map[string]string{"it's for Vera, please": "Vera", "für Vera": "Vera", "é para a Vera": "Vera", "es para Vera": "Vera", "c'est pour Vera": "Vera", "è per Vera": "Vera"} {
		if got, ok := chat.Aimed(message); !ok || got != want {
			t.Errorf("%q aims at %q", message, got)
		}
	}
}

func TestCorrectionsAreReadInWhateverStandsAroundThem(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]chat.Fragment{
		"uh no, name it Night Desk":                {Kind: chat.FragmentRename, Rest: "Night Desk"},
		"no, 3 days, from Tuesday":                 {Kind: chat.FragmentCorrect, Rest: "3 days, from Tuesday"},
		"no wait, 3 days, from Tuesday":            {Kind: chat.FragmentCorrect, Rest: "3 days, from Tuesday"},
		"not Vera, Paul, from Tuesday":             {Kind: chat.FragmentCorrect, Rest: "Paul, from Tuesday"},
		"from Tuesday instead":                     {Kind: chat.FragmentCorrect, Rest: "from Tuesday"},
		"better 7":                                 {Kind: chat.FragmentCorrect, Rest: "7"},
		"hm, besser 7":                             {Kind: chat.FragmentCorrect, Rest: "7"},
		"ab Dienstag lieber":                       {Kind: chat.FragmentCorrect, Rest: "ab Dienstag"},
		"nein warte, mach 7 draus":                 {Kind: chat.FragmentChange, Rest: "7"},
		"não, melhor 7":                            {Kind: chat.FragmentCorrect, Rest: "7"},
		"não, chama-lhe antes Plantão":             {Kind: chat.FragmentRename, Rest: "Plantão"},
		"no, perdón, mejor a partir del martes":    {Kind: chat.FragmentCorrect, Rest: "a partir del martes"},
		"mejor 7":                                  {Kind: chat.FragmentCorrect, Rest: "7"},
		"bueno, que sea el martes":                 {Kind: chat.FragmentChange, Rest: "el martes"},
		"non attends, mets plutôt 7":               {Kind: chat.FragmentChange, Rest: "7"},
		"à partir de mardi plutôt":                 {Kind: chat.FragmentCorrect, Rest: "à partir de mardi"},
		"no aspetta, meglio da martedì":            {Kind: chat.FragmentCorrect, Rest: "da martedì"},
		"no, chiamalo piuttosto Guardia di notte":  {Kind: chat.FragmentRename, Rest: "Guardia di notte"},
		"euh non, appelle-le plutôt Garde de nuit": {Kind: chat.FragmentRename, Rest: "Garde de nuit"},
	} {
		if got, ok := chat.ReadFragment(message); !ok || got != want {
			t.Errorf("%q is %+v", message, got)
		}
	}
	for _, message := range []string{"hm", "not only 7", "well, 7 is a lot", "instead", "antes de terça"} {
		if got, ok := chat.ReadFragment(message); ok {
			t.Errorf("%q is %+v", message, got)
		}
	}
}

func TestWhatIsTakenBackInManyWords(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]chat.Verb{
		"no, forget that, I've changed my mind": chat.Drop, "actually, never mind. Thanks!": chat.Drop, "nein, lass das, ich brauche es nicht mehr": chat.Drop, "ach nein, doch nicht": chat.Drop,
		"esquece, afinal já não quero": chat.Drop, "não, esquece": chat.Drop, "no, olvídalo, ya no hace falta": chat.Drop, "laisse tomber finalement": chat.Drop, "non, pas la peine": chat.Drop,
		"no, lascia stare, ho cambiato idea": chat.Drop, "hm no, rather not": chat.Drop, "actually leave it as it is": chat.Drop, "ach, lass es so wie es ist": chat.Drop, "afinal deixa como está": chat.Drop, "mejor déjalo así": chat.Drop, "en fait laisse-le comme ça": chat.Drop, "anzi, lascialo com'è": chat.Drop, "ach, lieber nicht": chat.Drop, "oops, undo that please": chat.Undo, "forget that, undo it": chat.Undo, "can you undo that?": chat.Undo, "ups, enganei-me, desfaz": chat.Undo,
	} {
		if got, ok := chat.Parse(message); !ok || got.Verb != want {
			t.Errorf("%q is %+v", message, got)
		}
	}
	for _, message := range []string{
		"não esquece", "no", "no longer needed?", "don't undo that", "não desfaz", "forget that Vera is ill", "leave it to Vera", "leave it as it is on the third floor", "scrap that alert", "sorry, my mistake",
		"no, scrap that, and book Vera off", "doch", "espera", "nicht mehr als 7", "undo that tomorrow", "do not forget it", "nicht vergessen", "n'oublie pas",
	} {
		if got, ok := chat.Parse(message); ok && (got.Verb == chat.Drop || got.Verb == chat.Undo) {
			t.Errorf("%q is %+v", message, got)
		}
	}
	for _, message := range []string{"oops, that was the wrong one, bring it back", "das war falsch, hol es zurück bitte", "enganei-me, traz de volta", "me equivoqué, tráelo de vuelta", "mince, remets-le", "ho sbagliato, ripristinalo"} {
		if got := chat.Restores(message); got != (message != "mince, remets-le") {
			t.Errorf("%q restores: %v", message, got)
		}
	}
}
