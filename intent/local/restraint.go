package local

import (
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/slots"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// actionConfidence is the maximum confidence of a read for a text that asks for another action.
const actionConfidence = 0.35

// unwantedConfidence is the maximum confidence of a candidate that removes what the user wants.
const unwantedConfidence = 0.1

// restraint holds back writes that the message does not plainly ask for. It owns the modalities of
// the parts of one message.
type restraint struct{ s *sentenceReader }

// spreadModalities classifies the modalities of the parts and lets them apply to the rest of their
// sentence.
func (r restraint) spreadModalities(parts []*part) {
	var carried modality.Modality
	sentence := -1
	for i, p := range parts {
		first := r.s.segments[p.first]
		if first.Sentence != sentence {
			carried, sentence = 0, first.Sentence
		}
		if first.Contrast {
			carried &^= modality.Negated
		}
		own := r.ownModality(p)
		if i == 0 && modality.IsFollowUp(r.s.x.tools.Lexicon, r.s.m.Tokens[p.from:p.to], r.s.switches(p)) {
			own |= modality.FollowUp
		}
		if r.s.retracted {
			own |= modality.Retracted
		}
		p.own, p.modality = own, own|carried
		carried |= own & modality.Inherited
		if own&modality.Content != 0 {
			carried |= modality.Narrative // what follows "and" may belong to the speech
		}
		if modality.LeadsCondition(r.s.m.Tokens[p.from:p.to]) {
			carried |= modality.Conditional
			if i > 0 && r.s.segments[parts[i-1].last].Sentence == sentence {
				parts[i-1].modality |= modality.Conditional
			}
		}
		sentence = r.s.segments[p.last].Sentence
	}
}

// ownModality returns the modality of a part by itself.
func (r restraint) ownModality(p *part) modality.Modality {
	tokens, first := r.s.m.Tokens[p.from:p.to], r.s.segments[p.first]
	covered := r.s.switches(p)
	own := r.modalityOf(p, covered)
	if !first.Subordinate && !first.Sequence && modality.StartsWithGerund(tokens) {
		own |= modality.Narrative
	}
	if modality.SaysSomething(tokens, covered) && (modality.Hedged(r.s.m.Tokens[p.from:]) || r.goesOn(p)) {
		own |= modality.Narrative
	}
	if r.s.said.Reports(p.from, p.to, covered) {
		own |= modality.Narrative
	}
	if r.s.said.Ordered(p.from, p.to) {
		own &^= modality.Narrative
	}
	return own
}

// goesOn reports whether a part has a further segment that begins like a request.
func (r restraint) goesOn(p *part) bool {
	return slices.ContainsFunc(r.s.segments[p.first+1:p.last+1], func(next slots.Segment) bool {
		fold := r.s.m.Tokens[next.From].Fold
		return r.s.x.segmenter.Openers[fold] && !r.s.x.tools.Lexicon.StopWord(fold)
	})
}

// modalityOf returns the modality of the words of a part.
func (r restraint) modalityOf(p *part, covered []bool) modality.Modality {
	tokens := r.s.m.Tokens[p.from:p.to]
	m := r.s.x.modalityReader.Of(tokens, covered, !r.s.said.Framed(p.from))
	if r.hasMark(p) && !r.s.said.Framed(p.from) && modality.IsQuestion(tokens, covered) {
		m |= modality.Question
	}
	return m
}

// hasMark reports whether a question mark ends a part, outside of its values.
func (r restraint) hasMark(p *part) bool {
	last := r.s.m.Tokens[p.to-1]
	if last.Is(tokenize.FormQuoted) {
		return false
	}
	rest := r.s.q.Message[last.End:]
	return strings.HasPrefix(strings.TrimLeft(rest, " \t\"'”’»)]}!.…"), "?")
}

// switches marks the tokens of a part that belong to values of its best candidate, such as
// "without notification", or that ask for nothing, such as a reason. They do not negate the
// request.
func (s *sentenceReader) switches(p *part) []bool {
	covered := slices.Clone(s.said.Silent()[p.from:p.to])
	if len(p.candidates) == 0 {
		return covered
	}
	for i := range covered {
		covered[i] = covered[i] || p.candidates[0].valued(s.m.Tokens[p.from+i])
	}
	return covered
}

// limit holds back writes that the message does not plainly ask for.
func (r restraint) limit(p *part) {
	commandNegated := p.modality&modality.Negated != 0 && modality.StartsNegated(r.s.m.Tokens[p.from:p.to])
	for k := range p.candidates {
		c := &p.candidates[k]
		writes := c.Entry.Policy.SideEffectClass.Writes()
		odd := r.unexcused(p, c)
		if odd == 0 || !writes && !commandNegated && odd&modality.FollowUp == 0 {
			continue
		}
		if k == 0 && odd&(modality.Negated|modality.Retracted) != 0 && (c.Confidence >= DefaultClarify || commandNegated && c.Confidence >= hardNegativeConfidence) {
			p.refused = true
		}
		c.Held, c.Note = true, odd.Note()
		c.Confidence = min(c.Confidence, heldConfidence)
	}
	r.lowerOtherAction(p)
	r.lowerUnwanted(p)
	r.holdWithoutVerb(p)
	r.s.raiseIncomplete(p)
	r.lowerSideEffect(p)
	sortCandidates(p.candidates)
}

// isVerbOfOther reports whether a verb begins examples of another capability of the domain.
func (r restraint) isVerbOfOther(of *indexed, stem string) bool {
	return slices.ContainsFunc(r.s.x.caps, func(o *indexed) bool {
		return o != nil && o != of && o.domain == of.domain && slices.Contains(o.begins, stem)
	})
}

// lowerOtherAction lowers reads if the text begins with a verb of another action: "buy shares of
// Acme" asks for no price. A write that matches the verb of another capability is asked about:
// "reserve R-204" cancels no reservation.
func (r restraint) lowerOtherAction(p *part) {
	kin := r.s.verbKinds(p.first)
	first := slices.IndexFunc(r.s.m.Tokens[p.from:p.to], func(t tokenize.Token) bool { return !modality.Opening(t.Fold) })
	if kin&lexicon.ActionKinds() == 0 || first < 0 || r.s.m.Tokens[p.from+first].Has(lexicon.Light) || r.s.said.Says(p.from+first, lexicon.Article) { // such as "give me the list", "den Kurs von Tesla"
		return
	}
	stem := r.s.m.Tokens[p.from+first].Stem
	for k := range p.candidates {
		c := &p.candidates[k]
		idx, ok := r.s.x.refs[c.Entry.Ref()]
		if ok && !c.Exact && c.Entry.Policy.SideEffectClass.Writes() && idx.kinds&kin == 0 && !slices.Contains(idx.begins, stem) && r.isVerbOfOther(idx, stem) {
			c.Confidence = min(c.Confidence, heldConfidence)
		}
		if !ok || idx.examples == 0 || c.Exact || c.begins || c.Entry.Policy.SideEffectClass.Writes() || idx.kinds&kin != 0 {
			continue
		}
		c.Confidence = min(c.Confidence, actionConfidence)
	}
}

// lowerSideEffect lowers capabilities for which notifying is only a side effect: "let the guest
// know" cancels nothing.
func (r restraint) lowerSideEffect(p *part) {
	for k := range p.candidates {
		c := &p.candidates[k]
		if idx, ok := r.s.x.refs[c.Entry.Ref()]; ok && informs(r.s, p, idx, c) {
			c.Confidence = min(c.Confidence, heldConfidence)
		}
	}
}

func informs(s *sentenceReader, p *part, of *indexed, c *Candidate) bool {
	return !c.Exact && !c.begins && !c.gives && c.Entry.Policy.SideEffectClass.Writes() && modality.OnlyInforms(s.x.tools.Lexicon, s.m.Tokens[p.from:p.to], of.kinds)
}

// lowerUnwanted lowers writes that do not provide what the user needs: a wish for information
// changes nothing. It lowers reads if a write provides it and all its required parameters are set.
func (r restraint) lowerUnwanted(p *part) {
	if r.s.wanted(p) == 0 {
		return
	}
	given := slices.ContainsFunc(p.candidates, func(c Candidate) bool { return c.gives })
	whole := slices.ContainsFunc(p.candidates, func(c Candidate) bool { return c.gives && len(c.Missing) == 0 })
	for k := range p.candidates {
		c := &p.candidates[k]
		writes := c.Entry.Policy.SideEffectClass.Writes()
		switch {
		case c.gives || c.Exact || !writes && !whole:
		case given:
			c.Confidence = min(c.Confidence, unwantedConfidence)
		case r.mayGive(c):
		default:
			c.Confidence = min(c.Confidence, DefaultClarify)
		}
	}
}

// holdWithoutVerb asks about a write if the text has no verb and only names existing things: "the
// diet of Luna" may be a question.
func (r restraint) holdWithoutVerb(p *part) {
	tokens := r.s.m.Tokens[p.from:p.to]
	if slices.ContainsFunc(tokens, func(t tokenize.Token) bool {
		return r.s.x.tools.Lexicon.Kin(t.Fold) != 0 || t.Is(tokenize.FormQuoted) || t.Has(lexicon.Separates)
	}) {
		return
	}
	for k := range p.candidates {
		c := &p.candidates[k]
		of, ok := r.s.x.refs[c.Entry.Ref()]
		if !ok || c.Exact || c.begins || c.gives || !c.Entry.Policy.SideEffectClass.Writes() || len(c.Evidence) == 0 {
			continue
		}
		given := func(name string) bool { return !lookedUp(of, name) }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(c.Evidence)), given) {
			c.Confidence = min(c.Confidence, DefaultClarify)
		}
	}
}

