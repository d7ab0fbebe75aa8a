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
