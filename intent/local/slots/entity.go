package slots

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// entity adds a typed value as a candidate for the parameters of its type.
func (r *reading) entity(e values.Entity) {
	if e.Kind == values.Date {
		offerBothEnds(r, e)
		offerDates(r, listedDates(r, e))
	}
	for _, p := range r.set.params {
		if !r.try(contextCost) {
			return
		}
		switch e.Kind {
		case values.Number:
			r.number(p, e)
		case values.Date:
			r.date(p, e)
			offerLength(r, p, e)
			offerDay(r, p, e)
		case values.Clock:
			r.clock(p, e)
		case values.Email, values.URL, values.UUID:
			r.address(p, e)
		case values.None:
		case values.Phone: // the schema has no format for it; the free-text step weighs it
		}
	}
}

// clock adds a time of day in the layout that the schema requires. A parameter that only has a
// time in its name takes the original text.
func (r *reading) clock(p *param, e values.Entity) {
	if !p.takesClock() {
		return
	}
	written, score := tokenize.Clean(r.doc.Src[e.Span.Start:e.Span.End]), 0.8
	if p.format == "time" {
		written, score = e.Time.Format("15:04:05Z07:00"), 0.85
	}
	if p.clock != "" {
		written, score = e.Time.Format(p.clock), 0.92
	}
	if p.pattern == nil || p.pattern.MatchString(written) {
		r.add(mention{param: p, first: e.First, last: e.Last, value: written, kind: kindTime, p: score, doubt: e.Doubt})
	}
}

// takesClock reports whether a parameter takes a time of day.
func (p *param) takesClock() bool {
	return p.kind == "string" && (p.format == "time" || p.clock != "" || p.free() && p.saysClock())
}

// clockLayout returns the time layout that the pattern accepts, or "" if the pattern is not for a
// time of day.
func (p *param) clockLayout() string {
	if p.pattern == nil || p.acceptsWords || p.format != "" {
		return ""
	}
	morning, evening := time.Date(0, 1, 1, 8, 5, 0, 0, time.UTC), time.Date(0, 1, 1, 20, 45, 0, 0, time.UTC)
	for _, layout := range []string{"15:04", "15:04:05", "3:04 PM", "3:04PM", "03:04 PM", "15h04", "1504"} {
		if p.pattern.MatchString(morning.Format(layout)) && p.pattern.MatchString(evening.Format(layout)) && (p.saysClock() || !p.pattern.MatchString("77:77") && !p.pattern.MatchString("7777")) {
			return layout
		}
	}
	return ""
}

// saysClock reports whether the name of a parameter ends in a word for a time of day.
func (p *param) saysClock() bool {
	return len(p.words) > 0 && clockWord(p.words[len(p.words)-1])
}

// clockWord reports whether a stem is a generic word for a time of day.
func clockWord(stem string) bool {
	return slices.Contains([]string{"time", "hora", "uhrzeit", "heur"}, stem)
}

// month adds a period to the two parameters that are its ends: "in December" is from its first day
// to its last, "since December" from its first. A write takes only named periods, since the bounds of "next week" are ambiguous.
func (r *reading) month(i int) {
	start, end := r.set.period()
	if start == nil || r.inEntity[i] {
		return
	}
	first, last, to, bare, ok := r.set.tools.Scanner.Period(r.doc, i, r.now)
	since, until := r.marks(lexicon.Starts, i-1), r.marks(lexicon.Ends, i-1)
	announced := i > r.from && r.set.tools.cues.Preps[r.doc.Tokens[i-1].Fold]&SenseTime != 0 || since || until
	if !ok || to >= r.to || bare && !announced || !bare && r.set.writes {
		return
	}
	if bare && start.looksBack() && first.After(r.now) {
		first, last = first.AddDate(-1, 0, 0), last.AddDate(-1, 0, 0)
	}
	offer := func(p *param, day time.Time) {
		r.add(mention{param: p, first: i, last: to, value: p.dateText(values.Entity{Time: day}), kind: kindDate, p: 0.8, shared: true})
	}
	if r.set.writes || !until {
		offer(start, first)
	}
	if r.set.writes || !since { // "since October" has no end
		offer(end, last)
	}
}

