package value

import (
	"math"
	"time"

	"github.com/manifold-run/manifold/intent/internal/text"
)

// relative reads dates that count from today.
func (s *Scanner) relative(d *Doc, i int, now time.Time) (Entity, bool) {
	today := dayStart(now)
	if e, ok := nearDay(d, i, today); ok {
		return e, true
	}
	if e, ok := s.weekday(d, i, today); ok {
		return e, true
	}
	if e, ok := s.distance(d, i, today); ok {
		return e, true
	}
	return monthEnd(d, i, today)
}

// nearDay reads today, tomorrow, yesterday and the day after tomorrow.
func nearDay(d *Doc, i int, today time.Time) (Entity, bool) {
	for _, phrase := range []struct {
		words []string
		days  int
	}{
		{[]string{"the", "day", "after", "tomorrow"}, 2},
		{[]string{"day", "after", "tomorrow"}, 2},
		{[]string{"the", "day", "before", "yesterday"}, -2},
		{[]string{"day", "before", "yesterday"}, -2},
		{[]string{"depois", "de", "amanha"}, 2},
		{[]string{"pasado", "manana"}, 2},
		{[]string{"ubermorgen"}, 2},
		{[]string{"today"}, 0},
		{[]string{"tomorrow"}, 1},
		{[]string{"yesterday"}, -1},
		{[]string{"hoje"}, 0},
		{[]string{"amanha"}, 1},
		{[]string{"ontem"}, -1},
		{[]string{"hoy"}, 0},
		{[]string{"manana"}, 1},
		{[]string{"ayer"}, -1},
		{[]string{"heute"}, 0},
		{[]string{"morgen"}, 1},
		{[]string{"gestern"}, -1},
		{[]string{"aujourdhui"}, 0},
		{[]string{"demain"}, 1},
		{[]string{"hier"}, -1},
	} {
		if says(d, i, phrase.words) {
			return Entity{Kind: Date, First: i, Last: i + len(phrase.words) - 1, Time: today.AddDate(0, 0, phrase.days), P: 0.93}, true
		}
	}
	return Entity{}, false
}

func says(d *Doc, i int, words []string) bool {
	for k, w := range words {
		if d.fold(i+k) != w || k > 0 && d.Tokens[i+k].Break {
			return false
		}
	}
	return true
}

// weekday reads a day of the week as the first such day after today. "next
// Friday" said on a Wednesday has two readings and is in doubt.
func (s *Scanner) weekday(d *Doc, i int, today time.Time) (Entity, bool) {
	j, next, last := i, false, false
	switch d.fold(i) {
	case "next", "proxima", "proximo", "nachsten", "nachster":
		next, j = true, i+1
	case "this", "coming", "esta", "este", "diesen", "kommenden":
		j = i + 1
	case "last", "past":
		last, j = true, i+1
	}
	day, end, ok := s.dayName(d, j, j > i)
	if !ok {
		return Entity{}, false
	}
	ahead := (int(day) - int(today.Weekday()) + 7) % 7
	if ahead == 0 && !last {
		ahead = 7
	}
	e := Entity{Kind: Date, First: i, Last: end, P: 0.85}
	if last {
		e.Time = today.AddDate(0, 0, -((int(today.Weekday())-int(day)+6)%7 + 1))
		return e, true
	}
	e.Time = today.AddDate(0, 0, ahead)
	e.Doubt = next && isoDay(day) > isoDay(today.Weekday())
	return e, true
}

// dayName finds the name of a weekday at j. The Portuguese names need their
// second half or a word that announces a day.
func (s *Scanner) dayName(d *Doc, j int, announced bool) (day time.Weekday, end int, ok bool) {
	if day, ok := s.days[d.fold(j)]; ok {
		return day, j, true
	}
	ordinal := map[string]time.Weekday{"segunda": time.Monday, "terca": time.Tuesday, "quarta": time.Wednesday, "quinta": time.Thursday, "sexta": time.Friday}
	day, ok = ordinal[d.fold(j)]
	switch {
	case ok && d.fold(j+1) == "feira":
		return day, j + 1, true
	case ok && announced:
		return day, j, true
	}
	return 0, 0, false
}

func isoDay(d time.Weekday) int { return (int(d) + 6) % 7 }

// distance reads "in 3 days", "3 days ago", "two weeks from now".
func (s *Scanner) distance(d *Doc, i int, today time.Time) (Entity, bool) {
	j, sign := i, 0
	if f := d.fold(i); f == "in" || f == "em" || f == "within" {
		if f == "within" {
			return Entity{}, false // a period, not a day
		}
		j, sign = i+1, 1
	}
	if j >= len(d.Tokens) || !d.Tokens[j].Is(text.FormDigits) && !s.words.number(d.fold(j)) && d.fold(j) != "a" {
		return Entity{}, false
	}
	n, ok := s.number(d, j)
	if !ok || n.Doubt || n.Number != math.Trunc(n.Number) || math.Abs(n.Number) > 36500 {
		return Entity{}, false
	}
	last := n.Last
	switch {
	case sign == 1:
		if f := d.fold(last + 1); f == "of" || f == "off" {
			return Entity{}, false
		}
	case d.fold(last+1) == "ago":
		sign, last = -1, last+1
	case says(d, last+1, []string{"from", "now"}), says(d, last+1, []string{"from", "today"}):
		sign, last = 1, last+2
	default:
		return Entity{}, false
	}
	t, ok := move(today, n.Unit, sign*int(n.Number))
	return Entity{Kind: Date, First: i, Last: last, Time: t, P: 0.88, Distance: &n}, ok
}

func move(t time.Time, unit string, n int) (time.Time, bool) {
	switch unit {
	case "day":
		return t.AddDate(0, 0, n), true
	case "week":
		return t.AddDate(0, 0, 7*n), true
	case "month":
		moved := t.AddDate(0, n, 0)
		return moved, moved.Day() == t.Day()
	case "year":
		moved := t.AddDate(n, 0, 0)
		return moved, moved.Day() == t.Day()
	}
	return time.Time{}, false
}

// monthEnd reads "the end of the month" and "the end of the year".
func monthEnd(d *Doc, i int, today time.Time) (Entity, bool) {
	if d.fold(i) != "end" || d.fold(i+1) != "of" {
		return Entity{}, false
	}
	j := i + 2
	if f := d.fold(j); f == "the" || f == "this" {
		j++
	}
	first := time.Date(today.Year(), today.Month(), 1, 0, 0, 0, 0, today.Location())
	e := Entity{Kind: Date, First: i, Last: j, P: 0.85}
	switch d.fold(j) {
	case "month":
		e.Time = first.AddDate(0, 1, -1)
	case "year":
		e.Time = time.Date(today.Year(), time.December, 31, 0, 0, 0, 0, today.Location())
	default:
		return Entity{}, false
	}
	return e, true
}
