package grounding

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// date is a date or time of a text; missing parts are 0.
type date struct {
	year, month, day int
	// swapped means that a numeric date may also be read as month/day.
	swapped bool
	// weekday is 1 for Monday to 7; relative is today, tomorrow or yesterday.
	weekday  int
	relative string
	// clock is HH:MM.
	clock string
}

// onDay reports whether all stated parts of d match another date.
func (d date) onDay(of date) bool {
	same := func(a, b int) bool { return a == 0 || a == b }
	if same(d.year, of.year) && same(d.month, of.month) && same(d.day, of.day) {
		return true
	}
	return d.swapped && same(d.year, of.year) && d.day <= 12 && d.day == of.month && d.month == of.day
}

// weekdayOf returns the weekday of a complete date, else 0.
func (d date) weekdayOf() int {
	if d.year == 0 || d.month == 0 || d.day == 0 {
		return 0
	}
	w := int(time.Date(d.year, time.Month(d.month), d.day, 0, 0, 0, 0, time.UTC).Weekday())
	if w == 0 {
		w = 7
	}
	return w
}

// without returns the date without its time.
func (d date) without() date {
	d.clock = ""
	return d
}

// atTime reports whether a text contains a time without a date.
func (g *Ground) atTime(text int, clock string) bool {
	return slices.ContainsFunc(g.dates, func(d dayFound) bool { return d.text == text && d.clock == clock && d.month == 0 && d.year == 0 })
}

func readDate(text string) date {
	if len(text) >= 10 && text[4] == '-' {
		d := date{year: atoi(text[:4]), month: atoi(text[5:7]), day: atoi(text[8:10])}
		if len(text) >= 16 {
			d.clock = text[11:16]
		}
		return d
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '/' })
	d := date{day: atoi(parts[0]), month: atoi(parts[1]), year: atoi(parts[2]), swapped: strings.Contains(text, "/")}
	if d.month > 12 && d.day <= 12 {
		d.day, d.month = d.month, d.day
	}
	return d
}

func readClock(text string) date {
	low := strings.ReplaceAll(strings.ToLower(text), ".", "")
	low = strings.Replace(low, "h", ":", 1)
	hour, rest, whole := strings.Cut(low, ":")
	h, minute := atoi(strings.Trim(hour, "apm \u00a0\u202f")), rest[:min(2, len(rest))]
	if !whole { // 8 am
		minute = "00"
	}
	switch {
	case strings.HasSuffix(low, "pm") && h < 12:
		h += 12
	case strings.HasSuffix(low, "am") && h == 12:
		h = 0
	}
	return date{clock: pad(h) + ":" + minute}
}

func pad(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

func atoi(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return 0
	}
	return n
}

// The names of months and weekdays, folded, one column for each.
var monthNames = []string{
	"january february march april may june july august september october november december",
	"jan feb mar apr - jun jul aug sep oct nov dec",
	"januar februar marz april mai juni juli august september oktober november dezember",
	"janner - mrz - - - - - sept okt - dez",
	"janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
	"- fev - abr - - - - - - - -",
	"enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
	"ene - - - - - - - setiembre - - dic",
	"janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
	"janv fevr - avr - - juil - - - - -",
}

var weekdayNames = []string{
	"monday tuesday wednesday thursday friday saturday sunday",
	"mon tue wed thu fri - -",
	"montag dienstag mittwoch donnerstag freitag samstag sonntag",
	"- - - - - sonnabend -",
	"segunda-feira terca-feira quarta-feira quinta-feira sexta-feira sabado domingo",
	"lunes martes miercoles jueves viernes - -",
	"lundi mardi mercredi jeudi vendredi samedi dimanche",
	"mondays tuesdays wednesdays thursdays fridays saturdays sundays",
}

var months, weekdays = columns(monthNames), columns(weekdayNames)

func columns(lines []string) map[string]int {
	out := map[string]int{}
	for _, line := range lines {
		for i, name := range strings.Fields(line) {
			if name != "-" {
				out[name] = i + 1
			}
		}
	}
	return out
}

