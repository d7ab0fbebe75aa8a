package slots

import (
	"cmp"
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// The thresholds of the score of a value. An optional value needs clear evidence.
const (
	floorRequired = 0.5
	floorOptional = 0.74
)

// beam is the number of partial assignments that the beam search keeps.
const beam = 48

// inOrder is the score of two values in schema order; it only breaks ties.
const inOrder = 0.002

// partialAssignment is a partial assignment.
type partialAssignment struct {
	taken []int // indexes of mentions
	used  uint64
	end   int // last covered token
	score float64
}

// solver selects among the candidate values.
type solver struct {
	*passage
	mentions []mention
}

func (r *reading) solver() *solver { return &solver{passage: r.passage, mentions: r.mentions} }

// solve returns the best compatible mentions: no two overlap, and a single-value parameter has at
// most one.
func (r *solver) solve() []mention {
	r.prune()
	states := []partialAssignment{{end: r.from - 1}}
	for k, m := range r.mentions {
		next := states
		for _, st := range states {
			if grown, ok := r.take(st, k, m); ok {
				next = append(next, grown)
			}
		}
		slices.SortStableFunc(next, func(a, b partialAssignment) int {
			if c := cmp.Compare(b.score, a.score); c != 0 {
				return c
			}
			return cmp.Compare(len(a.taken), len(b.taken))
		})
		states = dominant(next, m.first)
	}
	var out []mention
	for _, k := range states[0].taken {
		out = append(out, r.mentions[k])
	}
	return slices.DeleteFunc(out, func(m mention) bool { return r.undecided(m, out) })
}

// undecided reports whether a quotation might as well be the value of another required parameter
// without a value. Schema order must not decide then.
func (r *solver) undecided(m mention, chosen []mention) bool {
	if m.kind != kindQuoted || m.p >= floorOptional || r.learning {
		return false
	}
	return slices.ContainsFunc(r.mentions, func(o mention) bool {
		return o.kind == kindQuoted && o.first == m.first && o.param != m.param && o.param.required &&
			!slices.ContainsFunc(chosen, func(c mention) bool { return c.param == o.param })
	})
}

// prune removes the mentions below the threshold and sorts the rest.
func (r *solver) prune() {
	r.mentions = slices.DeleteFunc(r.mentions, func(m mention) bool {
		if m.kind != kindKeyed && wrongDirection(r.scope, m.param, m.first, m.last) {
			return true
		}
		floor := floorOptional
		if m.param.required || len(r.only) > 0 {
			floor = floorRequired
		}
		return m.p < floor
	})
	slices.SortStableFunc(r.mentions, func(a, b mention) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.last, a.last), cmp.Compare(b.p, a.p))
	})
}

// take adds a mention to an assignment if it is compatible.
func (r *solver) take(st partialAssignment, k int, m mention) (partialAssignment, bool) {
	place := slices.Index(r.set.params, m.param)
	bit := uint64(1) << (place % 64)
	for _, t := range st.taken {
		o := r.mentions[t]
		sameList := o.kind == kindKeyed && m.kind == kindKeyed && o.param == m.param && o.first == m.first
		if m.first <= o.last && !sameList && (!m.shared || !o.shared || m.first != o.first) {
			return partialAssignment{}, false
		}
	}
	if st.used&bit != 0 && !r.listed(st, m) {
		return partialAssignment{}, false
	}
	if st.used&bit != 0 && (m.param.list == "" || m.values != nil) {
		return partialAssignment{}, false
	}
	length := 1 + 0.05*float64(m.last-m.first)
	for _, t := range st.taken {
		if slices.Index(r.set.params, r.mentions[t].param) < place {
			length += inOrder
		}
	}
	return partialAssignment{taken: append(slices.Clip(st.taken), k), used: st.used | bit, end: max(st.end, m.last), score: st.score + m.p*length}, true
}

// listed reports whether a value may join the list of those taken before. A name needs a comma or
// a word such as "and" in between.
func (r *solver) listed(st partialAssignment, m mention) bool {
	for _, t := range slices.Backward(st.taken) {
		if o := r.mentions[t]; o.param == m.param {
			return !o.byForm() && !m.byForm() || r.wording.Joined(o.last, m.first)
		}
	}
	return true
}

// byForm reports whether a value was found only by its form or its context.
func (m mention) byForm() bool { return m.kind == kindName || m.kind == kindContext }

// dominant keeps the best assignments, and of those with the same covered tokens and parameters
// only the best one.
func dominant(states []partialAssignment, first int) []partialAssignment {
	type key struct {
		used uint64
		end  int
	}
	seen := map[key]bool{}
	out := make([]partialAssignment, 0, beam)
	for _, st := range states {
		k := key{st.used, max(st.end, first)}
		if !seen[k] && len(out) < beam {
			seen[k] = true
			out = append(out, st)
		}
	}
	return out
}

