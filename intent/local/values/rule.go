package values

import (
	"math"
	"slices"
	"time"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// ruleClass is the kind of value that a rule builds.
type ruleClass uint8

const (
	dayRule    ruleClass = iota // a day
	awayRule                    // a day relative to another
	edgeRule                    // the first or the last day of a period
	rangeRule                   // two days
	clockRule                   // a time of day
	hoursRule                   // two times of day
	periodRule                  // a week, a month or a year, from its first to its last day
)

// rule is a form with the constructor of its value.
type rule struct {
	form  lexicon.Form
	class ruleClass
	// bare is set if the words before the first value belong to the sentence, such as "on".
	bare bool
	make func(r *reader, c *captures) (a, b Entity, ok bool)
}

// ruleList holds the forms of one key of a language file.
type ruleList struct {
	forms []string
	rule  rule
}

func (t *language) ruleLists() []ruleList {
	d, c := &t.data.Dates, &t.data.Times
	day := func(forms []string, bare bool, f func(*reader, *captures) (Entity, bool)) ruleList {
		return ruleList{forms, rule{class: dayRule, bare: bare, make: single(f)}}
	}
	away := func(forms []string, f func(*reader, *captures) (Entity, bool)) ruleList {
		return ruleList{forms, rule{class: awayRule, make: single(f)}}
	}
	edge := func(forms []string, f func(*reader, *captures) (Entity, bool)) ruleList {
		return ruleList{forms, rule{class: edgeRule, make: single(f)}}
	}
	clock := func(forms []string, f func(*reader, *captures) (Entity, bool)) ruleList {
		return ruleList{forms, rule{class: clockRule, make: single(f)}}
	}
	period := func(forms []string, away int) ruleList {
		return ruleList{forms, rule{class: periodRule, make: periodAway(away)}}
	}
	return []ruleList{
		period(d.ThisPeriod, 0), period(d.NextPeriod, 1), period(d.LastPeriod, -1),
		{d.MonthPeriod, rule{class: periodRule, make: monthPeriod}},
		day(d.Date, true, writtenDate), day(d.Nth, true, nextNth),
		day(d.Weekday, true, comingWeekday), day(d.NextWeekday, false, nextWeekday), day(d.ComingWeekday, false, comingWeekday), day(d.LastWeekday, false, lastWeekday),
		away(d.Ahead, distance(1)), away(d.Ago, distance(-1)), away(d.Later, fromPoint(1)), away(d.From, weeksFrom), away(d.Earlier, fromPoint(-1)), away(d.WeekLater, weekLater),
		edge(d.StartOf, startOf), edge(d.EndOf, endOf), edge(d.MonthEnd, endOfThis("month")), edge(d.YearEnd, endOfThis("year")),
		{d.Span, rule{class: rangeRule, bare: true, make: spanOfMonth}},
		{d.Days, rule{class: rangeRule, bare: true, make: spanOfDays}},
		{d.Range, rule{class: rangeRule, bare: true, make: rangeOfPoints}},
		clock(c.Noon, fullHour(12)), clock(c.Midnight, fullHour(0)), clock(c.Oclock, onHour(0, 0)), clock(c.Spoken, onSpokenHour), clock(c.HalfPast, onHour(0, 30)), clock(c.HalfTo, onHour(-1, 30)),
		clock(c.QuarterPast, onHour(0, 15)), clock(c.QuarterTo, onHour(-1, 45)), clock(c.WithMinutes, onHour(0, 0)),
		{c.Range, rule{class: hoursRule, bare: true, make: rangeOfHours}},
	}
}

func single(f func(*reader, *captures) (Entity, bool)) func(*reader, *captures) (Entity, Entity, bool) {
	return func(r *reader, c *captures) (Entity, Entity, bool) {
		e, ok := f(r, c)
		return e, Entity{}, ok
	}
}

// near returns the constructor for days such as "tomorrow".
func near(days int) func(*reader, *captures) (Entity, Entity, bool) {
	return single(func(r *reader, _ *captures) (Entity, bool) {
		return Entity{Kind: Date, Time: r.today.AddDate(0, 0, days), P: 0.93}, !r.now.IsZero()
	})
}

// fixed returns the constructor for named dates such as Christmas.
func fixed(month time.Month, day int) func(*reader, *captures) (Entity, Entity, bool) {
	return single(func(r *reader, _ *captures) (Entity, bool) { return r.nextDate(month, day, 0) })
}

// writtenDate reads a day and a month, with or without a year.
func writtenDate(r *reader, c *captures) (Entity, bool) {
	if c.year == 0 && r.now.IsZero() { // the other end of a range may have the year
		e, ok := calendar(leapYear, c.months[0], c.days[0], r.now.Location())
		e.yearless = true
		return e, ok
	}
	e, ok := r.nextDate(c.months[0], c.days[0], c.year)
	if !ok && !r.now.IsZero() && c.days[0] > shortestMonth {
		return Entity{Kind: None}, true // a date that does not exist is no number either
	}
	return e, ok
}

// leapYear is a year with all dates.
const leapYear = 2000

// shortestMonth is the number of days that every month has.
const shortestMonth = 28

// nextDate returns a date. Without a year it is the next such date, with a lower probability.
func (r *reader) nextDate(month time.Month, day, year int) (Entity, bool) {
	if year > 0 {
		return calendar(year, month, day, r.now.Location())
	}
	if r.now.IsZero() {
		return Entity{}, false
	}
	for year := r.now.Year(); year <= r.now.Year()+4; year++ {
		if e, ok := calendar(year, month, day, r.now.Location()); ok && !e.Time.Before(r.today) {
			e.P, e.yearless = 0.8, true
			return e, true
		}
	}
	return Entity{}, false
}

// nextNth reads "the 24th" as the next such date.
func nextNth(r *reader, c *captures) (Entity, bool) {
	if r.now.IsZero() || !r.stops(c.end) || c.wordy {
		return Entity{}, false
	}
	return r.nth(c.days[0])
}

// nth returns the next date with this day of the month.
func (r *reader) nth(day int) (Entity, bool) {
	for k := range 4 {
		first := time.Date(r.today.Year(), r.today.Month()+time.Month(k), 1, 0, 0, 0, 0, r.today.Location())
		if e, ok := calendar(first.Year(), first.Month(), day, r.today.Location()); ok && !e.Time.Before(r.today) {
			e.P = 0.7
			return e, true
		}
	}
	return Entity{}, false
}

// comingWeekday returns the first such weekday after today.
func comingWeekday(r *reader, c *captures) (Entity, bool) {
	ahead := (int(c.weekday)-int(r.today.Weekday())+6)%7 + 1
	return Entity{Kind: Date, Time: r.today.AddDate(0, 0, ahead), P: 0.85, weekday: true}, !r.now.IsZero()
}

// nextWeekday is the same for "next"; in some languages it is ambiguous before that weekday of the
// current week.
func nextWeekday(r *reader, c *captures) (Entity, bool) {
	e, ok := comingWeekday(r, c)
	e.Doubt = r.language.data.Dates.DoubtfulNext && isoDay(c.weekday) > isoDay(r.today.Weekday())
	return e, ok
}

func lastWeekday(r *reader, c *captures) (Entity, bool) {
	back := (int(r.today.Weekday())-int(c.weekday)+6)%7 + 1
	return Entity{Kind: Date, Time: r.today.AddDate(0, 0, -back), P: 0.85}, !r.now.IsZero()
}

// maxDistance is the maximum distance of a date in units.
const maxDistance = 36500

// distance reads "in 3 days" and "3 days ago".
func distance(sign int) func(*reader, *captures) (Entity, bool) {
	return func(r *reader, c *captures) (Entity, bool) {
		e, ok := r.moved(r.today, c, sign)
		if ok && sign > 0 && r.counts(c.end) {
			return Entity{}, false // a duration: "in 3 days of work"
		}
		n := c.number
		e.Distance = &n
		return e, ok && !r.now.IsZero()
	}
}

func (r *reader) moved(from time.Time, c *captures, sign int) (Entity, bool) {
	n := c.number.Number
	if c.number.Doubt || n != math.Trunc(n) || math.Abs(n) > maxDistance {
		return Entity{}, false
	}
	t, ok := move(from, c.unit, sign*int(n))
	return Entity{Kind: Date, Time: t, P: 0.88}, ok
}

// fromPoint reads "a week from Monday" and "two days before Friday".
func fromPoint(sign int) func(*reader, *captures) (Entity, bool) {
	return func(r *reader, c *captures) (Entity, bool) {
		from := c.points[0].Time
		if c.np == 0 {
			e, ok := comingWeekday(r, c) // such as "Montag in einer Woche"
			if !ok {
				return Entity{}, false
			}
			from = e.Time
		}
		return r.moved(from, c, sign)
	}
}

// weeksFrom reads "a week from Monday". "Three days from Monday" and "two weeks from December 14"
// are a duration with a start date instead.
func weeksFrom(r *reader, c *captures) (Entity, bool) {
	dated := c.np > 0 && slices.ContainsFunc(r.d.Tokens[c.points[0].First:c.points[0].Last+1], func(t tokenize.Token) bool { return t.Is(tokenize.FormDigits | tokenize.FormMixed) })
	if c.unit == "day" || dated {
		return Entity{}, false
	}
	return fromPoint(1)(r, c)
}

// weekLater reads "Monday week".
func weekLater(r *reader, c *captures) (Entity, bool) {
	e, ok := comingWeekday(r, c)
	e.Time = e.Time.AddDate(0, 0, 7)
	return e, ok
}

func startOf(_ *reader, c *captures) (Entity, bool) {
	return Entity{Kind: Date, Time: c.period[0], P: 0.85}, true
}

func endOf(_ *reader, c *captures) (Entity, bool) {
	return Entity{Kind: Date, Time: c.period[1], P: 0.85}, true
}

func endOfThis(unit string) func(*reader, *captures) (Entity, bool) {
	return func(r *reader, _ *captures) (Entity, bool) {
		_, last, ok := periodOf(r.today, unit, 0)
		return Entity{Kind: Date, Time: last, P: 0.85}, ok && !r.now.IsZero()
	}
}

// spanOfMonth reads "20 to 24 December".
func spanOfMonth(r *reader, c *captures) (a, b Entity, ok bool) {
	month := c.months[0]
	a, okA := r.nextDate(month, c.days[0], c.year)
	b, okB := r.nextDate(month, c.days[1], c.year)
	if !okA || !okB {
		return a, b, false
	}
	if b.Time.Before(a.Time) && c.year == 0 && c.days[0] < c.days[1] {
		a.Time = a.Time.AddDate(-1, 0, 0) // today is between them
	}
	return edges(a, b)
}

// spanOfDays reads "the 3rd to the 5th".
func spanOfDays(r *reader, c *captures) (a, b Entity, ok bool) {
	a, okA := r.nth(c.days[0])
	b, okB := calendar(a.Time.Year(), a.Time.Month(), c.days[1], r.today.Location())
	if okB && b.Time.Before(a.Time) {
		b.Time = b.Time.AddDate(0, 1, 0)
	}
	b.P = a.P
	if !okA || !okB || r.now.IsZero() || !r.stops(c.end) || c.wordy {
		return a, b, false
	}
	return edges(a, b)
}

// rangeOfPoints reads "Monday to Wednesday" and "20 December to 3 January".
func rangeOfPoints(r *reader, c *captures) (a, b Entity, ok bool) {
	switch {
	case c.np == 1 && !r.now.IsZero(): // such as "from now until Friday"
		c.points[1], c.points[0] = c.points[0], Entity{Kind: Date, Time: r.today, P: 0.85}
	case c.np < 2:
		return a, b, false
	}
	a, b = c.points[0], c.points[1]
	if a.yearless && !b.yearless && !b.weekday {
		a = inYearOf(a, b.Time) // such as "March 3 to March 9, 2025"
	}
	switch {
	case b.yearless && r.now.IsZero():
		return a, b, false
	case !b.Time.Before(a.Time):
	case b.weekday:
		b.Time = b.Time.AddDate(0, 0, 7)
	case b.yearless && a.yearless:
		b.Time = b.Time.AddDate(1, 0, 0)
		b.Doubt = b.Time.Sub(a.Time) > maxYearTurn
	}
	return edges(a, b)
}

// inYearOf moves the first day of a period to the year of its last day, or to the year before.
func inYearOf(a Entity, last time.Time) Entity {
	for year := last.Year(); year >= last.Year()-1; year-- {
		if e, ok := calendar(year, a.Time.Month(), a.Time.Day(), last.Location()); ok && !e.Time.After(last) {
			a.Time, a.yearless = e.Time, false
			return a
		}
	}
	return a
}

// maxYearTurn is the maximum length of a range over the end of a year: "31 December to 24
// December" is a mistake.
const maxYearTurn = 300 * 24 * time.Hour

func edges(a, b Entity) (Entity, Entity, bool) {
	a.Edge, b.Edge = Start, End
	return a, b, !b.Time.Before(a.Time)
}

// fullHour returns the constructor for noon and midnight.
func fullHour(hour int) func(*reader, *captures) (Entity, bool) {
	return func(*reader, *captures) (Entity, bool) { return clockAt(hour, 0), true }
}

func clockAt(hour, minute int) Entity {
	return Entity{Kind: Clock, Time: time.Date(0, 1, 1, hour, minute, 0, 0, time.UTC), HasClock: true, P: 0.9}
}

// onHour returns the constructor for an hour with an offset. A spelled-out hour up to twelve is
// ambiguous until the half of the day is given.
func onHour(hours, minutes int) func(*reader, *captures) (Entity, bool) {
	return func(_ *reader, c *captures) (Entity, bool) {
		if c.hour+hours < 0 || c.hour > 24 {
			return Entity{}, false
		}
		e := clockAt((c.hour+hours)%24, minutes+c.minute)
		e.halves = c.hour >= 1 && c.hour <= 12
		e.Doubt = e.halves && (minutes > 0 || c.spelledHour)
		return e, true
	}
}

// firstMorningHour is the first hour that means the morning without a half of the day.
const firstMorningHour = 7

// onSpokenHour reads "alle 9".
func onSpokenHour(r *reader, c *captures) (Entity, bool) {
	e, ok := onHour(0, 0)(r, c)
	e.Doubt = e.Doubt || c.hour > 0 && c.hour < firstMorningHour
	return e, ok
}

func rangeOfHours(_ *reader, c *captures) (a, b Entity, ok bool) {
	a, b = c.clocks[0], c.clocks[1]
	a.Edge, b.Edge = Start, End
	return a, b, c.nc == 2
}