// marks reports whether the word before a period marks one end of it.
func (r *reading) marks(end lexicon.Class, i int) bool {
	if i > r.from && r.doc.Tokens[i].Has(lexicon.Article) {
		i-- // "seit dem letzten Monat"
	}
	return i >= r.from && r.doc.Tokens[i].In(r.doc.Languages.At(i).Best(), end) && !r.doc.Tokens[i].Has(lexicon.Within)
}

// period returns the start and end parameter if the capability has exactly one period.
func (s *Set) period() (start, end *param) {
	for _, p := range s.params {
		switch {
		case !p.temporal() || p.format != "date" || p.role == roleNone:
		case p.role == roleStart && start == nil:
			start = p
		case p.role == roleEnd && end == nil:
			end = p
		default:
			return nil, nil
		}
	}
	if start == nil || end == nil {
		return nil, nil
	}
	return start, end
}

// onlyRequired reports whether no other required parameter of this kind could take the value. An
// optional parameter needs evidence of its own, unless it was asked for.
func (r *vicinity) onlyRequired(kind func(*param) bool, p *param) bool {
	if !p.required && len(r.only) == 0 && !r.learning {
		return false
	}
	for _, q := range r.set.params {
		if q != p && kind(q) && q.named(r.only) && (q.required || r.learning) {
			return false
		}
	}
	return true
}

// onlyTaker reports whether no other parameter could take the value.
func (r *vicinity) onlyTaker(kind func(*param) bool, p *param) bool {
	return !slices.ContainsFunc(r.set.params, func(q *param) bool { return q != p && kind(q) && q.named(r.only) })
}

// expects reports whether the examples have this token at this position, with or without an
// article behind it: "de la".
func (r *vicinity) expects(learned map[string]int, i int) bool {
	if i < r.from || i >= r.to {
		return false
	}
	if i > r.from && r.doc.Tokens[i].Has(lexicon.Article) && !r.doc.Tokens[i].Break {
		if _, prep := r.set.tools.cues.Preps[r.doc.Tokens[i-1].Fold]; prep && r.announces(learned, i-1) {
			return true
		}
	}
	return r.announces(learned, i)
}

func (r *vicinity) announces(learned map[string]int, i int) bool {
	stem := r.wording.LeftAt(i)
	return learned[stem] > 0 && !slices.Contains([]string{"the", "a", "an", "my", "and"}, stem)
}

// date adds a date. Words such as "from" and "until" select the end of a period.
func (r *reading) date(p *param, e values.Entity) {
	if !p.temporal() || p.single == "" && !p.required && !r.near.onlyTaker((*param).temporal, p) { // a list of dates beside a date: see offerDates
		return
	}
	score := 0.55
	switch {
	case r.near.onlyRequired((*param).temporal, p):
		score += 0.2
	case r.near.onlyTaker((*param).temporal, p) && r.onlyDate(e):
		score += 0.3 // the only date, for the only date parameter
	case r.near.onlyTaker((*param).temporal, p):
		score += 0.1
	}
	cue := periodCue(r.scope, e)
	if isPastStart(r, p, e, cue) {
		e = e.Before()
	}
	switch {
	case p.role == roleNone && (cue == roleNone || !slices.ContainsFunc(r.set.params, (*param).isPeriodEnd)):
		score += 0.1 // a date target such as "to December 12" without a period is a single day
	case p.role == roleEnd && cue == roleNone && r.near.onlyTaker((*param).temporal, p):
		score += 0.1 // the same for "needed_by"
	case p.role == cue && e.Edge != values.Whole:
		score += 0.4 // both ends were read together
	case p.role == cue:
		score += 0.45
	case cue != roleNone && p.role != roleNone:
		return
	}
	if r.near.after(p, e.First) {
		score += 0.3
	}
	if r.near.expects(p.leftContext, e.First-1) {
		score += 0.2
	}
	if e.First > r.from && r.doc.Tokens[e.First-1].Has(lexicon.Announces) {
		score += 0.1
	}
	r.add(mention{param: p, first: e.First, last: e.Last, value: p.dateText(e), kind: kindDate, p: min(score, 1) * e.P, doubt: e.Doubt, shared: r.isSingleDay(e)})
}

