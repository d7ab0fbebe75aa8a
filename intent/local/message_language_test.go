package local_test

import (
	"testing"

	"github.com/manifold-run/manifold/intent/local"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"please give me the balance of my days off": "en", "bitte zeig mir die Urlaubstage von Ana": "de",
		"quero ver as férias da minha equipe": "pt", "quiero pedir dos días de vacaciones para Ana": "es",
		"je voudrais deux jours de congé pour Ana": "fr", "vorrei due giorni di ferie per Ana": "it",
		"PETR4": "", "": "",
	} {
		if got := local.LanguageOf(message); got != want {
			t.Errorf("%q is %q, want %q", message, got, want)
		}
	}
}
