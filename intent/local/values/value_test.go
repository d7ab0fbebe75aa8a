package values_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// saturday is what "now" is in these tests: 2026-11-21.
var saturday = time.Date(2026, 11, 21, 15, 4, 5, 0, time.UTC)

func scan(t *testing.T, src string, now time.Time) []string {
	t.Helper()
	doc := values.NewDoc(src, tokenize.Tokens(src))
	var out []string
	for _, e := range values.NewScanner(tokenize.NewLexicon()).Scan(doc, now) {
		line := fmt.Sprintf("%s %q", e.Kind, src[e.Span.Start:e.Span.End])
		switch e.Kind {
		case values.Number:
			line += fmt.Sprintf(" %g %s", e.Number, e.Unit)
			if e.Percent {
				line += " percent"
			}
			if e.Currency != "" {
				line += " in " + e.Currency
			}
		case values.Date:
			layout := time.DateOnly
			if e.HasClock {
				layout = time.RFC3339
			}
			line += " " + e.Time.Format(layout)
		case values.Clock:
			line += " " + e.Time.Format(time.TimeOnly)
		case values.Email, values.URL, values.UUID, values.Phone, values.None:
		}
		if e.Doubt {
			line += " in doubt"
		}
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

func TestScan(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		say  string
		want []string
	}{
		"a number takes the unit of time behind it":                 {"2 days off", []string{`number "2 days" 2 day`}},
		"a telephone number goes on over spaces":                    {"call +351 912 345 678 at 9", []string{`phone "351 912 345 678"`, `number "9" 9`}},
		"a day may be a word of a title":                            {"rename Night Desk to Friday Desk", nil},
		"so may one behind what names something":                    {"a copy of it called Sunday Desk", nil},
		"behind a preposition of time it is the day":                {"on Sunday Vera is off, until Friday Max", []string{`date "Sunday" 2026-11-22`, `date "Friday" 2026-11-27`}},
		"where every noun has a capital it is the day":              {"trag den Montag Urlaub ein", []string{`date "Montag" 2026-11-23`}},
		"a plus sign alone makes none":                              {"+351 and 9", []string{`number "351" 351`, `number "9" 9`}},
		"degrees of the south and the west are negative":            {"at 38.72° N, 9.13° W", []string{`number "38.72° N" 38.72 degre`, `number "9.13° W" -9.13 degre`}},
		"a fraction without its zero":                               {"a rate of .5", []string{`number "5" 0.5`}},
		"a link without its scheme":                                 {"fetch www.example.org/a?b=c", []string{`url "www.example.org/a?b=c"`}},
		"a link with a port":                                        {"get http://localhost:8080/a", []string{`url "http://localhost:8080/a"`}},
		"half a day is a number":                                    {"half a day off", []string{`number "half a day" 0.5 day`}},
		"a half is added to words and digits":                       {"one and a half days, 2 and a half hours", []string{`number "one and a half days" 1.5 day`, `number "2 and a half hours" 2.5 hour`}},
		"number words add up":                                       {"two hundred and five shares", []string{`number "two hundred and five" 205 share`}},
		"other languages count too":                                 {"três dias", []string{`number "três dias" 3 day`}},
		"thousands are grouped":                                     {"1,250.50 and 1.250,50", []string{`number "1,250.50" 1250.5`, `number "1.250,50" 1250.5`}},
		"one group of three after a dot has two readings":           {"1.250", []string{`number "1.250" 1.25  in doubt`}},
		"money and percent are numbers":                             {"$250, R$ 40 and 15%", []string{`number "250" 250`, `number "R$ 40" 40  in BRL`, `number "15" 15  percent`}},
		"powers of ten":                                             {"1e-9 and 2.5E3", []string{`number "1e-9" 1e-09`, `number "2.5E3" 2500`}},
		"thousands with a small letter, a capital has two readings": {"40k or 298K", []string{`number "40k" 40000`, `number "298K" 298000  in doubt`}},
		"a currency code is noted and stays a word":                 {"40 EUR", []string{`number "40" 40  in EUR`}},
		"a unit may be glued":                                       {"30min and a 2-day trip", []string{`number "30min" 30 minute`, `number "2-day" 2 day`}},
		"digits in an identifier are no number":                     {"cancel al-17 of PETR4.SA", nil},
		"ISO dates":                                                 {"from 2026-12-07.", []string{`date "2026-12-07" 2026-12-07`}},
		"written dates":                                             {"7 December 2026, Dec 7th 2026, the 7th of December 2026", []string{`date "7 December 2026" 2026-12-07`, `date "Dec 7th 2026" 2026-12-07`, `date "7th of December 2026" 2026-12-07`}},
		"Portuguese dates":                                          {"a partir de 7 de dezembro de 2026", []string{`date "7 de dezembro de 2026" 2026-12-07`}},
		"a date without a year is the next one":                     {"on 3 March", []string{`date "3 March" 2027-03-03`}},
		"a day that does not exist is no date":                      {"2026-02-30", nil},
		"a slash date in one reading":                               {"13/02/2026 or 02/13/2026", []string{`date "13/02/2026" 2026-02-13`, `date "02/13/2026" 2026-02-13`}},
		"a slash date in two readings is in doubt":                  {"03/10/2026", []string{`date "03/10/2026" 2026-10-03 in doubt`}},
		"relative days":                                             {"today, tomorrow and the day after tomorrow", []string{`date "today" 2026-11-21`, `date "tomorrow" 2026-11-22`, `date "the day after tomorrow" 2026-11-23`}},
		"distances":                                                 {"in 3 days, two weeks ago", []string{`date "in 3 days" 2026-11-24`, `date "two weeks ago" 2026-11-07`}},
		"next Monday":                                               {"from next Monday", []string{`date "next Monday" 2026-11-23`}},
		"próxima segunda":                                           {"a partir da próxima segunda", []string{`date "próxima segunda" 2026-11-23`}},
		"a date with a clock time":                                  {"2026-12-07 at 10:30, tomorrow 9am", []string{`date "2026-12-07 at 10:30" 2026-12-07T10:30:00Z`, `date "tomorrow 9am" 2026-11-22T09:00:00Z`}},
		"a timestamp with a zone":                                   {"since 2026-12-07T10:30:00+02:00", []string{`date "2026-12-07T10:30:00+02:00" 2026-12-07T10:30:00+02:00`}},
		"a clock time alone":                                        {"at 12:15 pm", []string{`time "12:15 pm" 12:15:00`}},
		"a sign of a unit may be glued or stand behind":             {"70kg and 12 cm", []string{`number "70kg" 70 kilogram`, `number "12" 12 centimet`}},
		"an ordinal":                                                {"the 17th century", []string{`number "17th" 17 centuri`}},
		"words multiply digits":                                     {"2 million shares, 1.5 Millionen", []string{`number "2 million" 2e+06 share`, `number "1.5 Millionen" 1.5e+06`}},
		"addresses":                                                 {"mail ana@example.com, see https://example.com/a?b=1.", []string{`email "ana@example.com"`, `url "https://example.com/a?b=1"`}},
		"a period that begins now":                                  {"from now until Monday", []string{`date "now" 2026-11-21`, `date "Monday" 2026-11-23`}},
		"a period that ends with another":                           {"between Monday and the last day of the month", []string{`date "Monday" 2026-11-23`, `date "last day of the month" 2026-11-30`}},
		"a month's name as a verb is no date":                       {"I may march in", nil},
		"a number that is too big for a machine is no one":          {strings.Repeat("9", 400), nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, scan(t, c.say, saturday)); diff != "" {
				t.Errorf("Scan(%q) (-want +got):\n%s", c.say, diff)
			}
		})
	}
}

