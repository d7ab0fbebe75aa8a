package values

import "time"

// periodOf returns the first and the last day of the week, month or year at a distance.
func periodOf(today time.Time, unit string, away int) (first, last time.Time, ok bool) {
	switch unit {
	case "week":
		first = today.AddDate(0, 0, 7*away-isoDay(today.Weekday()))
		return first, first.AddDate(0, 0, 6), true
	case "month":
		first = time.Date(today.Year(), today.Month()+time.Month(away), 1, 0, 0, 0, 0, today.Location())
		return first, first.AddDate(0, 1, -1), true
	case "year":
		first = time.Date(today.Year()+away, time.January, 1, 0, 0, 0, 0, today.Location())
		return first, first.AddDate(1, 0, -1), true
	}
	return first, last, false
}

// periodAway reads "next week".
func periodAway(away int) func(*reader, *captures) (Entity, Entity, bool) {
	return func(r *reader, c *captures) (a, b Entity, ok bool) {
		if r.now.IsZero() {
			return a, b, false
		}
		a.Time, b.Time, ok = periodOf(r.today, c.unit, away)
		return a, b, ok
	}
}

// monthPeriod reads a month with its year, or as the next such month. A month without a year is
// marked as yearless, since short names are ambiguous.
func monthPeriod(r *reader, c *captures) (a, b Entity, ok bool) {
	year := c.year
	if year == 0 {
		if r.now.IsZero() {
			return a, b, false
		}
		year = r.now.Year()
		if c.months[0] < r.now.Month() {
			year++
		}
	}
	a.Time = time.Date(year, c.months[0], 1, 0, 0, 0, 0, r.now.Location())
	b.Time = a.Time.AddDate(0, 1, -1)
	a.yearless = true
	return a, b, true
}

// period reads a week, a month or a year at a token.
func (r *reader) period(at int) (first, last time.Time, end int, bare, ok bool) {
	if at >= len(r.d.Tokens) {
		return first, last, 0, false, false
	}
	saved := r.classes
	defer func() { r.classes = saved }()
	r.classes = [periodRule + 1]bool{periodRule: true}
	out, ok := r.best(at)
	return out.a.Time, out.b.Time, out.end - 1, out.a.yearless, ok
}

// shortMonth is the maximum length of a month name that may be another word.
const shortMonth = 3

// Period reads a month or a week that begins at token i, such as "next week" or "this month", and
// returns its first and last day. bare is set for a month without a year, such as "December".
func (s *Scanner) Period(d *Doc, i int, now time.Time) (first, last time.Time, end int, bare, ok bool) {
	if i >= len(d.Tokens) || s.starts[d.Tokens[i].Fold] == 0 {
		return first, last, 0, false, false
	}
	weights, readers := d.Languages.At(i), s.readers(d, now)
	for _, n := range d.Languages.Order(i) {
		if !s.starts[d.Tokens[i].Fold].has(n) {
			continue
		}
		first, last, end, bare, ok = readers[n].period(i)
		lone := end == i && !bare // "month" in "the end of the month" is no period by itself
		short := bare && len(d.fold(i)) <= shortMonth && !named(d.Tokens[i])
		if ok && !lone && !short && readers[n].inLanguage(weights, i, end+1) {
			return first, last, end, bare, true
		}
	}
	return first, last, 0, false, false
}
