package slots

import (
	"math"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// completeNumbers assigns numbers to parameters jointly. Reading them one by one is enough to rank
// capabilities, but mixes up two parameters such as a temperature and a mass.
func (s *Set) completeNumbers(m *Message, part Range, only []string, filled Filled) Filled {
	f, params := s.openNumbers(m, part, only, filled)
	for k, best := range f.numberAssignment(params, f.freeNumbers(filled, params)).Marginals() {
		p := params[k]
		before, read := filled.Values[p.single]
		floor := s.floor()
		if !p.required && len(only) == 0 {
			floor = max(floor, floorSpare)
		}
		if read && equal(before, best.Value) {
			floor = floorRead
		}
		delete(filled.Values, p.single)
		delete(filled.Evidence, p.single)
		if best.P < floor {
			continue
		}
		f.keep(&filled, p, best, kindNumber)
		for i := best.First; i <= best.Last; i++ {
			filled.Covered[i-part.From] = true
		}
	}
	filled.Missing = s.stillMissing(filled)
	return filled
}

// openNumbers returns the completer for numbers and the parameters to assign.
func (s *Set) openNumbers(m *Message, part Range, only []string, filled Filled) (*completer, []*param) {
	f := &field{passage: s.passage(m, part, only), numberAt: map[int]bool{}}
	f.numerals.count()
	for _, e := range f.wording.Numbers() {
		for i := e.First; i <= e.Last; i++ {
			f.numberAt[i] = true
		}
	}
	c := newCompleter(f, &s.tools.weights)
	return c, c.openNumericParams(filled)
}

// openNumericParams lists the numeric parameters to assign, required ones first. Values from a key
// or a known value stay.
func (f *completer) openNumericParams(filled Filled) []*param {
	var needed, rest []*param
	for _, p := range f.set.params {
		ev, read := filled.Evidence[p.single]
		switch {
		case !p.numeric() || p.single == "" || p.list != "" || !p.named(f.only) || read && ev.Kind != kindNumber || slices.Contains(filled.unclear, p.single):
		case p.required:
			needed = append(needed, p)
		default:
			rest = append(rest, p)
		}
	}
	f.field.asked = len(needed)
	out := append(needed, rest...)
	return out[:min(len(out), maxFreeParams)]
}

// freeNumbers returns the numbers that are not part of another value.
func (f *completer) freeNumbers(filled Filled, open []*param) []values.Entity {
	var held []tokenize.Span
	for name, ev := range filled.Evidence {
		if !slices.ContainsFunc(open, func(p *param) bool { return p.single == name }) {
			held = append(held, tokenize.Span{Start: ev.Span[0], End: ev.Span[1]})
		}
	}
	return slices.DeleteFunc(f.wording.Numbers(), func(e values.Entity) bool {
		return slices.ContainsFunc(held, func(s tokenize.Span) bool { return e.Span.Start < s.End && s.Start < e.Span.End })
	})
}

// numberAssignment builds the assignment problem of numbers to parameters.
func (f *completer) numberAssignment(params []*param, numbers []values.Entity) *Assignment {
	z := f.assignment(params, evFigureOrder, evFigureSiblings)
	for k, p := range params {
		var options []Option
		for _, e := range numbers[:min(len(numbers), maxSpans)] {
			e = f.numerals.adaptUnit(p, e)
			agrees := p.bound() * compared(f.scope, e.First)
			if v, ok := p.numberValue(e); ok && !e.Doubt && agrees >= 0 && (!f.set.writes || !p.otherTime(e.Unit)) { // "below" never fills the lower end
				o := f.option(e.First, e.Last, v, f.weigher.weighFigure(p, e, len(numbers)))
				o.Weight += comparedWeight * float64(agrees)
				options = append(options, o)
			}
		}
		z.Options[k] = BestOptions(options, len(params))
	}
	return z
}

// weighFigure computes the features of a number as the value of a parameter.
func (f *weigher) weighFigure(p *param, e values.Entity, numbers int) [evCount]float64 {
	var ev [evCount]float64
	set := func(which evidence, holds bool) {
		if holds {
			ev[which] = 1
		}
	}
	set(evFigure, true)
	set(evFigureOptional, !p.required && len(f.only) == 0)
	set(evFigureSole, f.field.asked == 1 && p.required)
	set(evFigureEven, p.required && (numbers == f.field.asked || f.numerals.counts.digits == f.field.asked))
	set(evFigureOrdinal, e.Ordinal)
	set(evFigureSpelled, e.Spelled)
	set(evFigureCounts, e.Spelled && f.numerals.enoughDigits())
	set(evFigureLearned, f.near.expects(p.leftContext, e.First-1) || f.near.expects(p.rightContext, e.Last+1))
	set(evFigureTitle, e.First > f.from && e.Last == e.First && !e.Spelled && f.doc.Tokens[e.First-1].Named() && !f.doc.Tokens[e.First].Break)
	set(evFigureArticle, f.numerals.onlyArticle(e))
	set(evFigureRate, f.numerals.isRate(e))
	ev[evFigureEnd] = float64(p.side * f.endOf(e))
	set(evFigureBroken, p.kind == "number" && e.Number != math.Trunc(e.Number))
	f.namesOf(p, e, &ev)
	f.unitOf(p, e, &ev)
	f.kindOf(p, e, &ev)
	return ev
}

// widestRange is the maximum distance in tokens between the ends of a range: "from 8 euros to 10".
const widestRange = 3

// endOf returns the end of a range that a number is: "from 8 to 10".
func (f *weigher) endOf(e values.Entity) direction {
	for _, o := range f.wording.Numbers() {
		switch {
		case o.First > e.Last && o.First-e.Last <= widestRange && directionAt(f.scope, o.First) == directionTo:
			return directionFrom
		case o.Last < e.First && e.First-o.Last <= widestRange && directionAt(f.scope, e.First) == directionTo:
			return directionTo
		}
	}
	return directionNone
}

// namesOf sets the features for parameter names around a number.
func (f *weigher) namesOf(p *param, e values.Entity, ev *[evCount]float64) {
	switch closest := f.near.closest(e.First); {
	case closest > 0 && f.near.namedTogether(e.First):
	case closest > 0 && f.near.named(p, e.First) == closest:
		ev[evFigureNamed] = 1
	case closest > 0:
		ev[evFigureOther] = 1
	}
	f.around(p, e, ev)
	if behind := e.Last + 1; e.Unit == "" && behind < f.to && !f.doc.Tokens[behind].Break && slices.Contains(p.words, f.doc.Tokens[behind].Stem) {
		ev[evFigureBehind] = 1
	}
}

// around sets the features for words of the same clause, up to the next number.
func (f *weigher) around(p *param, e values.Entity, ev *[evCount]float64) {
	look := func(from, step, most int) {
		for j, n := from, 0; j >= f.from && j < f.to && n < most; j, n = j+step, n+1 {
			near := j
			if step < 0 {
				near = j + 1
			}
			t := f.doc.Tokens[j]
			if f.field.numberAt[j] || near < f.to && f.doc.Tokens[near].Break && !f.doc.Tokens[near].Glued {
				return
			}
			switch {
			case f.set.tools.Lexicon.StopWord(t.Fold):
			case slices.Contains(p.words, t.Stem):
				ev[evFigureBeside] = 1
			case p.own[t.Stem]:
				ev[evFigureOwn] = 1
			}
		}
	}
	look(e.First-1, -1, 6)
	look(e.Last+1, 1, 4)
}

// unitOf compares the unit of a number with that of the parameter.
func (f *weigher) unitOf(p *param, e values.Entity, ev *[evCount]float64) {
	if e.Unit == "" {
		return
	}
	fits := func(q *param) bool {
		return e.Unit == q.unit || e.Unit == q.measure || e.Unit == q.metric || slices.Contains(q.words, e.Unit) || q.own[e.Unit]
	}
	switch of := values.DimensionOf(e.Unit); {
	case of == "" || p.size == "":
	case of == p.size:
		ev[evFigureSize] = 1
	default:
		ev[evFigureSizeOdd] = 1
	}
	switch {
	case fits(p):
		ev[evFigureUnit] = 1
	case p.otherTime(e.Unit):
		ev[evFigureTimeOdd] = 1
	case slices.ContainsFunc(f.set.params, func(q *param) bool { return q.numeric() && fits(q) }):
		ev[evFigureUnitElse] = 1
	case p.desc[e.Unit]:
		ev[evFigureDesc] = 1
	}
}

// otherTime reports whether a unit of time differs from that of the parameter, or may differ.
func (p *param) otherTime(unit string) bool {
	return values.IsTimeUnit(unit) && unit != p.unit && (p.unit != "" || p.units > 1)
}

// kindOf compares the kind of the number (money, ratio, year) with that of the parameter.
func (f *weigher) kindOf(p *param, e values.Entity, ev *[evCount]float64) {
	set := func(which evidence, holds bool) {
		if holds {
			ev[which] = 1
		}
	}
	money, share := nameContains(p, f.set.tools.cues.Money) || f.describesMoney(p), p.isShare() || p.saysPercent() || nameContains(p, f.set.tools.cues.Share)
	set(evFigureMoney, e.Money && money)
	set(evFigureMoneyOdd, e.Money && !money)
	set(evFigureNoMoney, !e.Money && money && slices.ContainsFunc(f.wording.Numbers(), func(o values.Entity) bool { return o.Money }))
	set(evFigurePercent, e.Percent && share)
	set(evFigurePerOdd, e.Percent && !share)
	set(evFigureShare, share && e.Number > 0 && e.Number < 1)
	if f.numerals.takesYear() || e.Unit == "" {
		set(evFigureYear, yearLike(e) && p.isYear())
		set(evFigureYearOdd, yearLike(e) && !p.isYear())
	}
	set(evFigureNoYear, !yearLike(e) && p.isYear())
	noun := e.Unit != "" && !values.IsTimeUnit(e.Unit)
	count := nameContains(p, f.set.tools.cues.Count)
	set(evFigureCount, noun && count || f.followsTop(e.First))
	set(evFigureNoun, noun && !count && ev[evFigureUnit] == 0 && ev[evFigureDesc] == 0)
}

// describesMoney reports whether the description says that a number parameter is an amount of
// money.
func (f *weigher) describesMoney(p *param) bool {
	if p.kind != "number" || p.saysPercent() {
		return false
	}
	for stem := range p.desc {
		if f.set.tools.cues.Money[stem] {
			return true
		}
	}
	return false
}

// followsTop reports whether a token follows a word such as "top", which marks a count.
func (f *weigher) followsTop(i int) bool {
	return i > f.from && f.doc.Tokens[i-1].Has(lexicon.Tops)
}

// nameContains reports whether the name of a parameter contains one of the words.
func nameContains(p *param, words map[string]bool) bool {
	return slices.ContainsFunc(p.words, func(w string) bool { return words[strings.TrimSuffix(w, "s")] || words[w] })
}
