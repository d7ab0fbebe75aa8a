package chat_test

import (
	"testing"

	"github.com/manifold-run/manifold/contracts"
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
		if got, ok := chat.ParseName(message); !ok || got != want {
			t.Errorf("%q names %q", message, got)
		}
	}
	if name, ok := chat.ParseName("Night Desk"); ok {
		t.Errorf("a name alone is read as %q", name)
	}
	for message, want := range map[string]string{"it's for Vera, please": "Vera", "für Vera": "Vera", "é para a Vera": "Vera", "es para Vera": "Vera", "c'est pour Vera": "Vera", "è per Vera": "Vera"} {
		if got, ok := chat.StripBeneficiary(message); !ok || got != want {
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
	for _, message := range []string{
		"take it off again", "hm, put that back please", "that was too early, pull it back", "nimm das wieder zurück", "das war zu schnell, mach das wieder rückgängig", "desfaz isso, foi cedo demais", "quítale la marca otra vez", "annule la dernière modification", "annulla l'ultima modifica",
	} {
		if !chat.IsRevert(message) {
			t.Errorf("%q restores nothing", message)
		}
	}
	for _, message := range []string{"take the mark off FAQ", "put it back in the sales channel", "undo the last three changes", "take it off the list"} {
		if chat.IsRevert(message) {
			t.Errorf("%q restores what was last", message)
		}
	}
	for _, message := range []string{"oops, that was the wrong one, bring it back", "das war falsch, hol es zurück bitte", "enganei-me, traz de volta", "me equivoqué, tráelo de vuelta", "mince, remets-le", "ho sbagliato, ripristinalo"} {
		if got := chat.IsRevert(message); got != (message != "mince, remets-le") {
			t.Errorf("%q restores: %v", message, got)
		}
	}
}

func TestClausesThatMayBeReasons(t *testing.T) {
	t.Parallel()
	first, rest, ok := chat.SplitClauses("Pull it back - the board wants to see it. Soon")
	if ok && (first == "" || rest == "") {
		t.Errorf("%q, %q", first, rest)
	}
	if first, rest, ok = chat.SplitClauses("pull it back, the board wants to see it"); !ok || first != "pull it back" || rest != "the board wants to see it" {
		t.Errorf("%q, %q, %v", first, rest, ok)
	}
	for clause, want := range map[string]bool{
		"the board wants to see it": true, "audit was not told": true, "but keep the other": false, "not the second": false, "at 3": false, `only "that"`: false, "soon": false, "make it small": false,
	} {
		if chat.IsReason(clause) != want {
			t.Errorf("%q may be a reason: %v", clause, !want)
		}
	}
}

func TestOneOptionIsToldWhateverItsArticle(t *testing.T) {
	t.Parallel()
	q := contracts.Interrupt{Options: []contracts.InterruptOption{{ID: "1", Label: "Night Desk NZ (open)"}, {ID: "2", Label: "Night Desk CL (open)"}}}
	for message, want := range map[string]string{"the one for the NZ": "1", "the one from CL": "2", "o de CL": "2", "the one for the moon": "the one for the moon"} {
		if got := chat.MatchOption(q, message); got != want {
			t.Errorf("%q picks %q", message, got)
		}
	}
}
