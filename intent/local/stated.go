package local

import (
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/slots"
)

// fillFromStatement fills missing parameters of the only request from a statement beside it: "Ana
// is ill. Book sick leave from Monday".
func (j judgement) fillFromStatement(set *slots.Set, best *Candidate, beside slots.Range) {
	open := slices.Concat(best.Missing, slots.NewRequestWords(set).OpenKinds(best.Parameters))
	if len(open) == 0 || beside.From >= beside.To {
		return
	}
	f := set.Fill(j.s.m, beside, open)
	for _, name := range open {
		v, ok := f.Values[name]
		ev := f.Evidence[name]
		if !ok || slices.ContainsFunc(slices.Collect(maps.Values(best.Evidence)), func(o contracts.Evidence) bool { return ev.Span[0] < o.Span[1] && o.Span[0] < ev.Span[1] }) {
			continue
		}
		best.Parameters[name], best.Evidence[name] = v, ev
		best.fromStatement = best.fromStatement || slices.Contains(best.Missing, name)
	}
	best.Missing = slices.DeleteFunc(best.Missing, func(name string) bool { _, ok := best.Parameters[name]; return ok })
}

// preferReferent moves a candidate to the front that can use the referent of a pronoun from a
// statement before the request: "al-1 is of no use, delete it".
func (j judgement) preferReferent(p *part) {
	best := &p.candidates[0]
	if !j.alone || p.from == 0 || len(best.Missing) == 0 || j.pointer(p, best) < 0 {
		return
	}
	kin, at := j.s.verbKinds(p.first), -1
	for k, c := range p.candidates {
		of, ok := j.s.x.refs[c.Entry.Ref()]
		if !ok || c.Held || len(c.Missing) == 0 || !c.begins && of.kinds&kin == 0 {
			continue
		}
		f := j.s.x.set(of).Fill(j.s.m, slots.Range{To: p.from}, c.Missing)
		sure := !slices.ContainsFunc(c.Missing, func(name string) bool { return !slots.IsCertain(f.Evidence[name]) })
		if sure && at >= 0 {
			return
		} else if sure {
			at = k
		}
	}
	if at < 0 {
		return
	}
	for k := range p.candidates[:at] {
		p.candidates[k].Confidence = min(p.candidates[k].Confidence, actionConfidence)
	}
	p.candidates[at].Confidence = max(p.candidates[at].Confidence, plainConfidence)
	sortCandidates(p.candidates)
}

// fillStated fills parameters with unambiguous values from statements beside a request: "sign up
// Ana, her address is …". It skips denied and hypothetical statements.
func (j judgement) fillStated(p *part, best *Candidate, set *slots.Set, m *slots.Message) {
	since, until := p.since, p.until
	if j.alone {
		since, until = 0, len(j.s.m.Tokens)
	}
	for _, said := range j.s.said.Segments {
		told := j.s.x.modalityReader.Of(j.s.m.Tokens[said.From:said.To], nil, true)
		if said.Kind != modality.Statement && (said.From < p.to || !j.describes(said.From, said.To)) || said.From < since || said.To > until || told&^(modality.Foreign|modality.Negated) != 0 {
			continue
		}
		values, evidence := set.Stated(m, slots.Range{From: said.From, To: said.To}, best.Parameters, told&modality.Negated != 0)
		for name, v := range values {
			best.Parameters[name], best.Evidence[name] = v, evidence[name]
			best.fromStatement, best.stated = true, append(best.stated, name)
		}
	}
	best.Missing = slices.DeleteFunc(best.Missing, func(name string) bool { _, ok := best.Parameters[name]; return ok })
}

// fillMentioned fills the only missing parameter of a single read with the only name in a statement
// before it, if a pronoun refers to it: "someone mentioned Blue Harbour, what is its address".
func (j judgement) fillMentioned(p *part, best *Candidate, set *slots.Set) {
	if !j.alone || len(best.Missing) != 1 || best.Entry.Policy.SideEffectClass.Writes() || j.pointer(p, best) < 0 {
		return
	}
	if v, ev, ok := slots.Mentioned(set, j.s.m, slots.Range{To: p.from}, best.Missing[0]); ok {
		best.Parameters[best.Missing[0]], best.Evidence[best.Missing[0]] = v, ev
		best.Missing, best.fromStatement = nil, true
	}
}

// describes reports whether a run begins with a pronoun for an earlier object and a word such as
// "should".
func (j judgement) describes(from, to int) bool {
	tokens := j.s.m.Tokens
	return from > 0 && from+1 < to && tokens[from].Has(lexicon.Third) && tokens[from].Has(lexicon.Subject) && tokens[from+1].Has(lexicon.Finite)
}
