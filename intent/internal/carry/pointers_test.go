package carry_test

import (
	"testing"

	"github.com/manifold-run/manifold/intent/internal/account"
	"github.com/manifold-run/manifold/intent/internal/carry"
	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/text"
)

func TestWordsThatPointAtWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	lexica := lang.Shipped()
	thing := carry.Thing{Value: "Night Desk"}
	for message, want := range map[string]string{
		"and who reports to her?":        "    who reports to Night Desk?", // "and" says nothing but that it goes on
		"und wer vertritt ihn morgen?":   "    wer vertritt Night Desk morgen?",
		"¿y cuántas horas le quedan?":    "    cuántas horas Night Desk quedan?",
		"cancélalo hoy":                  "cancéla Night Desk hoy",
		"cancellala subito":              "cancella Night Desk subito",
		"duplica-o agora":                "duplica Night Desk agora",
		"supprime-le demain":             "supprime Night Desk demain",
		"e quem é a gerente dela?":       "  quem é a gerente Night Desk?",
		"tell Angelo about the regatta":  "",
		"il modello della scuola":        "",
		`send "ask him" to the channel`:  "",
		"liste les rapports de l'équipe": "",
	} {
		tokens := text.Tokens(message)
		m := account.Read(lexica, message, tokens, nil, func(int) bool { return false }, func(int, int) bool { return false })
		at := carry.Pointers(lexica, m)
		if want == "" {
			if len(at) > 0 {
				t.Errorf("%q points at something with %q", message, message[at[0].Start:at[0].End])
			}
			continue
		}
		if got := carry.Put(message, at, thing).Begun(tokens).Text(); got != want {
			t.Errorf("%q reads %q", message, got)
		}
	}
}
