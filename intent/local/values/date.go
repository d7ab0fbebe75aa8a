package values

import (
	"strconv"
	"strings"
	"time"
)

// numericDate reads a date in digits. If the possible languages order day and month differently,
// it is doubtful.
func (s *Scanner) numericDate(d *Doc, readers []*reader, i int, c Chunk, now time.Time) (Entity, bool) {
	weights := d.Languages.At(i)
	var out Entity
	found := false
	for _, n := range d.Languages.Order(i) {
		dates := &readers[n].language.data.Dates
		if found && !weights.Likely(n) {
			break
		}
		e, ok := numericDate(c, now, dates.Order, dates.Dotted && weights.Likely(n))
		switch {
		case !ok:
		case !found:
			out, found = e, true
		case !e.Time.Equal(out.Time):
			out.Doubt = true
		}
	}
	return out, found
}

// numericDate reads a date in digits from one chunk.
func numericDate(c Chunk, now time.Time, order string, dotted bool) (Entity, bool) {
	e := Entity{Kind: Date, First: c.First, Last: c.Last, P: 0.95}
	if c.Text == "" || c.Text[0] < '0' || c.Text[0] > '9' {
		return Entity{}, false
	}
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
	for _, layout := range []string{time.DateOnly, "2006/01/02", "2006.01.02", "2006-1-2"} {
		if t, err := time.ParseInLocation(layout, c.Text, now.Location()); err == nil {
			e.Time = t
			return e, true
		}
	}
	return slashDate(c, now, order, dotted)
}

// slashDate reads 13/02/2026, 02/13/2026, 7.12.2026, and 24/12 for a language with that format. If
// day and month could be swapped, the order of the language decides, or the value is doubtful.
func slashDate(c Chunk, now time.Time, order string, dotted bool) (Entity, bool) {
	for _, sep := range []string{"/", ".", "-"} {
		parts := strings.Split(strings.TrimSuffix(c.Text, "."), sep)
		if len(parts) == 2 && (sep == "/" && order == "dmy" || sep == "." && dotted) {
			return shortDate(c, parts, now)
		}
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
		e.Doubt = sep != "." && a <= 12 && b <= 12 && a != b && order != "dmy"
		return e, ok
	}
	return Entity{}, false
}

// shortDate reads 24/12 and 7.12. as the next such date.
func shortDate(c Chunk, parts []string, now time.Time) (Entity, bool) {
	day, errDay := strconv.Atoi(parts[0])
	month, errMonth := strconv.Atoi(parts[1])
	if errDay != nil || errMonth != nil || len(parts[0]) > 2 || len(parts[1]) > 2 || parts[1] == "" || now.IsZero() || month > 12 || month < 1 {
		return Entity{}, false
	}
	r := reader{now: now, today: dayStart(now)}
	e, ok := r.nextDate(time.Month(month), day, 0)
	e.First, e.Last = c.First, c.Last
	return e, ok
}

// calendar returns a date; false if it does not exist.
func calendar(year int, month time.Month, day int, loc *time.Location) (Entity, bool) {
	t := time.Date(year, month, day, 0, 0, 0, 0, loc)
	ok := month >= 1 && month <= 12 && t.Day() == day && t.Month() == month
	return Entity{Kind: Date, Time: t, P: 0.95}, ok
}

func dayStart(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

func isoDay(d time.Weekday) int { return (int(d) + 6) % 7 }

func yearOf(fold string) (int, bool) {
	n, err := strconv.Atoi(fold)
	return n, err == nil && len(fold) == 4 && n >= 1900 && n <= 2199
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

// clock reads 10:30, 10:30:15, 10am, 10:30 pm, 3 p.m. and 15h30.
func clock(d *Doc, i int) (Entity, bool) {
	c, ok := d.ChunkAt(i)
	if !ok || c.Text[0] < '0' || c.Text[0] > '9' {
		return Entity{}, false
	}
	body, half, last := halfOfDay(d, c)
	layouts := []string{"15:04", "15:04:05"}
	if half != "" {
		layouts = []string{"3:04", "3"}
	} else if hour, minute, ok := strings.Cut(body, "h"); ok && len(minute) == 2 {
		body = hour + ":" + minute
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

// halfOfDay splits "am" or "p.m." from a time, with or without a space.
func halfOfDay(d *Doc, c Chunk) (body, half string, last int) {
	body, last = strings.ToLower(c.Text), c.Last
	for _, ending := range []string{"a.m", "p.m", "am", "pm"} {
		if before, ok := strings.CutSuffix(body, ending); ok {
			return before, ending[:1] + "m", last
		}
	}
	if next := d.fold(last + 1); next == "am" || next == "pm" {
		return body, next, last + 1
	}
	rest := strings.ToLower(strings.TrimLeft(d.Src[c.Span.End:min(len(d.Src), c.Span.End+6)], " "))
	for _, dotted := range []string{"a.m", "p.m"} {
		if strings.HasPrefix(rest, dotted) && d.fold(last+2) == "m" {
			return body, dotted[:1] + "m", last + 2
		}
	}
	return body, "", last
}
