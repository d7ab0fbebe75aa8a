package eval_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
)

// calls are what a message asks for: the name of each capability with the values of some
// parameters.
func calls(intents []contracts.Intent, names ...string) []string {
	var out []string
	for _, in := range intents {
		words := []string{in.Capability}
		for _, name := range names {
			if v, ok := in.Parameters[name]; ok {
				words = append(words, fmt.Sprint(v))
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// eachIs says sentences that are to be accepted as one request each, with what is done and the
// values of some parameters.
func eachIs(t *testing.T, understand func(string) intent.Understanding, said map[string]string, names ...string) {
	t.Helper()
	for say, want := range said {
		u := understand(say)
		if got := calls(u.Intents, names...); u.Outcome != contracts.ReadingAccepted || !slices.Equal(got, []string{want}) {
			t.Errorf("%q: %s %v %s", say, u.Outcome, got, u.Question)
		}
	}
}

// One verb may be said for several requests, each with values of its own; of what is left
// nothing is done in silence.
func TestOneVerbIsSaidForSeveral(t *testing.T) {
	t.Parallel()
	understand := understander(t)
	two := []string{"set_price_alert AAPL 210", "set_price_alert TSLA 390"}
	for say, want := range map[string][]string{
		"set an alert for Apple at 210 and Tesla at 390":                    two,
		"set alerts for Apple at 210, for Tesla at 390":                     two,
		"cria um alerta para a Apple nos 210 e Tesla nos 390":               two,
		"richte einen Alarm für Apple bei 210 und für Tesla bei 390 ein":    two,
		"crea una alerta para Apple en 210 y para Tesla en 390":             two,
		"crée une alerte pour Apple à 210 et pour Tesla à 390":              two,
		"1) set an alert for Apple at 210 2) set an alert for Tesla at 390": two,
		"1. delete alert al-4 2. list my alerts":                            {"delete_price_alert", "list_price_alerts"},
	} {
		u := understand(say)
		if got := calls(u.Intents, "symbol", "above"); u.Outcome != contracts.ReadingAccepted || !slices.Equal(got, want) {
			t.Errorf("%q: %s %s\n%s", say, u.Outcome, u.Question, cmp.Diff(want, got))
		}
	}
	leave := []string{"cancel_time_off Rita Falk 2026-12-08", "cancel_time_off Ana Souza 2026-12-10"}
	if got := calls(understand("cancel the leave of Rita Falk on 2026-12-08 and of Ana Souza on 2026-12-10").Intents, "worker", "from"); !slices.Equal(got, leave) {
		t.Error(cmp.Diff(leave, got))
	}
	for _, say := range []string{
		"set an alert for Apple at 210 or Tesla at 390",
		"set an alert for Apple at 210 and not Tesla at 390",
		"set an alert for Apple at 210 and if it rains Tesla at 390",
		"set an alert for Apple at 210 and maybe Tesla at 390",
		"set an alert for Apple at 210 and Tesla fell to 390",
	} {
		u := understand(say)
		if got := calls(u.Intents, "symbol", "above"); u.Outcome == contracts.ReadingAccepted && slices.Contains(got, two[1]) {
			t.Errorf("%q: %v", say, got)
		}
	}
}

// How something shall be called may be said behind the request, as a request of its own.
func TestWhatItShallBeCalledIsSaidBehind(t *testing.T) {
	t.Parallel()
	understand := understander(t)
	eachIs(t, understand, map[string]string{
		"copy the Lunch flow and call it Midday Two":                         "duplicate_chatflow Lunch Midday Two",
		"rename the chatflow Lunch, call it Dinner":                          "rename_chatflow Lunch Dinner",
		"renomeia o chatflow Lunch e chame-o de Jantar":                      "rename_chatflow Lunch Jantar",
		"renombra el chatflow Lunch y llámalo Cena":                          "rename_chatflow Lunch Cena",
		"cambia el nombre del chatflow Lunch y que se llame Almuerzo de Hoy": "rename_chatflow Lunch Almuerzo de Hoy",
		"renomme le chatflow Lunch et appelle-le Dîner":                      "rename_chatflow Lunch Dîner",
	}, "chatflow_id", "name")
}

// What stands behind a colon is what is sent, also where it tells something.
func TestWhatStandsBehindAColonIsSent(t *testing.T) {
	t.Parallel()
	understand := understander(t)
	for say, want := range map[string]string{
		"send to sales: the lift is broken, we called them": "the lift is broken, we called them",
		"schick an sales: der Aufzug ist kaputt":            "der Aufzug ist kaputt",
		"sag in sales durch: der Aufzug ist kaputt":         "der Aufzug ist kaputt",
		"envoie à sales : l'ascenseur est en panne":         "l'ascenseur est en panne",
	} {
		u := understand(say)
		if got := calls(u.Intents, "message"); u.Outcome != contracts.ReadingAccepted || !slices.Equal(got, []string{"send_message " + want}) {
			t.Errorf("%q: %s %v %s", say, u.Outcome, got, u.Question)
		}
	}
	if u := understand("don't send to sales: the lift is broken"); u.Outcome == contracts.ReadingAccepted {
		t.Errorf("is sent, though it must not: %v", u.Intents)
	}
}

// Verbs of crossing say which side of a price is meant, also at the end of a clause.
func TestPricesAreCrossed(t *testing.T) {
	t.Parallel()
	understand := understander(t)
	for _, say := range []string{
		"tell me when Tesla breaks 390", "tell me when Tesla hits 390", "sag Bescheid, wenn Tesla die 390 knackt", "melde dich, sobald Tesla die 390 erreicht",
		"avísame cuando Tesla rompa los 390", "préviens-moi quand Tesla franchit les 390", "avvisami quando Tesla raggiunge i 390", "avisa quando a Tesla chegar aos 390",
		"avisa quando a Tesla passar de US$ 390", "setze einen Alarm für Tesla bei dreihundertneunzig",
	} {
		u := understand(say)
		if got := calls(u.Intents, "symbol", "above"); u.Outcome != contracts.ReadingAccepted || !slices.Equal(got, []string{"set_price_alert TSLA 390"}) {
			t.Errorf("%q: %s %v %s", say, u.Outcome, got, u.Question)
		}
	}
}

// What was set up is taken away again; what is done once more is asked about.
func TestWhatIsTakenAwayAgain(t *testing.T) {
	t.Parallel()
	understand := understander(t)
	for say, want := range map[string][]string{
		"delete alert al-6 again":                  {"delete_price_alert al-6"},
		"lösch den Alarm al-6 wieder":              {"delete_price_alert al-6"},
		"delete alerts al-6, al-7 as well as al-8": {"delete_price_alert al-6", "delete_price_alert al-7", "delete_price_alert al-8"},
		"set an alert for Tesla at 390 again":      nil,
	} {
		u := understand(say)
		if got := calls(u.Intents, "alert_id"); (u.Outcome == contracts.ReadingAccepted) != (want != nil) || want != nil && !slices.Equal(got, want) {
			t.Errorf("%q: %s %v %s", say, u.Outcome, got, u.Question)
		}
	}
}

// A verb whose other half stands at the end is that verb, and weeks from a day of the calendar
// are how long it takes and where it begins.
func TestVerbsApartAndWeeksFromADay(t *testing.T) {
	t.Parallel()
	understand := understander(t)
	eachIs(t, understand, map[string]string{
		"lege einen Alarm für SAP bei 300 an":                           "set_price_alert SAP 300",
		"leg für Apple einen Alarm bei 250 an":                          "set_price_alert AAPL 250",
		"book one week from December 14 for Carla Mendes":               "request_time_off Carla Mendes 5 2026-12-14",
		"request vacation for Bruno Lima for two weeks from 2026-12-14": "request_time_off Bruno Lima 10 2026-12-14",
		"take December 14 to December 16 off for Jonas Keller":          "request_time_off Jonas Keller 3 2026-12-14",
	}, "symbol", "above", "worker", "days", "start")
}

// Who is asked in front of a colon may have any name; what stands behind it is the question.
func TestWhoIsAskedBeforeAColon(t *testing.T) {
	t.Parallel()
	understand := understander(t)
	eachIs(t, understand, map[string]string{
		"ask Harbour Guide: when does it open?":     "predict_chatflow Harbour Guide when does it open",
		"frag den HR Bot: habt ihr sonntags offen?": "predict_chatflow HR Bot habt ihr sonntags offen",
		"demande à Legal QA : est-ce permis ?":      "predict_chatflow Legal QA est-ce permis",
	}, "chatflow_id", "question")
	if u := understand("tell Bruno Lima: lunch is ready"); u.Outcome == contracts.ReadingAccepted {
		t.Errorf("somebody is told, who cannot be: %v", u.Intents)
	}
}
