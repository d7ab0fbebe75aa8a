package runmetrics

import (
	"slices"
	"time"
)

// span is a period of time, from inclusive, to exclusive.
type span struct {
	from, to time.Time
}

func (s span) empty() bool { return !s.to.After(s.from) }

func (s span) overlaps(o span) bool { return s.from.Before(o.to) && o.from.Before(s.to) }

// union merges spans into disjoint ones in order.
func union(spans []span) []span {
	sorted := slices.DeleteFunc(slices.Clone(spans), span.empty)
	slices.SortFunc(sorted, func(a, b span) int { return a.from.Compare(b.from) })
	var out []span
	for _, s := range sorted {
		if last := len(out) - 1; last >= 0 && !s.from.After(out[last].to) {
			out[last].to = latest(out[last].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// without returns spans with the cut ones removed. Both must be disjoint and in order.
func without(spans, cut []span) []span {
	var out []span
	for _, s := range spans {
		for _, c := range cut {
			if !s.overlaps(c) {
				continue
			}
			if before := (span{s.from, c.from}); !before.empty() {
				out = append(out, before)
			}
			s.from = latest(s.from, c.to)
			if s.empty() {
				break
			}
		}
		if !s.empty() {
			out = append(out, s)
		}
	}
	return out
}

// length returns the total length of disjoint spans.
func length(spans []span) time.Duration {
	var sum time.Duration
	for _, s := range spans {
		sum += s.to.Sub(s.from)
	}
	return sum
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