// offerBothEnds adds the only date of a text as both ends of a period if no word such as "from"
// marks it as one end: free "on Tuesday" means on that day. A write takes it only if it requires
// both ends.
func offerBothEnds(r *reading, e values.Entity) {
	start, end := r.set.period()
	if start == nil || e.Edge != values.Whole || periodCue(r.scope, e) != roleNone || !r.onlyDate(e) || r.learning || r.set.writes && (!start.required || !end.required) {
		return
	}
	for _, p := range []*param{start, end} {
		r.add(mention{param: p, first: e.First, last: e.Last, value: p.dateText(e), kind: kindDate, p: 0.8, doubt: e.Doubt, shared: true})
	}
}

// isPeriodEnd reports whether a parameter is an end of a period.
func (p *param) isPeriodEnd() bool { return p.temporal() && p.role != roleNone }

// halfYear is how far ahead a start date in a read must be to be taken as last year's: "the
// arrivals since November 2".
const halfYear = 183 * 24 * time.Hour

// nearlyAYear is the same for both ends of a period.
const nearlyAYear = 300 * 24 * time.Hour

// isPastStart reports whether a future date without a year is the start of a period in the past.
func isPastStart(r *reading, p *param, e values.Entity, cue role) bool {
	yearless := (e.Edge == values.Whole || e.Yearless()) && !strings.Contains(r.doc.Src[e.Span.Start:e.Span.End], strconv.Itoa(e.Time.Year()))
	ahead := e.Time.Sub(r.now)
	looks := !r.set.writes && p.role == roleStart && cue == roleStart && e.Edge == values.Whole && r.onlyDate(e) && ahead > halfYear
	looks = looks || !r.set.writes && e.Edge != values.Whole && ahead > nearlyAYear // "between 1 and 15 November" on November 21
	return yearless && e.Time.After(r.now) && (looks || p.looksBack())
}

// looksBack reports whether a parameter is the start of a period that has begun.
func (p *param) looksBack() bool { return slices.Contains(p.words, "sinc") }

// onlyDate reports whether the range has no other entity of this kind.
func (r *reading) onlyDate(e values.Entity) bool {
	return !slices.ContainsFunc(r.entities, func(o values.Entity) bool {
		return o.Kind == e.Kind && o.First != e.First && o.First >= r.from && o.Last < r.to
	})
}

func (p *param) dateText(e values.Entity) string {
	if p.format == "date-time" {
		return e.Time.Format(time.RFC3339)
	}
	layout := cmp.Or(p.layout, time.DateOnly)
	if !e.HasClock {
		layout, _, _ = strings.Cut(layout, " ") // drop the time, which the message does not give
	}
	return e.Time.Format(layout)
}

// offerLength adds the length of a period to a parameter that counts days, if no parameter takes
// its end: "from the 3rd to the 5th" for a start date and a number of days. It counts working days
// if the description says so; else a weekend in between marks the value as doubtful.
func offerLength(r *reading, p *param, last values.Entity) {
	if last.Edge != values.End || !r.countsDays(p) {
		return
	}
	at := slices.IndexFunc(r.entities, func(e values.Entity) bool { return e.First == last.First })
	if at < 1 || r.entities[at-1].Edge != values.Start || r.entities[at-1].First < r.from {
		return
	}
	all, working := daysBetween(r.entities[at-1].Time, last.Time)
	days, doubt := all, all != working
	if p.desc["work"] || p.desc["weekday"] {
		days, doubt = working, false
	}
	if v := float64(days); days > 0 && p.inBounds(v) {
		r.add(mention{param: p, first: last.First, last: last.Last, value: v, kind: kindPeriod, p: 0.82, doubt: doubt || last.Doubt})
	}
}

// countsDays reports whether a parameter is a number of days and no parameter takes an end date.
func (r *reading) countsDays(p *param) bool {
	return p.numeric() && p.unit == "day" && !slices.Contains(p.words, "night") && p.single != "" &&
		!slices.ContainsFunc(r.set.params, func(q *param) bool { return q.temporal() && q.role == roleEnd })
}

// offerDay adds 1 to a parameter that counts days if the request names a single day: "tomorrow
// off", "folga amanhã". A start date, or a date beside a number of days, gives no count.
func offerDay(r *reading, p *param, e values.Entity) {
	if r.isSingleDay(e) && r.countsDays(p) && p.inBounds(1) {
		r.add(mention{param: p, first: e.First, last: e.Last, value: 1.0, kind: kindPeriod, p: 0.82, doubt: e.Doubt, shared: true})
	}
}

