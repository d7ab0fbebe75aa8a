package slots_test

import (
	"encoding/json"
	"testing"
)

const (
	leaveOfAbsence = `{"name":"book_leave","description":"Books leave.","schema":{"type":"object","properties":{
  "days":{"type":"number","description":"How many working days."},"start":{"type":"string","format":"date"}},"required":["days","start"]},
 "metadata":{"side_effect_class":"write_reversible"}}`
	rental = `{"name":"rent_room","description":"Rents a room.","schema":{"type":"object","properties":{
  "from":{"type":"string","format":"date"},"until":{"type":"string","format":"date"}},"required":["from","until"]},
 "metadata":{"side_effect_class":"write_reversible"}}`
)

// The one date of a message is for the one date that can be asked for, also where it
// need not be given. One of two is not.
func TestTheOnlyDateIsTaken(t *testing.T) {
	t.Parallel()
	const tides = `{"name":"get_tides","description":"Tides of a harbour.","schema":{"type":"object","properties":{
  "night":{"type":"string","format":"date"}},"required":[]},"metadata":{"side_effect_class":"read"}}`
	for say, want := range map[string]string{
		"high tides tomorrow":                `{"night":"2026-11-22"}`,
		"Flut übermorgen":                    `{"night":"2026-11-23"}`,
		"marés amanhã":                       `{"night":"2026-11-22"}`,
		"tides tomorrow, not like on Monday": `{}`,
		"tides":                              `{}`,
	} {
		if got, _ := json.Marshal(fill(t, tides, say).Values); string(got) != want { //nolint:errchkjson // plain values
			t.Errorf("%q: %s, want %s", say, got, want)
		}
	}
}

// A period that is said as a whole goes to the two parameters that a period has,
// or to a first day and the number of days that are counted.
func TestAPeriodIsNoAmount(t *testing.T) {
	t.Parallel()
	for say, want := range map[string]string{
		"leave from December 7 to 11":                       `{"days":5,"start":"2026-12-07"}`,
		"leave from 10 December to 15 December":             `{"days":4,"start":"2026-12-10"}`,
		"leave 7–11 December":                               `{"days":5,"start":"2026-12-07"}`,
		"leave de 7 a 11 de dezembro":                       `{"days":5,"start":"2026-12-07"}`,
		"Urlaub vom 7. bis zum 11. Dezember":                `{"days":5,"start":"2026-12-07"}`,
		"congé du 7 au 11 décembre":                         `{"days":5,"start":"2026-12-07"}`,
		"leave of 3 days from December 7":                   `{"days":3,"start":"2026-12-07"}`,
		"leave for two days, starting a week from tomorrow": `{"days":2,"start":"2026-11-29"}`,
	} {
		if got, _ := json.Marshal(fill(t, leaveOfAbsence, say).Values); string(got) != want { //nolint:errchkjson // plain values
			t.Errorf("%q: %s, want %s", say, got, want)
		}
	}
	for say, want := range map[string]string{
		"a room from December 20 to 24":            `{"from":"2026-12-20","until":"2026-12-24"}`,
		"eine Kammer vom 20. bis 24. Dezember":     `{"from":"2026-12-20","until":"2026-12-24"}`,
		"una camera dal 20 al 24 dicembre":         `{"from":"2026-12-20","until":"2026-12-24"}`,
		"una habitación del 20 al 24 de diciembre": `{"from":"2026-12-20","until":"2026-12-24"}`,
	} {
		if got, _ := json.Marshal(fill(t, rental, say).Values); string(got) != want { //nolint:errchkjson // plain values
			t.Errorf("%q: %s, want %s", say, got, want)
		}
	}
}

// Where a period begins is said over an article that the preposition has in it, and over the
// word for a day.
func TestWhereAPeriodBegins(t *testing.T) {
	t.Parallel()
	const fee = `{"name":"set_fee","description":"Sets a fee.","schema":{"type":"object","properties":{"fee":{"type":"number"},
  "from_day":{"type":"string","format":"date"},"until_day":{"type":"string","format":"date"}},"required":["fee"]},"metadata":{"side_effect_class":"write_reversible"}}`
	for _, say := range []string{"le tarif est de 30 euros à partir du 7 mai", "pon 30 euros a partir del 7 de mayo", "põe 30 euros a partir do dia 7 de maio", "set 30 euros from May 7"} {
		if got := fill(t, fee, say).Values["from_day"]; got != "2027-05-07" {
			t.Errorf("%q begins %v", say, got)
		}
	}
}

// Dates that are listed are the value of a list of dates, the first of them is where it
// begins, and their number is counted; a single date is no list. A weekday behind another
// one is the next of its name.
func TestDatesThatAreListed(t *testing.T) {
	t.Parallel()
	const leave = `{"name":"book_leave","description":"Books leave.","schema":{"type":"object","properties":{
  "days":{"type":"number","description":"How many working days."},"start":{"type":"string","format":"date"},
  "dates":{"type":"array","items":{"type":"string","format":"date"},"minItems":2}},"required":["days","start"]},
 "metadata":{"side_effect_class":"write_reversible"}}`
	for say, want := range map[string]string{
		"leave on Thursday and Friday":                     `{"dates":["2026-11-26","2026-11-27"],"days":2,"start":"2026-11-26"}`,
		"leave on Friday and Monday":                       `{"dates":["2026-11-27","2026-11-30"],"days":2,"start":"2026-11-27"}`,
		"leave on 17 December, 10 December and 2026-12-21": `{"dates":["2026-12-17","2026-12-10","2026-12-21"],"days":3,"start":"2026-12-10"}`,
		"congé jeudi et vendredi":                          `{"dates":["2026-11-26","2026-11-27"],"days":2,"start":"2026-11-26"}`,
		"2 days of leave on 2026-12-10 and 2026-12-17":     `{"dates":["2026-12-10","2026-12-17"],"days":2,"start":"2026-12-10"}`,
		"leave on Friday":                                  `{"start":"2026-11-27"}`,
	} {
		if got, _ := json.Marshal(fill(t, leave, say).Values); string(got) != want { //nolint:errchkjson // plain values
			t.Errorf("%q: %s, want %s", say, got, want)
		}
	}
	for _, say := range []string{"leave on Thursday and Friday", "leave on 17 December, 10 December"} {
		if got := fill(t, leaveOfAbsence, say).Values["dates"]; got != nil {
			t.Errorf("%q: dates %v for what takes none", say, got)
		}
	}
}
