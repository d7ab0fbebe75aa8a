package followup_test

import (
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/followup"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

func TestWordsThatPointAtWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	lexica := lexicon.Shipped()
	thing := followup.Referent{Value: "Night Desk"}
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
		tokens := tokenize.Tokens(message)
		m := modality.Segmented(lexica, message, tokens, nil, func(int) bool { return false }, func(int, int) bool { return false })
		at := followup.References(lexica, m)
		if want == "" {
			if len(at) > 0 {
				t.Errorf("%q points at something with %q", message, message[at[0].Start:at[0].End])
			}
			continue
		}
		if got := followup.Substitute(message, at, thing).Begun(tokens).Text(); got != want {
			t.Errorf("%q reads %q", message, got)
		}
	}
}

func TestPlacesWhereANounIsLeftOut(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"cancel the Oslo one":                "cancel the Oslo parcel",
		"and the one to Oslo?":               "",
		"lösch den nach Oslo":                "lösch den parcel nach Oslo",
		"apaga o de Oslo":                    "apaga o parcel de Oslo",
		"borra la de Oslo":                   "borra la parcel de Oslo",
		"cancel the parcel to Oslo":          "",
		`send "the Oslo one" to the channel`: "",
	} {
		tokens := tokenize.Tokens(message)
		m := modality.Segmented(lexicon.Shipped(), message, tokens, nil, func(int) bool { return false }, func(int, int) bool { return false })
		at := followup.ElidedNouns(m)
		if want == "" != (len(at) == 0) {
			t.Errorf("%q has %d such places", message, len(at))
			continue
		}
		if got := followup.Substitute(message, at, followup.Referent{Value: "parcel"}).Text(); want != "" && got != want {
			t.Errorf("%q reads %q", message, got)
		}
	}
}

func TestWhatRequestsWereAboutByTheirName(t *testing.T) {
	t.Parallel()
	list := contracts.Intent{Capability: "list_sea_parcels"}
	if got := followup.ObjectNoun([]contracts.Intent{list}); got != "sea parcel" {
		t.Errorf("%q", got)
	}
	if got := followup.ObjectNoun([]contracts.Intent{list, list}); got != "" {
		t.Errorf("two requests are about %q", got)
	}
}