// A day of the month behind a preposition goes on to its month.
func TestADayGoesOnToItsMonth(t *testing.T) {
	t.Parallel()
	for say, want := range map[string][]string{
		"a partir do dia 7 de maio":       {`date "7 de maio" 2027-05-07`},
		"a partir do dia 7":               {`date "7" 2026-12-07`},
		"a partir del 7 de mayo, gracias": {`date "7 de mayo" 2027-05-07`},
	} {
		if diff := cmp.Diff(want, scan(t, say, saturday)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", say, diff)
		}
	}
}

// A slip of the hand in the name of a day is none in a word that is written otherwise.
func TestADayIsKnownByASlip(t *testing.T) {
	t.Parallel()
	for say, want := range map[string][]string{
		"see the ferries of tommorow":   {`date "tommorow" 2026-11-22`}, //nolint:misspell // so people type it
		"see the ferries of yesterdey":  {`date "yesterdey" 2026-11-20`},
		"see the ferries of wendesday":  {`date "wendesday" 2026-11-25`}, //nolint:misspell // so people type it
		"see the ferries of the sorrow": nil,
	} {
		if diff := cmp.Diff(want, scan(t, say, saturday)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", say, diff)
		}
	}
}

func TestNextWeekdayInDoubt(t *testing.T) {
	t.Parallel()
	wednesday := time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)
	want := []string{`date "next Friday" 2026-11-20 in doubt`}
	if diff := cmp.Diff(want, scan(t, "next Friday", wednesday)); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutNowRelativeDatesStayUnread(t *testing.T) {
	t.Parallel()
	if got := scan(t, "tomorrow or next Monday or 3 March", time.Time{}); cmp.Diff([]string{`number "3" 3 march`}, got) != "" {
		t.Errorf("got %q, want only the bare number", got)
	}
}

func TestCode(t *testing.T) {
	t.Parallel()
	for say, want := range map[string]bool{
		"/var/log/a.log": true, "~/a.md": true, "./src/a": true, `C:\Temp\a.txt`: true, "v1.9": true, "2.14.3": true, "10.0.0.7": true, "#ff8800": true, "@ana": true,
		"C++": true, "a_b": true, "report.docx": true, "gate-2.example.org": true, "7f3a9c02": true, "030-2345678": true,
		"gluten-free": false, "and/or": false, "AC/DC": false, "12.5": false, "word": false, "U.S": false, "3-4": false, "St.Malo": false,
	} {
		doc := values.NewDoc(say, tokenize.Tokens(say))
		if c, ok := doc.ChunkAt(0); !ok || c.Text != say || c.Code() != want {
			t.Errorf("%q is code: %v, want %v (%q)", say, c.Code(), want, c.Text)
		}
	}
}

func TestCurrencyAt(t *testing.T) {
	t.Parallel()
	scanner := values.NewScanner(tokenize.NewLexicon())
	for say, want := range map[string]string{"Canadian dollars": "CAD", "euros": "EUR", "jpy": "JPY", "dollars": "", "weight": ""} {
		code, _, ok := scanner.CurrencyAt(values.NewDoc(say, tokenize.Tokens(say)), 0)
		if code != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", say, code, ok, want)
		}
	}
}
