package slots

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// number adds a number as a candidate. It scores the parameter name or unit beside the number, the
// context of numbers in the examples, and whether no other parameter takes numbers.
func (r *reading) number(p *param, e values.Entity) {
	if p.kind == "string" && p.format == "duration" {
		if d, ok := isoDuration(e); ok {
			r.add(mention{param: p, first: e.First, last: e.Last, value: d, kind: kindPeriod, p: 0.85, doubt: e.Doubt})
		}
		return
	}
	if !p.numeric() || p.single == "" && (r.numerals.inRun(e) || e.Spelled && len(r.numerals.runs) > 0) {
		return
	}
	rate := r.numerals.isRate(e)
	e = r.numerals.adaptUnit(p, e)
	v, ok := p.numberValue(e)
	if !ok || rate {
		return
	}
	score, ok := r.numerals.numberScore(p, e)
	switch bound := p.bound(); {
	case bound == 0:
	case compared(r.scope, e.First) == bound:
		score = max(score, comparedScore)
	case compared(r.scope, e.First) == -bound:
		ok = false // "below" never fills the lower end
	}
	if ok {
		r.add(mention{param: p, first: e.First, last: e.Last, value: v, kind: kindNumber, p: min(score*e.P/0.9, 0.97), doubt: e.Doubt})
	}
}

// adaptUnit interprets a suffix of a number for a parameter. "298K" is a temperature and "2m" a
// length if the description says so. For a ratio a percentage is divided by 100, but in a write
// this needs confirmation.
func (r *numerals) adaptUnit(p *param, e values.Entity) values.Entity {
	written := r.doc.Src[e.Span.Start:e.Span.End]
	switch {
	case strings.HasSuffix(written, "K") && p.desc["kelvin"]:
		e.Number, e.Unit, e.Doubt = e.Number/1000, "kelvin", false
	case e.Unit == "minute" && strings.HasSuffix(written, "m") && p.unit != "minute" && (p.desc["meter"] || p.desc["metr"] || slices.Contains(p.words, "m")):
		e.Unit = "meter"
		if slices.Contains(p.words, "m") {
			e.Unit = "m"
		}
	case e.Unit == "minute" && strings.HasSuffix(written, "m") && p.unit == "" && values.DimensionOf(p.metric) == values.Length:
		e.Unit = "meter"
	}
	if n, ok := values.TimeUnitsPer(e.Unit, p.unit, slices.Contains(p.words, "night")); ok && !r.isRate(e) {
		e.Number, e.Unit = e.Number*n, p.unit
	}
	if n, ok := values.Convert(e.Number, e.Unit, p.metric); ok {
		e.Number, e.Unit = n, p.metric
	}
	if e.Percent && p.scaleUnknown() {
		e.Doubt = e.Doubt || r.set.writes
		e.Percent, e.Number = false, hundredth(e.Number)
	}
	return e
}

func (r *numerals) numberScore(p *param, e values.Entity) (float64, bool) {
	score := 0.45
	switch {
	case e.Ordinal && r.ordinalOfName(p, e):
		score = 0.5
	case e.Ordinal:
		score = 0.2 // only beside the parameter name
	case e.Spelled && r.enoughDigits():
		score = 0.3 // in "the two sides are 3 and 4" the word counts the digits
	case r.near.onlyRequired((*param).numeric, p):
		score += 0.35
	case r.matchesCount():
		score += 0.1 // as many numbers as parameters: assigned in order
	}
	unit, ok := r.unitScore(p, e)
	if !ok {
		return 0, false
	}
	score += unit
	switch closest := r.near.closest(e.First); {
	case closest > 0 && r.near.namedTogether(e.First):
	case closest > 0 && r.near.named(p, e.First) == closest:
		score += 0.35
	case closest > 0 && r.near.after(p, e.First):
		score += 0.1
	default:
		score += r.near.beside(p, e)
	}
	if r.near.expects(p.leftContext, e.First-1) {
		score += 0.3
	}
	return score, true
}

// ordinalOfName reports whether an ordinal stands right before the single-word name of a parameter:
// "the fifth floor" for a floor. For an alert_id it would be a position in a list.
func (r *numerals) ordinalOfName(p *param, e values.Entity) bool {
	next := e.Last + 1
	return len(p.words) == 1 && next < r.to && !r.doc.Tokens[next].Break && r.doc.Tokens[next].Stem == p.words[0]
}

// ordinal adds a spelled-out ordinal for the parameter whose name follows it.
func (r *reading) ordinal(i int) {
	n, width, ok := r.set.tools.Scanner.Ordinal(r.doc, i)
	if !ok || r.inEntity[i] || i+width > r.to {
		return
	}
	e := values.Entity{Kind: values.Number, First: i, Last: i + width - 1, Number: float64(n), Ordinal: true}
	for _, p := range r.set.params {
		if v, ok := p.numberValue(e); ok && p.numeric() && r.numerals.ordinalOfName(p, e) {
			r.add(mention{param: p, first: e.First, last: e.Last, value: v, kind: kindContext, p: 0.85})
		}
	}
}

