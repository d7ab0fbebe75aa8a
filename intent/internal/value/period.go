package value

import "time"

// Period reads a month or a week that begins at token i, "next week" and "this
// month" included, and gives its first and its last day. A month that is only
// named, as "December" is, has bare set.
func (s *Scanner) Period(d *Doc, i int, now time.Time) (first, last time.Time, end int, bare, ok bool) {
	if first, end, ok := s.Month(d, i, now); ok {
		return first, first.AddDate(0, 1, -1), end, true, true
	}
	away, pointed := pointers()[d.fold(i)]
	if !pointed || now.IsZero() || i+1 >= len(d.Tokens) || d.Tokens[i+1].Break {
		return time.Time{}, time.Time{}, 0, false, false
	}
	today := dayStart(now)
	switch s.words.units[d.fold(i+1)] {
	case "week":
		first = today.AddDate(0, 0, 7*away-isoDay(today.Weekday()))
		last = first.AddDate(0, 0, 6)
	case "month":
		first = time.Date(today.Year(), today.Month()+time.Month(away), 1, 0, 0, 0, 0, today.Location())
		last = first.AddDate(0, 1, -1)
	case "year":
		first = time.Date(today.Year()+away, time.January, 1, 0, 0, 0, 0, today.Location())
		last = first.AddDate(1, 0, -1)
	default:
		return time.Time{}, time.Time{}, 0, false, false
	}
	return first, last, i + 1, false, true
}

// pointers are the words that point at a period, with how far away it is.
func pointers() map[string]int {
	return map[string]int{
		"this": 0, "next": 1, "coming": 1, "last": -1, "previous": -1,
		"esta": 0, "este": 0, "neste": 0, "nesta": 0, "proxima": 1, "proximo": 1, "ultima": -1, "ultimo": -1,
		"diese": 0, "dieser": 0, "diesen": 0, "nachste": 1, "nachsten": 1, "nachster": 1, "letzte": -1, "letzten": -1,
		"cette": 0, "ce": 0,
	}
}
