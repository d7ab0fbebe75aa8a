package slots

import (
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Conjunct is one of several requests that share a verb: its values, and the token ranges of the
// others.
type Conjunct struct {
	Values   map[string]any
	Evidence map[string]contracts.Evidence
	Apart    [][2]int
}

// Coordination is a run of tokens read as one request, which may hold several conjuncts.
type Coordination struct {
	Message *Message
	Set     *Set
	Run     Range
	Read    Filled
	// Either reports whether a token follows a word such as "or".
	Either func(i int) bool
}

// Conjuncts splits a request that shares its verb: into one conjunct per value, where several
// values are coordinated for a single-value parameter and nothing else is missing, or into one per
// set of values, as in "an alert for Acme at 280 and for Umbra at 460". It returns nil if there is
// only one.
func (x *Segmenter) Conjuncts(of Coordination) []Conjunct {
	if len(of.Read.Missing) == 1 && len(of.Read.Several) == 1 {
		return conjunctsByValue(of.Read)
	}
	if len(of.Read.Missing) == 0 || of.Run.To-of.Run.From > maxGappedTokens {
		return nil
	}
	return gapped{x, of}.conjuncts()
}

// conjunctsByValue returns one conjunct per value of the only parameter that has several.
func conjunctsByValue(f Filled) []Conjunct {
	name := f.Missing[0]
	all := f.Several[name]
	var out []Conjunct
	for k, one := range all {
		s := Conjunct{Values: map[string]any{name: one.Value}, Evidence: map[string]contracts.Evidence{name: one.Evidence}}
		maps.Copy(s.Values, f.Values)
		maps.Copy(s.Evidence, f.Evidence)
		for o, other := range all {
			if o != k {
				s.Apart = append(s.Apart, [2]int{other.First, other.Last + 1})
			}
		}
		out = append(out, s)
	}
	return out
}

// gapped splits a request with an elided verb into its sets of values.
type gapped struct {
	x *Segmenter
	Coordination
}

// maxConjuncts limits the number of conjuncts; minConjunctValues is the minimum number of values
// that each of them sets.
const maxConjuncts, minConjunctValues = 6, 2

// maxGappedTokens limits the length in tokens, since each possible boundary fills the slots again.
const maxGappedTokens = 96

// conjuncts returns the conjuncts, or nil if any word remains unexplained.
func (g gapped) conjuncts() []Conjunct {
	var runs []Range
	var read []Filled
	from := g.Run.From
	for i := from + 1; i <= g.Run.To; i++ {
		next, ok := g.boundary(i)
		if !ok {
			continue
		}
		run := Range{From: from, To: i}
		f := g.Set.Complete(g.Message, run, nil, g.Set.Fill(g.Message, run, nil))
		if !g.fillsMissing(f) {
			continue
		}
		if len(runs) > 0 && (len(f.Values) < minConjunctValues || !g.plain(run, f)) {
			return nil
		}
		runs, read = append(runs, run), append(read, f)
		from = next
	}
	if len(runs) < 2 || len(runs) > maxConjuncts || from < g.Run.To || len(read[0].Missing) > 0 {
		return nil
	}
	out := make([]Conjunct, 0, len(runs))
	for k := range runs {
		out = append(out, g.conjunct(runs, read, k))
	}
	return out
}

// boundary reports whether one set of values may end at a token, and returns where the next one
// begins.
func (g gapped) boundary(i int) (next int, ok bool) {
	if i == g.Run.To {
		return i, true
	}
	hit, found := lexicon.Find(&g.x.Lexicon.Separators, g.Message.Tokens[:g.Run.To], i)
	if found && hit.Value == lexicon.ConnectiveAnd && !g.Either(i+1) {
		return i + hit.Tokens, true
	}
	return i, !found && g.Message.Tokens[i].Break
}

// fillsMissing reports whether a reading has a value for each parameter that the whole request
// lacks.
func (g gapped) fillsMissing(f Filled) bool {
	return !slices.ContainsFunc(g.Read.Missing, func(name string) bool { _, has := f.Values[name]; return !has })
}

// plain reports whether a run holds only values and neutral function words.
func (g gapped) plain(run Range, f Filled) bool {
	for i := run.From; i < run.To; i++ {
		if !f.Covered[i-run.From] && !isNeutralFunctionWord(g.Message.Tokens[i]) {
			return false
		}
	}
	return true
}

// isNeutralFunctionWord reports whether a token is a neutral function word: no negation, condition
// or finite verb.
func isNeutralFunctionWord(t tokenize.Token) bool {
	odd := t.Has(lexicon.Negation) || t.Has(lexicon.Denial) || t.Has(lexicon.Condition) || t.Has(lexicon.Lacking) || t.Has(lexicon.Finite)
	return t.Has(lexicon.Courteous) || t.Has(lexicon.Function) && !odd
}

// conjunct returns one conjunct. It inherits values from the first conjunct that it does not set
// itself.
func (g gapped) conjunct(runs []Range, read []Filled, k int) Conjunct {
	s := Conjunct{Values: maps.Clone(read[0].Values), Evidence: maps.Clone(read[0].Evidence)}
	maps.Copy(s.Values, read[k].Values)
	maps.Copy(s.Evidence, read[k].Evidence)
	for o, run := range runs {
		if o > 0 && o != k {
			s.Apart = append(s.Apart, [2]int{run.From, run.To})
		}
	}
	for name := range read[k].Values {
		if ev, ok := read[0].Evidence[name]; ok && k > 0 {
			first, last := g.Message.TokensIn(ev.Span)
			s.Apart = append(s.Apart, [2]int{first, last + 1})
		}
	}
	return s
}