// unitScore returns the score of the unit of a number for a parameter; false if the unit does not
// fit.
func (r *numerals) unitScore(p *param, e values.Entity) (float64, bool) {
	score := 0.0
	switch {
	case e.Money && slices.Contains(p.words, strings.TrimSuffix(p.unit, "e")):
		return 0, false
	case e.Unit != "" && (e.Unit == p.unit || e.Unit == p.measure || slices.Contains(p.words, e.Unit)):
		score = 0.4
	case p.otherTime(e.Unit):
		return 0, false // weeks are not converted to days, since the factor is ambiguous
	case values.IsTimeUnit(e.Unit) && !p.desc[e.Unit]:
		score = -0.2
	case e.Unit != "" && p.own[e.Unit]:
		score = 0.3
	case e.Unit != "" && p.desc[e.Unit]:
		score = 0.2
	case e.Percent && p.saysPercent():
		score = 0.35
	}
	if r.takesYear() {
		year := yearLike(e)
		switch {
		case year && p.isYear():
			score += 0.35
		case year || p.isYear():
			score -= 0.3
		}
	}
	return score, true
}

// saysPercent reports whether a parameter is a percentage.
func (p *param) saysPercent() bool {
	return slices.Contains(p.words, "percent") || slices.Contains(p.words, "percentag") || slices.Contains(p.words, "pct") || p.desc["percent"] || p.desc["percentag"]
}

// isYear reports whether a parameter is a year by its name, such as "year" or "end_year", or is an
// integer whose description begins with one: "Earliest year of publication".
func (p *param) isYear() bool {
	for _, w := range slices.Backward(p.words) {
		if isYearWord(w) {
			return true
		}
		if strings.ContainsFunc(w, func(c rune) bool { return c > '9' }) {
			break
		}
	}
	return p.saysYear
}

func isYearWord(stem string) bool {
	return stem == "year" || stem == "ano" || stem == "jahr" || stem == "anne"
}

// takesYear reports whether the capability takes a year as a number.
func (r *numerals) takesYear() bool {
	return slices.ContainsFunc(r.set.params, func(p *param) bool { return p.numeric() && p.isYear() })
}

// yearLike reports whether a number is written like a year.
func yearLike(e values.Entity) bool {
	return !e.Money && !e.Percent && !e.Spelled && e.Number == math.Trunc(e.Number) && e.Number >= 1000 && e.Number < 2200 && e.Last == e.First
}

// beside returns the score of the words around a number: those of the parameter name, and those
// that only its description has.
func (r *vicinity) beside(p *param, e values.Entity) float64 {
	score := 0.0
	look := func(from, step, most int) {
		for j, n := from, 0; j >= r.from && j < r.to && n < most; j, n = j+step, n+1 {
			t := r.doc.Tokens[j]
			near := j
			if step < 0 {
				near = j + 1
			}
			if r.inEntity[j] || near < r.to && r.doc.Tokens[near].Break && !r.doc.Tokens[near].Glued {
				return
			}
			switch {
			case r.set.tools.Lexicon.StopWord(t.Fold):
			case slices.Contains(p.words, t.Stem):
				score += 0.2
			case p.own[t.Stem]:
				score += 0.1
			}
		}
	}
	look(e.First-1, -1, 5)
	look(e.Last+1, 1, 3)
	return min(score, 0.35)
}

// namedTogether reports whether two coordinated parameter names precede the numbers: in "width and
// height of 6 and 10" the order decides, not the distance.
func (r *vicinity) namedTogether(i int) bool {
	names := func(j int) bool {
		return j >= r.from && slices.ContainsFunc(r.set.params, func(p *param) bool { return p.numeric() && slices.Contains(p.words, r.doc.Tokens[j].Stem) })
	}
	for j := i - 1; j > r.from+1 && j >= i-3; j-- {
		if names(j) {
			return IsCoordination(r.doc.Tokens[j-1].Fold) && names(j-2)
		}
	}
	return false
}

// closest returns the highest score of a numeric parameter name right before a token.
func (r *vicinity) closest(i int) float64 {
	most := 0.0
	for _, q := range r.set.params {
		if q.numeric() {
			most = max(most, r.named(q, i))
		}
	}
	return most
}

