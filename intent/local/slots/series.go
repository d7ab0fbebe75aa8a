package slots

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/values"
)

// series adds runs of numbers, such as "3, 5 and 8" or "[3, 5, 8]", as candidates for the
// parameters that take only a list of numbers.
func (r *reading) series() {
	var takers []*param
	for _, p := range r.set.params {
		if p.single == "" && p.numeric() && p.named(r.only) {
			takers = append(takers, p)
		}
	}
	if len(takers) == 0 {
		return
	}
	for _, run := range r.numerals.runs {
		r.offerSeries(takers, run, len(r.numerals.runs))
	}
}

// offerSeries scores one run of numbers. If there are as many runs as list parameters, they are
// assigned in order.
func (r *reading) offerSeries(takers []*param, run []values.Entity, runs int) {
	first, last := run[0].First, run[len(run)-1].Last
	for _, p := range takers {
		found, ok := p.numbersOf(run)
		if !ok {
			continue
		}
		score := 0.5
		if runs == len(takers) {
			score += 0.2
		}
		if r.near.heads(p, first) {
			score += 0.2
		}
		doubt := slices.ContainsFunc(run, func(e values.Entity) bool { return e.Doubt })
		r.add(mention{param: p, first: first, last: last, values: found, value: found, kind: kindNumber, p: score, doubt: doubt})
	}
}

// heads reports whether a parameter name precedes a list, with or without an opening bracket.
func (r *vicinity) heads(p *param, first int) bool {
	for j := first - 1; j >= r.from && j >= first-4 && !r.inEntity[j]; j-- {
		if r.wording.PhraseEndsAt(p.words, j) {
			return true
		}
	}
	return false
}

func (p *param) numbersOf(run []values.Entity) ([]any, bool) {
	out := make([]any, len(run))
	for k, e := range run {
		v, ok := p.numberValue(e)
		if !ok {
			return nil, false
		}
		out[k] = v
	}
	return out, p.maxItems == 0 || len(out) <= p.maxItems
}

// numberRuns returns the runs of two or more numbers that are separated only by punctuation and
// words such as "and". Brackets delimit a run.
func (r *numerals) numberRuns() [][]values.Entity {
	var out [][]values.Entity
	var run []values.Entity
	end := func() {
		if len(run) > 1 {
			out = append(out, run)
		}
		run = nil
	}
	for _, e := range r.wording.Numbers() {
		if len(run) > 0 && !r.wording.Continues(run[len(run)-1].Last, e.First) {
			end()
		}
		run = append(run, e)
	}
	end()
	return out
}

// inRun reports whether a number belongs to a run.
func (r *numerals) inRun(e values.Entity) bool {
	return slices.ContainsFunc(r.runs, func(run []values.Entity) bool {
		return run[0].First <= e.First && e.First <= run[len(run)-1].First
	})
}
