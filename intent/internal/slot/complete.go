package slot

import (
	"cmp"
	"math"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/internal/value"
)

// option is one value that a parameter may take, with its weight against
// leaving the parameter empty.
type option struct {
	span   int
	value  any
	weight float64
}

// The probability that a value read from free words needs. What has an effect
// needs more: a value that was not meant is worse there than a question.
const (
	floorRead  = 0.5
	floorWrite = 0.85
)

// mostFree bounds how many parameters are filled from free words at once, and
// mostWays how many assignments of spans to them are looked at.
const (
	mostFree = 6
	mostWays = 5000
)

// hopeless is the weight from which on a span is not worth a look.
const hopeless = -3

// Complete fills what strong evidence left empty from the free words of the
// request. It weighs every span for every parameter, adds up over all ways to
// assign them, and keeps what is probable.
func (s *Set) Complete(m *Message, part Range, only []string, filled Filled) Filled {
	f, params, found := s.weighed(m, part, only, filled)
	if len(params) == 0 {
		return filled
	}
	for k, best := range found {
		if best.p >= s.floor(params[k]) {
			f.keep(&filled, params[k], best)
		}
	}
	filled.Missing = s.stillMissing(filled)
	return filled
}

// weighed lists the parameters of free text that are open, with the most
// probable value of each.
func (s *Set) weighed(m *Message, part Range, only []string, filled Filled) (*field, []*param, []likely) {
	f := &field{reading: s.reading(m, part, only), taken: slices.Clone(filled.Covered), inner: map[int]int{}}
	f.inEntity = map[int]bool{}
	for _, e := range m.Entities {
		for i := max(e.First, part.From); i <= min(e.Last, part.To-1); i++ {
			f.inEntity[i] = true
			f.taken[i-part.From] = f.taken[i-part.From] || e.Kind != value.Number // no name has a date in it
		}
	}
	params := f.open(filled)
	if len(params) == 0 {
		return f, nil, nil
	}
	f.find()
	options := make([][]option, len(params))
	most := choices(len(params))
	for k, p := range params {
		options[k] = f.options(p, most)
	}
	return f, params, f.marginals(params, options)
}

func (s *Set) floor(*param) float64 {
	if s.writes {
		return floorWrite
	}
	return floorRead
}

// choices is how many spans are kept for each of n parameters.
func choices(n int) int {
	most := 8
	for most > 1 && math.Pow(float64(most+1), float64(n)) > mostWays {
		most--
	}
	return most
}

// open lists the parameters of free text that have no value yet, those that are
// needed first.
func (f *field) open(filled Filled) []*param {
	var needed, rest []*param
	for _, p := range f.frees() {
		switch {
		case has(filled.Values, p.single) || has(filled.Values, p.list) || slices.Contains(filled.unclear, p.name()) || p.pattern != nil && !p.resolver:
			continue
		case p.required:
			needed = append(needed, p)
		default:
			rest = append(rest, p)
		}
		if p.sense&sensePlace != 0 {
			f.places++
		}
	}
	f.asked = len(needed)
	out := append(needed, rest...)
	return out[:min(len(out), mostFree)]
}

// options weighs the spans for a parameter.
func (f *field) options(p *param, most int) []option {
	var out []option
	for k, s := range f.spans {
		if s.comma && (p.sense&sensePlace == 0 || f.places != 1) {
			continue // only a place has its country behind a comma
		}
		v, ok := f.valueOf(p, s)
		if !ok {
			continue
		}
		w := 0.0
		for e, x := range f.weigh(p, s) {
			w += x * f.set.tools.weights[e]
		}
		if w > hopeless {
			out = append(out, option{span: k, value: v, weight: w})
		}
	}
	slices.SortStableFunc(out, func(a, b option) int { return cmp.Compare(b.weight, a.weight) })
	return out[:min(len(out), most)]
}

// valueOf reads a span as a value of a parameter, or a list of spans where the
// parameter takes nothing else.
func (f *field) valueOf(p *param, s span) (any, bool) {
	if len(s.items) == 0 {
		v, ok := f.set.parse(p, f.text(s), f.now)
		if p.single == "" {
			v = []any{v}
		}
		return v, ok
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

func (f *field) text(s span) string {
	if s.quoted {
		return f.quotation(s.first, s.last)
	}
	return f.words(s.first, s.last)
}

// likely is the most probable value of a parameter.
type likely struct {
	option
	p   float64
	any float64 // that the parameter has a value at all
}

// marginals adds up over all assignments in which no two values share a word
// how probable each value is.
func (f *field) marginals(params []*param, options [][]option) []likely {
	sums := make([][]float64, len(params))
	for k := range params {
		sums[k] = make([]float64, len(options[k]))
	}
	chosen := make([]int, len(params))
	var total float64
	var walk func(k int, weight float64)
	walk = func(k int, weight float64) {
		if k == len(params) {
			e := math.Exp(weight)
			total += e
			for q, c := range chosen {
				if c >= 0 {
					sums[q][c] += e
				}
			}
			return
		}
		chosen[k] = -1
		walk(k+1, weight)
		for c, o := range options[k] {
			if bonus, ok := f.beside(params, options, chosen[:k], o); ok {
				chosen[k] = c
				walk(k+1, weight+o.weight+bonus)
			}
		}
		chosen[k] = -1
	}
	walk(0, 0)
	out := make([]likely, len(params))
	for k := range params {
		for c, sum := range sums[k] {
			p := sum / total
			out[k].any += p
			if p > out[k].p {
				out[k].option, out[k].p = options[k][c], p
			}
		}
	}
	return out
}

// inSchemaOrder is what it counts that two values come in the order of their
// parameters, and inSiblings the same of two that differ only in their place,
// such as "from" and "to" or "team1" and "team2".
const (
	inSchemaOrder = 0.3
	inSiblings    = 1.2
)

// beside tells whether a value can stand beside those chosen before, and what
// their order adds.
func (f *field) beside(params []*param, options [][]option, chosen []int, o option) (float64, bool) {
	bonus := 0.0
	s := f.spans[o.span]
	for q, c := range chosen {
		if c < 0 {
			continue
		}
		other := f.spans[options[q][c].span]
		if s.first <= other.last && other.first <= s.last {
			return 0, false
		}
		worth := inSchemaOrder
		if params[q].sibling(params[len(chosen)]) {
			worth = inSiblings
		}
		if s.first < other.first {
			worth = -worth
		}
		bonus += worth
	}
	return bonus, true
}

// keep stores a value with its evidence.
func (f *field) keep(filled *Filled, p *param, best likely) {
	s := f.spans[best.span]
	name := cmp.Or(p.single, p.list)
	filled.Values[name] = best.value
	filled.Evidence[name] = contracts.Evidence{Kind: kindPhrase, P: math.Round(best.p*100) / 100, Span: [2]int{f.doc.Tokens[s.first].Start, f.doc.Tokens[s.last].End}}
}

// stillMissing lists what has no value, and what could be read in two ways.
func (s *Set) stillMissing(f Filled) []string {
	out := s.missing(f.Values)
	for _, name := range f.unclear {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
