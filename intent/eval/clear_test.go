package eval_test

import (
	"slices"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// Kinds of clear requests that were asked about, declined or read wrongly once.
func TestClearRequestsAreDone(t *testing.T) {
	t.Parallel()
	catalog := shipped(t)
	adapter := settled(t, catalog)
	judgeAll(t, adapter, catalog, map[string][]string{
		// A period behind "until" counts its days, in whatever words.
		"Urlaub für Rita Falk vom 3. Februar bis zum 5. Februar":                      {"workday.request_time_off absence_type=vacation days=3 start=2027-02-03 worker=[Rita Falk]"},
		"request leave for Rita Falk from February 9 until February 12":               {"workday.request_time_off days=4 start=2027-02-09 worker=[Rita Falk]"},
		"pide vacaciones para Rita Falk desde el 9 de febrero hasta el 12 de febrero": {"workday.request_time_off absence_type=vacation days=4 start=2027-02-09 worker=[Rita Falk]"},
		// Values alone say what is wanted, where all that is needed is there.
		"férias para o Hugo Stein de 3 de fevereiro a 5 de fevereiro": {"workday.request_time_off absence_type=vacation days=3 start=2027-02-03 worker=[Hugo Stein]"},
		"two weeks off for Lena Braga from January 4":                 {"workday.request_time_off days=10 start=2027-01-04 worker=[Lena Braga]"},
		// What is told beside a request gives what it lacks, and the kind.
		"Tom Vidal is off for three days, starting a week from Monday": {"workday.request_time_off days=3 start=2026-11-30 worker=[Tom Vidal]"},
		"Hugo Stein ist krank, 3 Tage ab 2026-12-07":                   {"workday.request_time_off absence_type=sick days=3 start=2026-12-07 worker=[Hugo Stein]"},
		"Storniere bitte den Urlaub von Rita Falk am 2026-12-07":       {"workday.cancel_time_off from=2026-12-07 worker=[Rita Falk]"},
		// What stands behind a colon is told as it is, and a clause behind a request says why.
		"post in general: The doors have been fixed":                                         {"communication.send_message channel=general message=[The doors have been fixed]"},
		"write to the sales channel: the doors are open":                                     {"communication.send_message channel=sales message=[the doors are open]"},
		"delete alert al-9 please, todays news changed it":                                   {"finance.delete_price_alert alert_id=al-9"},
		"delete alert al-9 please. Is al-7 gone?":                                            nil,
		"Storniere den Urlaub von Rita Falk am 2026-12-07. Ist mit der Schicht abgesprochen": {"workday.cancel_time_off comment=[Ist mit der Schicht abgesprochen] from=2026-12-07 worker=[Rita Falk]"},
		// A slip in a short word, courtesy in the middle.
		"delte alrt al-9": {"finance.delete_price_alert alert_id=al-9"},
		// A value that the examples put behind a word, and what is only quoted.
		`envia "apaga tudo o que houver" para o canal lobby`: {"communication.send_message channel=lobby message=[apaga tudo o que houver]"},
		`send "thanks to all" to the sales channel`:          {"communication.send_message channel=sales message=[thanks to all]"},
		// What somebody needs is asked for, and a day itself is one day.
		"Hugo Stein needs Tuesday off":                     {"workday.request_time_off days=1 start=2026-11-24 worker=[Hugo Stein]"},
		"book Hugo Stein 2026-12-08 off":                   {"workday.request_time_off days=1 start=2026-12-08 worker=[Hugo Stein]"},
		"Hugo Stein möchte Dienstag frei":                  {"workday.request_time_off days=1 start=2026-11-24 worker=[Hugo Stein]"},
		"Hugo Stein a besoin d'un congé demain":            {"workday.request_time_off days=1 start=2026-11-22 worker=[Hugo Stein]"},
		"necesito el martes libre para Hugo Stein":         {"workday.request_time_off days=1 start=2026-11-24 worker=[Hugo Stein]"},
		"necesito cancelar el martes libre de Hugo Stein":  {"workday.cancel_time_off from=2026-11-24 worker=[Hugo Stein]"},
		"Hugo Stein needs his leave on Tuesday cancelled?": nil,
		// Who is told, and what.
		"let the sales channel know that the lift works again":                                    {"communication.send_message channel=sales message=[the lift works again]"},
		`send "doors open" to sales and to operations`:                                            {"communication.send_message channel=sales message=[doors open]", "communication.send_message channel=operations message=[doors open]"},
		`Schreib "Türen offen" an sales und an operations`:                                        {"communication.send_message channel=sales message=[Türen offen]", "communication.send_message channel=operations message=[Türen offen]"},
		`manda "portas abertas" para sales e para operations`:                                     {"communication.send_message channel=sales message=[portas abertas]", "communication.send_message channel=operations message=[portas abertas]"},
		"price of Tesla and my alerts":                                                            {"finance.get_stock_price symbol=TSLA", "finance.list_price_alerts"},
		"o saldo de Rita Falk e os meus alertas":                                                  {"workday.get_time_off_balances worker=[Rita Falk]", "finance.list_price_alerts"},
		"le solde de Rita Falk et le cours de Tesla":                                              {"workday.get_time_off_balances worker=[Rita Falk]", "finance.get_stock_price symbol=TSLA"},
		"price of Tesla and Apple":                                                                {"finance.get_stock_price symbols=[[TSLA AAPL]]"},
		"show the time off balance of Rita Falk, then request 2 days off for her from 2026-12-07": {"workday.get_time_off_balances worker=[Rita Falk]", "workday.request_time_off days=2 start=2026-12-07 worker=[Rita Falk]"},
		"reqest 3 dys off for Hugo Stein form 2026-12-07":                                         {"workday.request_time_off days=3 start=2026-12-07 worker=[Hugo Stein]"},
		// A verb that takes away leaves nothing to what takes nothing away.
		"drop Rita Falk's vacation on Friday": {"workday.cancel_time_off from=2026-11-27 worker=[Rita Falk]"},
		// Nothing here can do it, or not without what was said.
		"sell 20 shares of Microsoft":                           nil,
		"delete all of my price alerts apart from al-9":         nil,
		"request leave for Rita Falk until February 12":         nil,
		"let us say I wanted to delete the alert al-4":          nil,
		"request 2 days off for everybody but Rita Falk please": nil,
	})
}

// judgeAll fails the test for each message that would not be done as it says; nil is for
// what must not be done.
func judgeAll(t *testing.T, adapter *local.Reader, catalog *contracts.Catalog, cases map[string][]string) {
	t.Helper()
	for say, want := range cases {
		got, u := done(t, adapter, catalog, say)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %s %v, want %v: %s", say, u.Outcome, got, want, u.Question)
		}
	}
}

// done returns the calls of a message that would be done, on a Saturday, and how it was
// understood.
func done(t *testing.T, adapter *local.Reader, catalog *contracts.Catalog, say string) ([]string, intent.Understanding) {
	t.Helper()
	u, err := adapter.Understand(t.Context(), intent.Request{Message: say, Catalog: catalog, Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	if u.Outcome == contracts.ReadingAccepted {
		for _, in := range u.Intents {
			calls = append(calls, callOf(in))
		}
	}
	return calls, u
}