// result converts the chosen mentions to parameter values.
func (r *solver) result(chosen []mention) Filled {
	f := Filled{Values: map[string]any{}, Evidence: map[string]contracts.Evidence{}, Covered: make([]bool, r.to-r.from)}
	byParam := map[*param][]mention{}
	for _, m := range chosen {
		byParam[m.param] = append(byParam[m.param], m)
		for i := m.first; i <= m.last; i++ {
			f.Covered[i-r.from] = true
		}
	}
	var unclear []string
	for _, p := range r.set.params {
		mentions := byParam[p]
		if len(mentions) == 0 {
			continue
		}
		others := r.contested(p, mentions, chosen)
		for _, m := range others {
			for i := m.first; i <= m.last; i++ {
				f.Covered[i-r.from] = true // understood, but not usable
			}
		}
		if len(others) > 0 || slices.ContainsFunc(mentions, func(m mention) bool { return m.doubt }) {
			unclear = append(unclear, p.name())
			if !markCoordinated(r, &f, p, append(slices.Clone(mentions), others...)) {
				f.Contested++
			}
			continue
		}
		r.put(&f, p, mentions, &unclear)
	}
	f.unclear = unclear
	fillVerbatim(r.scope, &f)
	f.Missing = r.set.stillMissing(f)
	return f
}

// put stores a value under the single-value name, several under the list name.
func (r *solver) put(f *Filled, p *param, mentions []mention, unclear *[]string) {
	var values []any
	ev := contracts.Evidence{Kind: mentions[0].kind, P: 1}
	for k, m := range mentions {
		switch {
		case m.values != nil:
			values = append(values, m.values...)
		case !slices.ContainsFunc(values, func(v any) bool { return equal(v, m.value) }):
			values = append(values, m.value)
		}
		span := m.in(r.doc)
		if k == 0 {
			ev.Span[0] = span.Start
		}
		ev.Span[1] = max(ev.Span[1], span.End)
		ev.P = min(ev.P, m.p)
	}
	name, v := p.single, values[0]
	if p.single == "" || len(values) > 1 {
		name, v = p.list, any(values)
	}
	if name == "" || p.maxItems > 0 && len(values) > p.maxItems {
		*unclear = append(*unclear, p.name())
		return
	}
	f.Values[name], f.Evidence[name] = v, ev
}

// contested returns conflicting values for a single-value parameter that have about the same
// score.
func (r *solver) contested(p *param, mine, chosen []mention) []mention {
	if p.list != "" {
		return nil
	}
	out := r.neighbours(mine[0], chosen)
	for _, m := range r.mentions {
		if m.param != p || m.p < 0.75 || m.p < mine[0].p-0.1 || equal(m.value, mine[0].value) || m.kind == kindExample && mine[0].kind == kindAlias {
			continue
		}
		if mine[0].kind == kindKeyed && m.kind != kindKeyed || m.kind == kindContext && !mine[0].byForm() && !r.set.writes {
			continue // in "what does a toolAgent node take"
		}
		if slices.ContainsFunc(out, func(o mention) bool { return o.first == m.first && equal(o.value, m.value) }) {
			continue
		}
		if !slices.ContainsFunc(chosen, func(c mention) bool { return c.first <= m.last && m.first <= c.last }) {
			out = append(out, m)
		}
	}
	return out
}

// neighbours returns the names that are coordinated with one, with only commas, words such as
// "and" and articles in between: "the Desk and the Front Door".
func (r *solver) neighbours(m mention, chosen []mention) []mention {
	if !m.byForm() || r.learning {
		return nil
	}
	row := []mention{m}
	for grown := true; grown && len(row) <= maxCoordinated; {
		grown = false
		for _, o := range r.mentions {
			free := o.param == m.param && o.byForm() && !o.doubt && !slices.ContainsFunc(append(slices.Clone(chosen), row...), func(c mention) bool { return c.first <= o.last && o.first <= c.last })
			if free && slices.ContainsFunc(row, func(c mention) bool { return r.wording.InRow(c.last, o.first) || r.wording.InRow(o.last, c.first) }) {
				row, grown = append(row, o), true
			}
		}
	}
	return row[1:]
}

// maxCoordinated limits how many requests one list of values becomes.
const maxCoordinated = 12

// markCoordinated records coordinated values of a single-value parameter in Several, and reports
// whether they are coordinated.
func markCoordinated(r *solver, f *Filled, p *param, mentions []mention) bool {
	slices.SortFunc(mentions, func(a, b mention) int { return cmp.Compare(a.first, b.first) })
	if len(mentions) < 2 || len(mentions) > maxCoordinated {
		return false
	}
	var out []Mention
	for k, m := range mentions {
		if k > 0 && (m.first <= mentions[k-1].last || !r.wording.Joined(mentions[k-1].last, m.first) || m.kind != mentions[0].kind || !r.wording.NothingBetween(mentions[k-1].last, m.first, r.set.Knows)) || m.doubt {
			return false
		}
		span := m.in(r.doc)
		out = append(out, Mention{Value: m.value, First: m.first, Last: m.last, Evidence: contracts.Evidence{Kind: m.kind, P: m.p, Span: [2]int{span.Start, span.End}}})
	}
	if f.Several == nil {
		f.Several = map[string][]Mention{}
	}
	f.Several[p.name()] = out
	return true
}
