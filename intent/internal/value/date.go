package value

import (
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/intent/internal/text"
)

// date reads a date that begins at token i. Dates with two readings are read
// with Doubt, so that nobody guesses.
func (s *Scanner) date(d *Doc, i int, now time.Time) (Entity, bool) {
	if c, ok := d.ChunkAt(i); ok {
		if e, ok := numericDate(c, now); ok {
			return e, true
		}
	}
	j := i
	if _, weekday := s.days[d.fold(i)]; weekday {
		j++ // "Monday, 7 December"; the weekday is not checked
	}
	if e, ok := s.dayMonth(d, j, now); ok {
		e.First = i
		return e, true
	}
	if e, ok := s.monthDay(d, j, now); ok {
		e.First = i
		return e, true
	}
	if now.IsZero() {
		return Entity{}, false
	}
	return s.relative(d, i, now)
}

// numericDate reads one chunk of digits and signs.
func numericDate(c Chunk, now time.Time) (Entity, bool) {
	e := Entity{Kind: Date, First: c.First, Last: c.Last, P: 0.95}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, c.Text); err == nil {
			e.Time, e.HasClock, e.HasZone = t, true, true
			return e, true
		}
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(layout, c.Text, now.Location()); err == nil {
			e.Time, e.HasClock = t, true
			return e, true
		}
	}
	for _, layout := range []string{"2006-01-02", "2006/01/02", "2006.01.02", "2006-1-2"} {
		if t, err := time.ParseInLocation(layout, c.Text, now.Location()); err == nil {
			e.Time = t
			return e, true
		}
	}
	return slashDate(c, now)
}

// slashDate reads 13/02/2026, 02/13/2026 and 7.12.2026. Where day and month
// could be exchanged the value is in doubt.
func slashDate(c Chunk, now time.Time) (Entity, bool) {
	for _, sep := range []string{"/", ".", "-"} {
		parts := strings.Split(c.Text, sep)
		if len(parts) != 3 {
			continue
		}
		a, errA := strconv.Atoi(parts[0])
		b, errB := strconv.Atoi(parts[1])
		year, ok := yearOf(parts[2])
		if errA != nil || errB != nil || !ok || len(parts[0]) > 2 || len(parts[1]) > 2 {
			return Entity{}, false
		}
		day, month := a, b
		if b > 12 && sep != "." {
			day, month = b, a
		}
		e, ok := calendar(year, time.Month(month), day, now.Location())
		e.First, e.Last = c.First, c.Last
		e.Doubt = sep != "." && a <= 12 && b <= 12 && a != b
		return e, ok
	}
	return Entity{}, false
}

// calendar makes a date that exists.
func calendar(year int, month time.Month, day int, loc *time.Location) (Entity, bool) {
	t := time.Date(year, month, day, 0, 0, 0, 0, loc)
	ok := month >= 1 && month <= 12 && t.Day() == day && t.Month() == month
	return Entity{Kind: Date, Time: t, P: 0.95}, ok
}

// dayMonth reads "7 December 2026", "7th of December" and "7 de dezembro de 2026".
func (s *Scanner) dayMonth(d *Doc, i int, now time.Time) (Entity, bool) {
	if d.fold(i) == "the" {
		i++
	}
	day, ok := dayOf(d.fold(i))
	if !ok {
		return Entity{}, false
	}
	j := i + 1
	if f := d.fold(j); f == "of" || f == "de" {
		j++
	}
	month, ok := s.months[d.fold(j)]
	if !ok {
		return Entity{}, false
	}
	return s.withYear(d, j, month, day, now)
}

// monthDay reads "December 7, 2026".
func (s *Scanner) monthDay(d *Doc, i int, now time.Time) (Entity, bool) {
	month, ok := s.months[d.fold(i)]
	if !ok {
		return Entity{}, false
	}
	j := i + 1
	if d.fold(j) == "the" {
		j++
	}
	day, ok := dayOf(d.fold(j))
	if !ok || d.Tokens[j].Break {
		return Entity{}, false
	}
	if _, unit := s.words.units[d.fold(j+1)]; unit && len(d.fold(i)) > 3 && d.fold(j) == strconv.Itoa(day) {
		return Entity{}, false // "in May 7 days off": the number has its own unit
	}
	return s.withYear(d, j, month, day, now)
}