// count counts the numbers of the text and the required numeric parameters.
func (r *numerals) count() {
	for _, p := range r.set.params {
		if p.numeric() && p.required && p.named(r.only) {
			r.counts.places++
		}
	}
	for _, e := range r.wording.Numbers() {
		r.counts.all++
		if !e.Spelled && !r.onlyArticle(e) {
			r.counts.digits++
		}
	}
	r.runs = r.numberRuns()
}

// onlyArticle reports whether a number is only an article before a unit, as in "a year".
func (r *numerals) onlyArticle(e values.Entity) bool {
	return e.Last == e.First+1 && !e.Spelled && r.doc.Tokens[e.First].Has(lexicon.Article)
}

// isRate reports whether such a unit follows another number or its noun: "a week" in "4 lessons a
// week" is a rate, no duration.
func (r *numerals) isRate(e values.Entity) bool {
	if !r.onlyArticle(e) || r.doc.Tokens[e.First].Break {
		return false
	}
	return slices.ContainsFunc(r.entities, func(o values.Entity) bool {
		if o.Kind != values.Number || o.Last >= e.First || o.First < r.from {
			return false
		}
		noun := o.Last == e.First-2 && !r.doc.Tokens[e.First-1].Break && !r.set.tools.Lexicon.StopWord(r.doc.Tokens[e.First-1].Fold)
		return o.Last == e.First-1 || noun
	})
}

// enoughDigits reports whether there are enough numbers in digits for all required parameters, so
// that spelled-out ones count something else.
func (r *numerals) enoughDigits() bool {
	return r.counts.places > 0 && r.counts.digits >= r.counts.places
}

// matchesCount reports whether the text has exactly as many numbers, or numbers in digits, as there
// are required numeric parameters.
func (r *numerals) matchesCount() bool {
	return r.counts.places == r.counts.all || r.counts.places == r.counts.digits
}

// numberValue converts a number to the type of a parameter and checks its bounds.
func (p *param) numberValue(e values.Entity) (any, bool) {
	n := e.Number
	if e.Percent && p.isShare() {
		n = hundredth(n)
	}
	if len(p.enum) > 0 {
		return p.enumNumber(n)
	}
	if !p.inBounds(n) {
		return nil, false
	}
	if p.kind == "integer" {
		if n != math.Trunc(n) || math.Abs(n) > 1<<53 {
			return nil, false
		}
	}
	return n, true
}

// isShare reports whether a parameter is a ratio, so that 8 % is 0.08, by its bounds, an example
// or its description.
func (p *param) isShare() bool {
	return p.high != nil && *p.high <= 1 || p.share || p.kind == "number" && !p.saysPercent() && (p.desc["decim"] || p.desc["fraction"] || p.desc["ratio"])
}

// scaleUnknown reports whether a parameter takes fractions and nothing reports whether it
// is a ratio or a percentage.
func (p *param) scaleUnknown() bool {
	return p.kind == "number" && len(p.enum) == 0 && !p.isShare() && !p.saysPercent() && p.high == nil
}

func hundredth(n float64) float64 { return math.Round(n*1e10) / 1e12 }

func (p *param) inBounds(n float64) bool {
	if p.low != nil && (n < *p.low || p.lowOpen && n == *p.low) {
		return false
	}
	return p.high == nil || n < *p.high || n == *p.high && !p.highOpen
}

func isoDuration(e values.Entity) (string, bool) {
	n := strconv.FormatFloat(e.Number, 'f', -1, 64)
	if e.Number < 0 {
		return "", false
	}
	switch e.Unit {
	case "second", "minute", "hour":
		return "PT" + n + strings.ToUpper(e.Unit[:1]), true
	case "day", "week", "month", "year":
		return "P" + n + strings.ToUpper(e.Unit[:1]), true
	}
	return "", false
}

// comparedScore is the score of a number behind a comparator that fits its parameter.
const comparedScore = 0.9

// comparedWeight is the same as log-odds.
const comparedWeight = 6

// compared returns the direction of the comparator before a token: 1 for "above", -1 for "drops
// under", 0 for none.
func compared(r *scope, first int) int {
	operators := &lexicon.Shipped().Operators
	for i := max(r.from, first-5); i < first; i++ {
		hit, ok := lexicon.Find(operators, r.doc.Tokens, i)
		if !ok || hit.Value.Direction() == 0 {
			continue
		}
		if rest := r.doc.Tokens[i+hit.Tokens : max(first, i+hit.Tokens)]; i+hit.Tokens <= first && !slices.ContainsFunc(rest, func(t tokenize.Token) bool { return isUnrelated(r, t) }) {
			return hit.Value.Direction()
		}
	}
	return 0
}

// isUnrelated reports whether a token between a comparator and a number belongs to neither.
func isUnrelated(r *scope, t tokenize.Token) bool {
	return t.Break || !r.set.tools.Lexicon.StopWord(t.Fold) && !r.set.Knows(t)
}
