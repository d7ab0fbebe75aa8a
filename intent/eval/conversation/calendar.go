package conversation

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// calendar fills in dates that move with the day a set is run. {M} is a Monday two
// to six weeks ahead whose week lies in one month, {W} one after which six weeks hold no
// days between the years, {T} today, {fri} the next
// Friday, {eoy} the last day of the year; {M+3:pt} is three days later as people
// write it in Portuguese.
type calendar struct {
	today, monday, working time.Time
}

// restful are the days around the turn of a year: it lies in the six weeks from a day.
func restful(from time.Time) bool {
	turn := time.Date(from.AddDate(0, 0, 42+11).Year(), time.January, 2, 0, 0, 0, 0, time.UTC)
	return !turn.Before(from) && from.AddDate(0, 0, 42).After(turn.AddDate(0, 0, -11))
}

var placeholder = regexp.MustCompile(`\{(M|W|T|fri|eoy)([+-]\d+)?(?::(\w+))?\}`)

func newCalendar(now time.Time) calendar {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	m := today.AddDate(0, 0, 14)
	for m.Weekday() != time.Monday || m.AddDate(0, 0, 4).Month() != m.Month() {
		m = m.AddDate(0, 0, 1)
	}
	w := m
	for restful(w) {
		w = w.AddDate(0, 0, 7)
	}
	return calendar{today, m, w}
}

func (c calendar) fill(v any) any {
	switch v := v.(type) {
	case string:
		return placeholder.ReplaceAllStringFunc(v, c.one)
	case []any:
		for i := range v {
			v[i] = c.fill(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = c.fill(v[k])
		}
	}
	return v
}

func (c calendar) one(text string) string {
	m := placeholder.FindStringSubmatch(text)
	day := c.base(m[1])
	if plus, err := strconv.Atoi(m[2]); err == nil {
		day = day.AddDate(0, 0, plus)
	}
	return written(day, m[3])
}

func (c calendar) base(name string) time.Time {
	switch name {
	case "M":
		return c.monday
	case "W":
		return c.working
	case "fri":
		return c.today.AddDate(0, 0, (int(time.Friday)-int(c.today.Weekday())+6)%7+1)
	case "eoy":
		return time.Date(c.today.Year(), time.December, 31, 0, 0, 0, 0, time.UTC)
	default:
		return c.today
	}
}

// written is a date in a form: as data, or as people write it in a language.
func written(d time.Time, form string) string {
	names, day := months(form), strconv.Itoa(d.Day())
	name := names[d.Month()-1]
	switch form {
	case "":
		return d.Format(time.DateOnly)
	case "n":
		return day
	case "mon":
		return name
	case "ord":
		return day + ordinal(d.Day())
	case "en":
		return name + " " + day
	case "de":
		return day + ". " + name
	case "fr":
		return day + " " + name
	default:
		return fmt.Sprintf("%s de %s", day, name)
	}
}

func ordinal(day int) string {
	if day%100 >= 4 && day%100 <= 20 {
		return "th"
	}
	switch day % 10 {
	case 1:
		return "st"
	case 2:
		return "nd"
	case 3:
		return "rd"
	default:
		return "th"
	}
}

func months(lang string) []string {
	switch lang {
	case "de":
		return strings.Fields("Januar Februar März April Mai Juni Juli August September Oktober November Dezember")
	case "pt":
		return strings.Fields("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro")
	case "es":
		return strings.Fields("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre")
	case "fr":
		return strings.Fields("janvier février mars avril mai juin juillet août septembre octobre novembre décembre")
	case "it":
		return strings.Fields("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre")
	default:
		return strings.Fields("January February March April May June July August September October November December")
	}
}
