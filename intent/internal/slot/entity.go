package slot

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/slot/cues"
	"github.com/manifold-run/manifold/intent/internal/text"
	"github.com/manifold-run/manifold/intent/internal/value"
)

// entity offers a typed value to the parameters of its type.
func (r *reading) entity(e value.Entity) {
	if e.Kind == value.Date {
		bothEnds(r, e)
	}
	for _, p := range r.set.params {
		if !r.try(dear) {
			return
		}
		switch e.Kind {
		case value.Number:
			r.number(p, e)
		case value.Date:
			r.date(p, e)
			offerLength(r, p, e)
			offerDay(r, p, e)
		case value.Clock:
			r.clock(p, e)
		case value.Email, value.URL, value.UUID:
			r.address(p, e)
		case value.None:
		case value.Phone: // there is no format for it; free words are weighed for it
		}
	}
}

// clock offers a time of day, as the schema wants it to be written. A parameter that is
// only named so takes it as it is written.
func (r *reading) clock(p *param, e value.Entity) {
	if !p.takesClock() {
		return
	}
	written, score := text.Clean(r.doc.Src[e.Span.Start:e.Span.End]), 0.8
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

// takesClock tells parameters of a time of day.
func (p *param) takesClock() bool {
	return p.kind == "string" && (p.format == "time" || p.clock != "" || p.free() && p.saysClock())
}

// clockLayout is how the pattern has a time of day written, "" where it is of something
// else.
func (p *param) clockLayout() string {
	if p.pattern == nil || p.loose || p.format != "" {
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

// saysClock tells parameters whose name ends in a word for a time of day.
func (p *param) saysClock() bool {
	return len(p.words) > 0 && clockWord(p.words[len(p.words)-1])
}

// clockWord tells words for a time of day, which tell no two of them apart.
func clockWord(stem string) bool {
	switch stem {
	case "time", "hora", "uhrzeit", "heur":
		return true
	}
	return false
}

// month offers a period to two parameters that are its ends: "in December" is
// from its first day to its last. What has an effect takes only what is named: of
// "next week" nobody says whether Sunday belongs to it.
func (r *reading) month(i int) {
	start, end := r.set.period()
	if start == nil || r.inEntity[i] {
		return
	}
	first, last, to, bare, ok := r.set.tools.Scanner.Period(r.doc, i, r.now)
	announced := i > r.from && r.set.tools.cues.Preps[r.doc.Tokens[i-1].Fold]&cues.SenseTime != 0
	if !ok || to >= r.to || bare && !announced || !bare && r.set.writes {
		return
	}
	offer := func(p *param, day time.Time) {
		r.add(mention{param: p, first: i, last: to, value: p.dateText(value.Entity{Time: day}), kind: kindDate, p: 0.8, shared: true})
	}
	offer(start, first)
	offer(end, last)
}

// period gives the two parameters that are the ends of the only period.
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

// sole tells whether no other parameter of this kind could take the value,
// and this one is asked for. An optional value needs evidence of its own.
func (r *vicinity) sole(kind func(*param) bool, p *param) bool {
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

// lone tells whether no parameter but this one could take the value.
func (r *vicinity) lone(kind func(*param) bool, p *param) bool {
	return !slices.ContainsFunc(r.set.params, func(q *param) bool { return q != p && kind(q) && q.named(r.only) })
}

// expects tells whether the token is one that stood there in the examples, with an article
// behind it or not: "de la".
func (r *vicinity) expects(learned map[string]int, i int) bool {
	if i < r.from || i >= r.to {
		return false
	}
	if i > r.from && r.doc.Tokens[i].Has(lang.Article) && !r.doc.Tokens[i].Break {
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

// date offers a date. Words such as "from" and "until" tell the ends of a
// period apart.
func (r *reading) date(p *param, e value.Entity) {
	if !p.temporal() {
		return
	}
	score := 0.55
	switch {
	case r.near.sole((*param).temporal, p):
		score += 0.2
	case r.near.lone((*param).temporal, p) && r.onlyDate(e):
		score += 0.3 // the one date that is said, for the one that can be asked for
	case r.near.lone((*param).temporal, p):
		score += 0.1
	}
	cue := periodCue(r.scope, e)
	if hasBeen(r, p, e, cue) {
		e.Time = e.Time.AddDate(-1, 0, 0)
	}
	switch {
	case p.role == roleNone && (cue == roleNone || !slices.ContainsFunc(r.set.params, (*param).bounds)):
		score += 0.1 // "to December 12" of what has no period is a day
	case p.role == roleEnd && cue == roleNone && r.near.lone((*param).temporal, p):
		score += 0.1 // nor has "needed_by"
	case p.role == cue && e.Edge != value.Whole:
		score += 0.4 // both ends were said together
	case p.role == cue:
		score += 0.45
	case cue != roleNone && p.role != roleNone:
		return
	}
	if r.near.after(p, e.First) {
		score += 0.3
	}
	if r.near.expects(p.lefts, e.First-1) {
		score += 0.2
	}
	if e.First > r.from && r.doc.Tokens[e.First-1].Has(lang.Announces) {
		score += 0.1
	}
	r.add(mention{param: p, first: e.First, last: e.Last, value: p.dateText(e), kind: kindDate, p: min(score, 1) * e.P, doubt: e.Doubt, shared: r.oneDay(e)})
}

// bothEnds offers the only day of a text to both ends of a period, where no word such as
// "from" says that it is one of them: what is free "on Tuesday" is so on that day. What has
// an effect takes it so only where it needs both.
func bothEnds(r *reading, e value.Entity) {
	start, end := r.set.period()
	if start == nil || e.Edge != value.Whole || periodCue(r.scope, e) != roleNone || !r.onlyDate(e) || r.learning || r.set.writes && (!start.required || !end.required) {
		return
	}
	for _, p := range []*param{start, end} {
		r.add(mention{param: p, first: e.First, last: e.Last, value: p.dateText(e), kind: kindDate, p: 0.8, doubt: e.Doubt, shared: true})
	}
}

// bounds tells one end of a period.
func (p *param) bounds() bool { return p.temporal() && p.role != roleNone }

// halfYear is how far ahead the first day of what is only looked at is rather the same day
// of the year before: "the arrivals since November 2".
const halfYear = 183 * 24 * time.Hour

// nearlyAYear is the same of both ends of a period.
const nearlyAYear = 300 * 24 * time.Hour

// hasBeen tells a day to come, of no year, from which on something is asked for that has
// been.
func hasBeen(r *reading, p *param, e value.Entity, cue role) bool {
	yearless := (e.Edge == value.Whole || e.Yearless()) && !strings.Contains(r.doc.Src[e.Span.Start:e.Span.End], strconv.Itoa(e.Time.Year()))
	ahead := e.Time.Sub(r.now)
	looks := !r.set.writes && p.role == roleStart && cue == roleStart && e.Edge == value.Whole && r.onlyDate(e) && ahead > halfYear
	looks = looks || !r.set.writes && e.Edge != value.Whole && ahead > nearlyAYear // "between 1 and 15 November", said on the 21st
	return yearless && e.Time.After(r.now) && (looks || slices.Contains(p.words, "sinc"))
}

// onlyDate tells whether no other date is said.
func (r *reading) onlyDate(e value.Entity) bool {
	return !slices.ContainsFunc(r.entities, func(o value.Entity) bool {
		return o.Kind == e.Kind && o.First != e.First && o.First >= r.from && o.Last < r.to
	})
}

func (p *param) dateText(e value.Entity) string {
	if p.format == "date-time" {
		return e.Time.Format(time.RFC3339)
	}
	layout := cmp.Or(p.layout, time.DateOnly)
	if !e.HasClock {
		layout, _, _ = strings.Cut(layout, " ") // nobody said that it is midnight
	}
	return e.Time.Format(layout)
}

// offerLength offers the length of a period to a parameter that counts days, where
// nothing takes its last day: "from the 3rd to the 5th" of what has a first day and
// a number of days. Working days are counted where the description says so; else a
// weekend in between makes it doubtful.
func offerLength(r *reading, p *param, last value.Entity) {
	if last.Edge != value.End || !r.countsDays(p) {
		return
	}
	at := slices.IndexFunc(r.entities, func(e value.Entity) bool { return e.First == last.First })
	if at < 1 || r.entities[at-1].Edge != value.Start || r.entities[at-1].First < r.from {
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

// countsDays tells a number of days that goes on from a first day, where nothing takes
// the last one.
func (r *reading) countsDays(p *param) bool {
	return p.numeric() && p.unit == "day" && !slices.Contains(p.words, "night") && p.single != "" &&
		!slices.ContainsFunc(r.set.params, func(q *param) bool { return q.temporal() && q.role == roleEnd })
}

// offerDay offers one to a parameter that counts days, where a day itself is what is
// asked for: "tomorrow off", "folga amanhã". A day from which something goes on, or
// one beside a number of days, says nothing of how many.
func offerDay(r *reading, p *param, e value.Entity) {
	if r.oneDay(e) && r.countsDays(p) && p.inBounds(1) {
		r.add(mention{param: p, first: e.First, last: e.Last, value: 1.0, kind: kindPeriod, p: 0.82, doubt: e.Doubt, shared: true})
	}
}

// oneDay tells the only day of a text without a number of days, right before or right
// behind what the capability is called.
func (r *reading) oneDay(e value.Entity) bool {
	if e.Kind != value.Date || e.Edge != value.Whole || periodCue(r.scope, e) != roleNone || r.learning {
		return false
	}
	if slices.ContainsFunc(r.entities, func(o value.Entity) bool {
		return o.First != e.First && o.First >= r.from && o.Last < r.to && (o.Kind == value.Date || o.Kind == value.Number)
	}) {
		return false
	}
	called := func(i int) bool {
		return i >= r.from && i < r.to && r.set.known.Called(r.doc.Tokens[i].Stem) && !r.inEntity[i]
	}
	next := e.Last + 1
	if next < r.to && r.doc.Tokens[next].Has(lang.Particle) { // "a sexta de folga"
		next++
	}
	return called(next) && !r.doc.Tokens[next].Break || called(e.First-1) && !r.doc.Tokens[e.First].Break
}

// longestPeriod is how many days a period has at most whose days are counted.
const longestPeriod = 3660

// daysBetween counts the days from one to the other, both included, and those from
// Monday to Friday.
func daysBetween(from, to time.Time) (all, working int) {
	for day := from; !day.After(to) && all < longestPeriod; day = day.AddDate(0, 0, 1) {
		all++
		if day.Weekday() != time.Saturday && day.Weekday() != time.Sunday {
			working++
		}
	}
	return all, working
}

// periodCue tells which end of a period a date is: as it was said together with the
// other, or else by the words before it.
func periodCue(r *scope, e value.Entity) role {
	switch e.Edge {
	case value.Start:
		return roleStart
	case value.End:
		return roleEnd
	case value.Whole:
	}
	for i := e.First - 1; i >= max(e.First-3, 0) && i < len(r.doc.Tokens); i-- {
		switch t := r.doc.Tokens[i]; {
		case t.Has(lang.Pronoun):
			return roleNone
		case t.Has(lang.Starts):
			return roleStart
		case t.Has(lang.Ends):
			return roleEnd
		case !t.Has(lang.Within) && r.set.tools.cues.Names[t.Stem]&cues.SenseTime == 0 && !contracted(r, t):
			return roleNone
		}
	}
	return roleNone
}

// contracted tells a preposition with its article in it, of those that stand before a date:
// the "du" of "à partir du 3 mai".
func contracted(r *scope, t text.Token) bool {
	alone, ok := lang.Shipped().Preposition(t.Lower)
	return ok && r.set.tools.Lexicon.Folded(alone).Has(lang.Within)
}

// address offers an e-mail address, a link or a UUID.
func (r *reading) address(p *param, e value.Entity) {
	if p.kind != "string" || len(p.enum) > 0 {
		return
	}
	format := map[value.Kind]string{value.Email: "email", value.URL: "uri", value.UUID: "uuid"}[e.Kind]
	raw := text.Clean(r.doc.Src[e.Span.Start:e.Span.End])
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
	case r.near.after(p, e.First), r.near.expects(p.lefts, e.First-1):
		score = 0.8
	case p.resolver:
		score = 0.76
	}
	if score > 0 && p.fits(raw) {
		r.add(mention{param: p, first: e.First, last: e.Last, value: raw, kind: kindAddress, p: score})
	}
}

// fits checks a text against what the schema says of it. A resolver may still
// turn any text into a value that matches the pattern.
func (p *param) fits(s string) bool {
	n := len([]rune(s))
	if n < p.minLen || p.maxLen > 0 && n > p.maxLen || s == "" {
		return false
	}
	return p.pattern == nil || p.resolver || p.pattern.MatchString(s)
}