// relativeOf returns the day that a word means relative to today.
func relativeOf(fold string) string {
	switch fold {
	case "today", "heute", "hoje", "hoy", "aujourd'hui":
		return "today"
	case "tomorrow", "morgen", "amanha", "manana", "demain":
		return "tomorrow"
	case "yesterday", "gestern", "ontem", "ayer", "hier":
		return "yesterday"
	default:
		return ""
	}
}

// dated combines month names and the numbers around them to dates: 27 November 2026, November 27,
// 2026, 27 de novembro, 27. November. It also converts names of weekdays.
func dated(in []token) []token {
	var out []token
	for i := 0; i < len(in); i++ {
		t := in[i]
		month := monthOf(in, i)
		switch {
		case t.kind != kindWord:
		case month > 0:
			var skip int
			out, skip = withMonth(out, in, i, month)
			i += skip
			continue
		case weekdays[t.fold] > 0:
			t.kind, t.date = kindDate, date{weekday: weekdays[t.fold]}
		case relativeOf(t.fold) != "":
			t.kind, t.date = kindDate, date{relative: relativeOf(t.fold)}
		}
		out = append(out, t)
	}
	return out
}

// monthOf returns the month of a word. Short names, and the verb "may", count only beside a number.
func monthOf(in []token, i int) int {
	month := months[in[i].fold]
	if month == 0 {
		return 0
	}
	short := len(in[i].fold) <= 4 && !slices.Contains([]string{"juni", "juli", "maio", "mayo", "juin", "aout", "june", "july"}, in[i].fold)
	if !short || dayBefore(in, i) >= 0 || (i+1 < len(in) && in[i+1].kind == kindNumber) || (i+2 < len(in) && in[i+1].text == "." && in[i+2].kind == kindNumber) {
		return month
	}
	if in[i].capital() && i > 0 { // in May, im Mai
		return month
	}
	return 0
}

// dayBefore returns the token with the day before a month, -1 for none.
func dayBefore(in []token, i int) int {
	k := i - 1
	for k >= 0 && slices.Contains([]string{"de", "of", "the", ".", "º", "st", "nd", "rd", "th", "er"}, in[k].fold) {
		k--
	}
	if k < 0 || in[k].kind != kindNumber {
		return -1
	}
	if d := atoi(in[k].text); d < 1 || d > 31 {
		return -1
	}
	return k
}

// withMonth replaces a month and the numbers around it by a date. skip is the number of tokens
// after the month that belong to it.
func withMonth(out, in []token, i, month int) (_ []token, skip int) {
	d := date{month: month}
	start := in[i].start
	if k := dayBefore(in, i); k >= 0 {
		d.day, start = atoi(in[k].text), in[k].start
		for len(out) > 0 && out[len(out)-1].start >= start {
			out = out[:len(out)-1]
		}
	}
	at := i + 1
	pass := func(words ...string) {
		for at < len(in) && slices.Contains(words, in[at].fold) {
			at++
		}
	}
	end := i
	if pass("."); d.day == 0 && at < len(in) && in[at].kind == kindNumber && !in[at].number.ordinalYear() {
		if n := atoi(in[at].text); n >= 1 && n <= 31 {
			d.day, end = n, at
			at++
			pass("st", "nd", "rd", "th")
			end = max(end, at-1)
		}
	}
	pass(",", "de", "del")
	if at < len(in) && in[at].kind == kindNumber && len(in[at].text) == 4 {
		d.year, end = atoi(in[at].text), at
	}
	t := token{kind: kindDate, text: in[i].text, fold: in[i].fold, start: start, end: in[end].end, date: d}
	return append(out, t), end - i
}

// ordinalYear reports whether the number is a year rather than a day.
func (n number) ordinalYear() bool {
	return len(n.values) == 1 && n.values[0].IsInt() && n.values[0].Num().Int64() > 31
}
