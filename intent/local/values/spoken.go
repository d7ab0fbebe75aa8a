package values

import (
	"strings"
	"time"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// days returns the dates and times in words at a token, except inside a title.
func (s *Scanner) days(d *Doc, readers []*reader, i int, starting languageSet) []Entity {
	found := s.spoken(d, readers, i, starting)
	if len(found) == 1 && inTitle(d, found[0]) {
		return nil
	}
	return found
}

// spoken reads dates and times in words at a token, in all possible languages. If two languages
// differ, the value is doubtful.
func (s *Scanner) spoken(d *Doc, readers []*reader, i int, starting languageSet) []Entity {
	weights := d.Languages.At(i)
	best, weight := reading{}, -1.0
	var others []reading
	for n, r := range readers {
		if !starting.has(n) {
			continue
		}
		out, ok := r.spokenAt(i)
		if !ok || !r.inLanguage(weights, i, out.end) {
			continue
		}
		switch w := weights[n]; {
		case weight < 0 || out.end > best.end || out.end == best.end && w > weight:
			if weight >= 0 {
				others = append(others, best)
			}
			best, weight = out, w
		default:
			others = append(others, out)
		}
	}
	if weight < 0 {
		return nil
	}
	if from := best.a.First; from > i && !best.pair { // "do dia 3" in "a partir do dia 3 de maio"
		if longer := s.spoken(d, readers, from, s.starting(d, from)); len(longer) > 0 && longer[len(longer)-1].Last >= best.end {
			return longer
		}
	}
	for _, o := range others {
		if o.end == best.end && !same(o, best) {
			best.a.Doubt, best.b.Doubt = true, true
		}
	}
	if best.pair {
		return []Entity{best.a, best.b}
	}
	return []Entity{best.a}
}

// inTitle reports whether a single word for a day is part of a title, as in "to Friday Digest", in
// a language that does not capitalise all nouns. Behind "on" or "from" it is a day.
func inTitle(d *Doc, e Entity) bool {
	i := e.First
	if e.First != e.Last || i == 0 || i+1 == len(d.Tokens) || !d.Tokens[i].Is(tokenize.FormTitle) || d.Tokens[i].Is(tokenize.FormFirst) {
		return false
	}
	next, before := d.Tokens[i+1], d.Tokens[i-1]
	if next.Break || !next.Is(tokenize.FormTitle|tokenize.FormCaps) || next.Has(lexicon.Pronoun) {
		return false
	}
	if hit, ok := lexicon.Find(&lexicon.Shipped().Operators, d.Tokens, i-1); ok && hit.Value == lexicon.Until {
		return false
	}
	for n, l := range lexicon.Shipped().Languages {
		ofTime := before.In(n, lexicon.PrepPlaceTime) || before.In(n, lexicon.PrepSource) || before.In(n, lexicon.PrepMaker) || before.In(n, lexicon.PrepOther) && !before.In(n, lexicon.PrepMeans)
		if !l.Capitalises && d.Languages.At(i).Likely(n) && !ofTime {
			return true
		}
	}
	return false
}

func same(a, b reading) bool {
	return a.a.Kind == b.a.Kind && a.a.Time.Equal(b.a.Time) && a.pair == b.pair && a.b.Time.Equal(b.b.Time)
}

// inLanguage reports whether the tokens up to end may be in the reader's language: it is likely, or
// the likely languages have none of these words.
func (r *reader) inLanguage(weights lexicon.Weights, at, end int) bool {
	if weights.Likely(r.language.index) {
		return true
	}
	for i := at; i < end && i < len(r.d.spaced); i++ {
		for n := range weights {
			if weights.Likely(n) && r.d.spaced[i].word.KnownIn(n) {
				return false
			}
		}
	}
	return true
}

// spokenAt returns the longest date, range or time of day at a token. A longer phrase that is no
// date hides it.
func (r *reader) spokenAt(i int) (reading, bool) {
	r.classes = [periodRule + 1]bool{dayRule: true, awayRule: true, edgeRule: true, rangeRule: true, clockRule: true, hoursRule: true}
	best, ok := r.best(i)
	if ok && best.a.Kind == Clock && !best.pair {
		best = r.withHalf(best)
	}
	for _, f := range r.language.none {
		lexicon.Walk(f, r.d.spaced, i, r, func(end int) {
			if !ok || end >= best.end {
				best, ok = reading{a: Entity{Kind: None, First: i, Last: end - 1}, end: end}, true
			}
		})
	}
	return best, ok
}

// withHalf adds the half of the day behind a time: "in the afternoon".
func (r *reader) withHalf(t reading) reading {
	const noon = 12
	half := func(forms []lexicon.Form, change func(hour int) int) bool {
		for _, f := range forms {
			end := r.longest(f, t.end)
			if end < 0 || !t.a.halves {
				continue
			}
			hour := t.a.Time.Hour()
			t.a.Time = t.a.Time.Add(time.Duration(change(hour)-hour) * time.Hour)
			t.a.Doubt, t.a.Last, t.end = false, end-1, end
			return true
		}
		return false
	}
	_ = half(r.language.morning, func(hour int) int { return hour % noon }) ||
		half(r.language.later, func(hour int) int { return hour%noon + noon })
	return t
}

// clock reads a time of day in digits, with the half of the day behind it: "9:45 in the evening".
func (s *Scanner) clock(d *Doc, readers []*reader, i int) (Entity, bool) {
	e, ok := clock(d, i)
	if c, whole := d.ChunkAt(i); !ok || !whole || e.Last > c.Last || e.Time.Hour() < 1 || e.Time.Hour() > 12 || !strings.HasSuffix(c.Text, e.Time.Format("04")) {
		return e, ok
	}
	weights := d.Languages.At(i)
	for n, r := range readers {
		t := reading{a: e, end: e.Last + 1}
		t.a.halves = true
		if out := r.withHalf(t); weights.Likely(n) && out.end > t.end {
			return out.a, true
		}
	}
	return e, true
}

// clock reads a time of day in digits or words.
func (r *reader) clock(at int) (Entity, bool) {
	if e, ok := clock(r.d, at); ok {
		return e, true
	}
	saved := r.classes
	defer func() { r.classes = saved }()
	r.classes = [periodRule + 1]bool{clockRule: true}
	out, ok := r.best(at)
	if !ok {
		return Entity{}, false
	}
	return r.withHalf(out).a, true
}

// withClock adds a time of day behind a date: "2026-12-07 at 10:30".
func (s *Scanner) withClock(d *Doc, readers []*reader, e Entity) Entity {
	if e.HasClock || e.Kind != Date {
		return e
	}
	weights := d.Languages.At(e.Last)
	behind := e.Last + 1
	if c, ok := clock(d, behind); ok {
		return joinClock(e, c)
	}
	best := e
	for n, r := range readers {
		if !weights.Likely(n) {
			continue
		}
		if c, ok := r.clock(behind); ok && c.Last > best.Last {
			best = joinClock(e, c)
		}
		for _, f := range r.language.at {
			lexicon.Walk(f, d.spaced, behind, r, func(next int) {
				if c, ok := r.clock(next); ok && c.Last > best.Last {
					best = joinClock(e, c)
				}
			})
		}
	}
	return best
}

func joinClock(e, c Entity) Entity {
	hours := time.Duration(c.Time.Hour())*time.Hour + time.Duration(c.Time.Minute())*time.Minute + time.Duration(c.Time.Second())*time.Second
	e.Day, e.Clock = e.Last, [2]int{c.First, c.Last}
	e.Time, e.HasClock, e.Last, e.Doubt = e.Time.Add(hours), true, c.Last, e.Doubt || c.Doubt
	return e
}

// Apart splits a date with a time into two entities; false if it has no time.
func (e Entity) Apart(d *Doc) (day, clock Entity, ok bool) {
	if e.Kind != Date || e.Clock[0] <= e.Day || e.Clock[0] == 0 {
		return e, e, false
	}
	day, clock = e, Entity{Kind: Clock, First: e.Clock[0], Last: e.Clock[1], Time: e.Time, HasClock: true, P: e.P, Doubt: e.Doubt}
	day.Last, day.HasClock, day.Clock = e.Day, false, [2]int{}
	for _, x := range []*Entity{&day, &clock} {
		x.Span = tokenize.Span{Start: d.Tokens[x.First].Start, End: d.Tokens[x.Last].End}
	}
	return day, clock, true
}