// mayGive reports whether a capability creates something or takes a verbatim request, so that it
// may provide what a user needs.
func (r restraint) mayGive(c *Candidate) bool {
	of, ok := r.s.x.refs[c.Entry.Ref()]
	return ok && (of.kinds&lexicon.KindOf("create") != 0 || slots.VerbatimParameter(r.s.x.set(of)) != "")
}

// unexcused returns the modalities of a part that the examples of the capability do not have. Only
// the most similar example can excuse a negation.
func (r restraint) unexcused(p *part, c *Candidate) modality.Modality {
	if c.Exact {
		return p.modality &^ p.own // the context still counts
	}
	idx, ok := r.s.x.refs[c.Entry.Ref()]
	if !ok {
		return p.modality
	}
	odd := p.modality &^ (idx.modalities &^ modality.Negated)
	if c.begins {
		odd &^= modality.Content
	}
	if odd&modality.Negated != 0 && c.modality&modality.Negated != 0 && !r.orders(p, idx) {
		odd &^= modality.Negated
	}
	return odd
}

// orders reports whether a part has a verb of the capability's kind: "I do not need it any more"
// may ask to delete it, "there is no need to delete it" never does.
func (r restraint) orders(p *part, of *indexed) bool {
	return slices.ContainsFunc(r.s.m.Tokens[p.from:p.to], func(t tokenize.Token) bool { return r.s.x.tools.Lexicon.Kin(t.Fold)&of.kinds != 0 })
}