// isSingleDay reports whether an entity is the only date, without a number of days, and stands right
// before or behind a name of the capability.
func (r *reading) isSingleDay(e values.Entity) bool {
	if e.Kind != values.Date || e.Edge != values.Whole || periodCue(r.scope, e) != roleNone || r.learning {
		return false
	}
	if slices.ContainsFunc(r.entities, func(o values.Entity) bool {
		return o.First != e.First && o.First >= r.from && o.Last < r.to && (o.Kind == values.Date || o.Kind == values.Number)
	}) {
		return false
	}
	called := func(i int) bool {
		return i >= r.from && i < r.to && r.set.known.Called(r.doc.Tokens[i].Stem) && !r.inEntity[i]
	}
	next := e.Last + 1
	if next < r.to && r.doc.Tokens[next].Has(lexicon.Particle) { // "a sexta de folga"
		next++
	}
	return called(next) && !r.doc.Tokens[next].Break || called(e.First-1) && !r.doc.Tokens[e.First].Break
}

// longestPeriod is the maximum number of days that are counted.
const longestPeriod = 3660

// daysBetween counts the days from one date to the other, both included, and the working days
// among them.
func daysBetween(from, to time.Time) (all, working int) {
	for day := from; !day.After(to) && all < longestPeriod; day = day.AddDate(0, 0, 1) {
		all++
		if day.Weekday() != time.Saturday && day.Weekday() != time.Sunday {
			working++
		}
	}
	return all, working
}

// periodCue returns which end of a period a date is, by the entity itself or else by the words
// before it.
func periodCue(r *scope, e values.Entity) role {
	switch e.Edge {
	case values.Start:
		return roleStart
	case values.End:
		return roleEnd
	case values.Whole:
	}
	for i := e.First - 1; i >= max(e.First-3, 0) && i < len(r.doc.Tokens); i-- {
		switch t := r.doc.Tokens[i]; {
		case t.Has(lexicon.Pronoun):
			return roleNone
		case t.Has(lexicon.Starts):
			return roleStart
		case t.Has(lexicon.Ends):
			return roleEnd
		case !t.Has(lexicon.Within) && r.set.tools.cues.Names[t.Stem]&SenseTime == 0 && !contracted(r, t):
			return roleNone
		}
	}
	return roleNone
}

// contracted reports whether a token is a preposition contracted with its article before a date,
// such as "du" in "à partir du 3 mai".
func contracted(r *scope, t tokenize.Token) bool {
	alone, ok := lexicon.Shipped().Preposition(t.Lower)
	return ok && r.set.tools.Lexicon.Folded(alone).Has(lexicon.Within)
}

// address adds an e-mail address, a URL or a UUID.
func (r *reading) address(p *param, e values.Entity) {
	if p.kind != "string" || len(p.enum) > 0 {
		return
	}
	format := map[values.Kind]string{values.Email: "email", values.URL: "uri", values.UUID: "uuid"}[e.Kind]
	raw := tokenize.Clean(r.doc.Src[e.Span.Start:e.Span.End])
	score := 0.0
	switch {
	case p.format == format:
		score = 0.93
	case p.format != "":
		return
	case slices.ContainsFunc(p.words, func(w string) bool {
		return w == "email" || w == "mail" || w == "url" || w == "link" || w == "uuid"
	}):
		score = 0.88
	case r.near.after(p, e.First), r.near.expects(p.leftContext, e.First-1):
		score = 0.8
	case p.resolver:
		score = 0.76
	}
	if score > 0 && p.fits(raw) {
		r.add(mention{param: p, first: e.First, last: e.Last, value: raw, kind: kindAddress, p: score})
	}
}

// fits reports whether a text satisfies the length and pattern of the schema. A resolver may still
// turn any text into a value that matches the pattern.
func (p *param) fits(s string) bool {
	n := len([]rune(s))
	if n < p.minLen || p.maxLen > 0 && n > p.maxLen || s == "" {
		return false
	}
	return p.pattern == nil || p.resolver || p.pattern.MatchString(s)
}