// withYear completes a date whose last token so far is j. Without a written
// year it is the next such day, which is less sure.
func (s *Scanner) withYear(d *Doc, j int, month time.Month, day int, now time.Time) (Entity, bool) {
	next := j + 1
	if f := d.fold(next); f == "of" || f == "de" {
		next++
	}
	if year, ok := yearOf(d.fold(next)); ok {
		e, ok := calendar(year, month, day, now.Location())
		e.Last = next
		return e, ok
	}
	if now.IsZero() {
		return Entity{}, false
	}
	today := dayStart(now)
	for year := now.Year(); year <= now.Year()+4; year++ {
		e, ok := calendar(year, month, day, now.Location())
		if ok && !e.Time.Before(today) {
			e.Last, e.P = j, 0.8
			return e, true
		}
	}
	return Entity{}, false
}

// Month reads a month that begins at token i, with its year or as the next such
// month, and gives its first day. Short names mean too much else.
func (s *Scanner) Month(d *Doc, i int, now time.Time) (first time.Time, last int, ok bool) {
	month, known := s.months[d.fold(i)]
	if !known || len(d.fold(i)) < 4 && !d.Tokens[i].Is(text.FormTitle) {
		return time.Time{}, 0, false
	}
	next := i + 1
	if f := d.fold(next); f == "of" || f == "de" {
		next++
	}
	if year, ok := yearOf(d.fold(next)); ok {
		return time.Date(year, month, 1, 0, 0, 0, 0, now.Location()), next, true
	}
	if now.IsZero() {
		return time.Time{}, 0, false
	}
	year := now.Year()
	if month < now.Month() {
		year++
	}
	return time.Date(year, month, 1, 0, 0, 0, 0, now.Location()), i, true
}

func dayStart(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// withClock adds a clock time that follows a date: "2026-12-07 at 10:30".
func (s *Scanner) withClock(d *Doc, e Entity) Entity {
	if e.HasClock {
		return e
	}
	i := e.Last + 1
	switch d.fold(i) {
	case "at", "as", "um", "a":
		i++
	}
	c, ok := clock(d, i)
	if !ok {
		return e
	}
	e.Time = e.Time.Add(time.Duration(c.Time.Hour())*time.Hour + time.Duration(c.Time.Minute())*time.Minute + time.Duration(c.Time.Second())*time.Second)
	e.HasClock, e.Last = true, c.Last
	return e
}

// clock reads 10:30, 10:30:15, 10am and 10:30 pm.
func clock(d *Doc, i int) (Entity, bool) {
	c, ok := d.ChunkAt(i)
	if !ok {
		return Entity{}, false
	}
	body, half := strings.ToLower(c.Text), ""
	last := c.Last
	for _, ending := range []string{"am", "pm"} {
		if before, ok := strings.CutSuffix(body, ending); ok {
			body, half = before, ending
		}
	}
	if next := d.fold(last + 1); half == "" && (next == "am" || next == "pm") {
		half, last = next, last+1
	}
	layouts := []string{"15:04", "15:04:05"}
	if half != "" {
		layouts = []string{"3:04", "3"}
	}
	for _, layout := range layouts {
		t, err := time.Parse(layout, body)
		if err != nil || half != "" && t.Hour() == 0 {
			continue
		}
		if hour := t.Hour(); half == "pm" && hour < 12 {
			t = t.Add(12 * time.Hour)
		} else if half == "am" && hour == 12 {
			t = t.Add(-12 * time.Hour)
		}
		return Entity{Kind: Clock, First: c.First, Last: last, Time: t, HasClock: true, P: 0.9}, true
	}
	return Entity{}, false
}
