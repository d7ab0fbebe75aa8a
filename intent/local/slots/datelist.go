package slots

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/values"
)

// offerDates adds dates that are listed, such as "Thursday and Friday", to a parameter that is
// a list of dates, the first of them to the required start, and their number to a parameter
// that counts days.
func offerDates(r *reading, run []values.Entity) {
	if len(run) < 2 || !slices.ContainsFunc(r.set.params, func(p *param) bool { return p.list != "" && p.single == "" && p.temporal() }) {
		return
	}
	first, last := run[0], run[len(run)-1]
	doubt := slices.ContainsFunc(run, func(e values.Entity) bool { return e.Doubt })
	for _, p := range r.set.params {
		m := mention{param: p, first: first.First, last: last.Last, kind: kindDate, p: 0.85, shared: true, doubt: doubt}
		switch {
		case p.temporal() && p.list != "" && !doubt:
			for _, e := range run {
				m.values = append(m.values, p.dateText(e))
			}
		case p.temporal() && p.single != "" && p.required && p.role != roleEnd:
			m.value = p.dateText(earliest(run))
		case r.countsDays(p) && p.inBounds(float64(len(run))) && (!doubt || consecutive(run)) && !hasNumber(r):
			m.value, m.kind, m.doubt = float64(len(run)), kindPeriod, false
		default:
			continue
		}
		r.add(m)
	}
}

// listedDates returns the dates of a list that begins with an entity; a list in the middle of
// another one does not begin there. Days of the week go forward: the Friday in "next Thursday
// and Friday" is the one after that Thursday.
func listedDates(r *reading, e values.Entity) []values.Entity {
	at := slices.IndexFunc(r.entities, func(o values.Entity) bool { return o.First == e.First && o.Kind == values.Date })
	if at < 0 || e.Edge != values.Whole || at > 0 && joinsDates(r, r.entities[at-1], e) {
		return nil
	}
	run := []values.Entity{e}
	for _, o := range r.entities[at+1:] {
		last := run[len(run)-1]
		if !joinsDates(r, last, o) {
			break
		}
		for onlyWeekday(r, o) && !o.Time.After(last.Time) {
			o.Time = o.Time.AddDate(0, 0, 7)
		}
		run = append(run, o)
	}
	return run
}

// joinsDates reports whether two dates are neighbours in a list.
func joinsDates(r *reading, a, b values.Entity) bool {
	if a.Kind != values.Date || b.Kind != values.Date || a.Edge != values.Whole || b.Edge != values.Whole || a.First < r.from || b.Last >= r.to || b.First <= a.Last {
		return false
	}
	for i := a.Last + 1; i < b.First; i++ {
		t := r.doc.Tokens[i]
		if !IsConjunction(t.Fold) && !t.Has(lexicon.Article) && !t.Has(lexicon.Within) && r.set.tools.cues.Preps[t.Fold]&SenseTime == 0 {
			return false
		}
	}
	return r.wording.Joined(a.Last, b.First)
}

// hasNumber reports whether the range has a number, which may be that of the days.
func hasNumber(r *reading) bool {
	return slices.ContainsFunc(r.entities, func(e values.Entity) bool { return e.Kind == values.Number && e.First >= r.from && e.Last < r.to })
}

func onlyWeekday(r *reading, e values.Entity) bool {
	return strings.IndexFunc(r.doc.Src[e.Span.Start:e.Span.End], unicode.IsDigit) < 0
}

func earliest(run []values.Entity) values.Entity {
	return slices.MinFunc(run, func(a, b values.Entity) int { return a.Time.Compare(b.Time) })
}

// consecutive reports whether dates are working days that follow one another.
func consecutive(run []values.Entity) bool {
	for i := 1; i < len(run); i++ {
		if next := run[i-1].Time.AddDate(0, 0, 1); next.Weekday() != run[i].Time.Weekday() || next.Weekday() == time.Saturday || run[i].Time.Sub(next).Abs() > 12*time.Hour {
			return false
		}
	}
	return true
}
