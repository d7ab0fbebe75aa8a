package slots

import (
	"cmp"
	"math"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/values"
)

// Thresholds on the probability of a free-text value. A write needs a higher one: a wrong value is
// worse there than a question.
const (
	floorRead  = 0.5
	floorWrite = 0.85
	// floorSpare is the threshold for optional parameters of a read.
	floorSpare = 0.65
	// floorHere and shareHere accept a value in a read where only its boundaries are uncertain.
	floorHere, shareHere = 0.75, 0.35
)

// maxFreeParams limits how many parameters are filled from free text at once.
const maxFreeParams = 6

// Complete fills the parameters that strong evidence left empty, from numbers and free text. It
// weighs each candidate per parameter, computes marginals over all assignments, and keeps the
// values above the threshold.
func (s *Set) Complete(m *Message, part Range, only []string, filled Filled) Filled {
	filled = s.completeNumbers(m, part, only, filled)
	f := s.completer(m, part, only, filled)
	open := f.open(filled)
	for k, best := range f.texts(open).Marginals() {
		if p := open[k]; f.exceedsThreshold(best, p.required || len(only) > 0) {
			f.keep(&filled, p, closed(f, p, best), kindPhrase)
		}
	}
	f.fillRequester(&filled)
	filled.Missing = s.stillMissing(filled)
	return filled
}

// completer weighs the candidate spans of a field for the open parameters.
type completer struct {
	*passage
	field   *field
	weigher *weigher
	weights *weights
}

func newCompleter(f *field, w *weights) *completer {
	return &completer{passage: f.passage, field: f, weigher: &weigher{passage: f.passage, field: f}, weights: w}
}

// completer returns a completer for what the values that were already read left over.
func (s *Set) completer(m *Message, part Range, only []string, filled Filled) *completer {
	f := &field{passage: s.passage(m, part, only), taken: slices.Clone(filled.Covered), innerCost: map[int]int{}, entityAt: map[int]values.Entity{}}
	for _, e := range f.entities {
		for i := max(e.First, part.From); i <= min(e.Last, part.To-1); i++ {
			f.inEntity[i], f.entityAt[i] = true, e
			f.taken[i-part.From] = f.taken[i-part.From] || e.Kind == values.Date || e.Kind == values.Clock // a name contains no date
		}
	}
	f.uncapitalised, f.english = f.wording.Uncapitalised(), f.set.tools.cues.InEnglish(f.doc.Tokens[f.from:f.to], f.set.tools.Lexicon)
	return newCompleter(f, &s.tools.weights)
}

// texts builds the assignment problem of candidate spans for open free-text parameters.
func (f *completer) texts(params []*param) *Assignment {
	z := f.assignment(params, evOrder, evSiblings)
	if len(params) == 0 {
		return z
	}
	f.field.takesMoney = slices.ContainsFunc(params, (*param).currency)
	f.field.speech = slices.ContainsFunc(params, func(p *param) bool { return p.speaks(f.set.tools.cues) })
	f.field.takesList = slices.ContainsFunc(params, func(p *param) bool { return p.single == "" })
	f.field.find()
	for k, p := range params {
		z.Options[k] = BestOptions(f.options(p), len(params))
	}
	return z
}

// assignment returns an assignment problem without options.
func (f *completer) assignment(params []*param, order, siblings evidence) *Assignment {
	alike := func(a, b int) bool { return params[a].sibling(params[b]) }
	return &Assignment{Options: make([][]Option, len(params)), Order: int(order), Siblings: int(siblings), Alike: alike, Weights: f.weights[:]}
}

// exceedsThreshold reports whether a value exceeds its threshold.
func (f *completer) exceedsThreshold(best LikelyOption, needed bool) bool {
	switch {
	case f.set.writes:
		return best.P >= floorWrite
	case !needed:
		return best.P >= floorSpare
	}
	return best.P >= floorRead || best.Here >= floorHere && best.P >= shareHere*best.Here
}

func (s *Set) floor() float64 {
	if s.writes {
		return floorWrite
	}
	return floorRead
}

// open lists the free-text parameters without a value, required ones first.
func (f *completer) open(filled Filled) []*param {
	var needed, rest []*param
	for _, p := range f.near.frees() {
		switch {
		case !f.empty(p, &filled) || p.pattern != nil && !p.resolver:
			continue
		case p.required:
			needed = append(needed, p)
		default:
			rest = append(rest, p)
		}
		if p.sense&SensePlace != 0 {
			f.field.places++
		}
	}
	f.field.asked = len(needed)
	out := append(needed, rest...)
	return out[:min(len(out), maxFreeParams)]
}

// empty reports whether a parameter has no value and no contradictory readings.
func (f *completer) empty(p *param, filled *Filled) bool {
	return !has(filled.Values, p.single) && !has(filled.Values, p.list) && !slices.Contains(filled.unclear, p.name())
}

// options returns the weighed candidates for a parameter.
func (f *completer) options(p *param) []Option {
	var out []Option
	for _, s := range f.field.spans {
		if s.comma && (p.sense&SensePlace == 0 || f.field.places != 1) {
			continue // only a place is followed by its country behind a comma
		}
		if p.resolver && f.near.afterPlacePreposition(p, s.first) || wrongDirection(f.scope, p, s.first, s.last) {
			continue
		}
		if v, ok := f.valueOf(p, s); ok && !f.inLongList(p, s) {
			out = append(out, f.option(s.first, s.last, v, f.weigher.weigh(p, s)))
		}
	}
	return out
}

func (f *completer) option(first, last int, v any, ev [evCount]float64) Option {
	return Option{First: first, Last: last, Value: v, Evidence: ev[:], Weight: WeightedSum(f.weights[:], ev[:])}
}

// valueOf parses a span as the value of a parameter, or as a list if the parameter takes only
// lists.
func (f *completer) valueOf(p *param, s span) (any, bool) {
	if len(s.items) == 0 {
		raw := f.text(s)
		if s.currency != "" && p.currency() {
			raw = s.currency
		}
		v, ok := f.set.parse(p, raw, f.now)
		return p.wrapped(v), ok
	}
	if p.single != "" || p.maxItems > 0 && len(s.items) > p.maxItems {
		return nil, false
	}
	values := make([]any, len(s.items))
	for k, item := range s.items {
		v, ok := f.set.parse(p, f.text(item), f.now)
		if !ok {
			return nil, false
		}
		values[k] = v
	}
	return values, true
}

// inLongList reports whether a span is an item of a list that has more items than the parameter
// allows. Such a list needs a question.
func (f *completer) inLongList(p *param, s span) bool {
	return p.maxItems > 0 && slices.ContainsFunc(f.field.spans, func(o span) bool {
		return len(o.items) > p.maxItems && o.first <= s.first && s.last <= o.last
	})
}

func (f *completer) text(s span) string {
	switch {
	case s.raw != "":
		return s.raw
	case s.quoted:
		return f.wording.Quotation(s.first, s.last)
	}
	return f.wording.Text(s.first, s.last)
}

// keep stores a value and its evidence.
func (f *completer) keep(filled *Filled, p *param, best LikelyOption, kind string) {
	name := cmp.Or(p.single, p.list)
	filled.Values[name] = best.Value
	filled.Evidence[name] = contracts.Evidence{Kind: kind, P: math.Round(best.P*100) / 100, Span: [2]int{f.doc.Tokens[best.First].Start, f.doc.Tokens[best.Last].End}}
}

// stillMissing lists the parameters without a value and the ambiguous ones.
func (s *Set) stillMissing(f Filled) []string {
	out := s.missing(f.Values)
	for _, name := range f.unclear {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
