package local

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/slots"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// shareHead is what it counts that a text begins with the verb that sentences
// of a capability begin with: the verb says what is wanted, while the same word
// inside a description, such as the "request" that is cancelled, does not.
const shareHead = 0.12

// begun notes the verb that an example or a name begins with, and what it is done to.
func (b *builder) begun(c *indexed, tokens []tokenize.Token) {
	c.actions = c.actions.With(modality.CommandRoot(b.x.tools.Lexicon, tokens), modality.CommandObject(b.x.tools.Lexicon, tokens))
	if head := modality.CommandStem(b.x.tools.Lexicon, tokens); head != "" && !slices.Contains(c.begins, head) {
		c.begins, c.kinds = append(c.begins, head), c.kinds|b.x.tools.Lexicon.Kin(head).Asked()
	}
}

// wanted are the kinds of verbs that a part stands for which says what somebody wants
// or needs: 0 where it commands something, or says no such thing.
func (s *sentenceReader) wanted(p *part) lexicon.Kinds {
	if s.said == nil || !s.said.Wants(p.from, p.to) {
		return 0
	}
	return lexicon.KindOf("request") | lexicon.KindOf("reserve") | lexicon.KindOf("create") | lexicon.KindOf("buy")
}

// gives tells a capability that gives what is wanted, with a value of it that is hardly
// anything else and is not looked up.
func (s *sentenceReader) gives(c *indexed, wanted lexicon.Kinds, f slots.Filled) bool {
	if wanted == 0 || !c.entry.Policy.SideEffectClass.Writes() || c.kinds&wanted == 0 {
		return false
	}
	for name, ev := range f.Evidence {
		if (slots.IsTypedValue(ev) || slots.IsCertain(ev)) && !lookedUp(c, name) {
			return true
		}
	}
	return false
}

// lookedUp tells a parameter that names what is there already: nobody is given it.
func lookedUp(c *indexed, param string) bool {
	flow := c.entry.Capability.Metadata.Flow
	return flow != nil && slices.ContainsFunc(flow.Pre, func(step contracts.PreStep) bool { return step.Param == param })
}

// handsOn tells a capability that hands on what is said, in words that begin with a verb
// of telling and hold what is to be said.
func (s *sentenceReader) handsOn(c *indexed, run slots.Range, f slots.Filled) bool {
	return c.entry.Policy.SideEffectClass.Writes() && c.kinds&(lexicon.KindOf("send")|lexicon.KindOf("notify")) != 0 && slots.OnlyTells(s.x.set(c), s.m, run, f)
}

// lacking raises what is asked for by a verb and by what it is done to, where no other
// reading has both and something that it needs is not said: no example shows how that
// sounds, and all that comes of it is the question what is missing. Another verb of the
// same kind will do. Words that are left over take it back.
func (s *sentenceReader) lacking(p *part) {
	tokens := s.m.Tokens[p.from:p.to]
	root, object, kin := modality.CommandRoot(s.x.tools.Lexicon, tokens), modality.CommandObject(s.x.tools.Lexicon, tokens), s.commanded(p.first)
	said := func(of *indexed) bool { return of.actions.Done(root, object) }
	sameKind := func(of *indexed) bool { return of.kinds&kin != 0 && of.actions.DoneTo(object) }
	about := func(of *indexed) bool { return of.actions.DoneTo(object) }
	c := s.only(p, said)
	if alone := s.only(p, sameKind); c == nil && (kin&lexicon.KindOf("change") == 0 || alone == s.only(p, about)) {
		c = alone // "change the booking" may be anything that a booking has
	}
	if c != nil && len(c.Missing) > 0 && c.Confidence < plainConfidence && !s.figures(p, c) {
		c.Confidence, c.unraised = plainConfidence, c.Confidence
	}
}

// figures tells a part with a number or a day that is no value of a candidate: it may be what
// is missing, in another unit or of another kind.
func (s *sentenceReader) figures(p *part, c *Candidate) bool {
	for i, timed := range s.timed(p) {
		if timed && !c.valued(s.m.Tokens[p.from+i]) {
			return true
		}
	}
	return false
}

// only gives the one candidate of a part that something is true of.
func (s *sentenceReader) only(p *part, is func(*indexed) bool) (only *Candidate) {
	for k := range p.candidates {
		c := &p.candidates[k]
		if of, ok := s.x.refs[c.Entry.Ref()]; ok && !c.Held && is(of) {
			if only != nil {
				return nil
			}
			only = c
		}
	}
	return only
}

// clearBefore is how far another candidate with the same verb must be behind.
const clearBefore = 0.2

// askedAnyway tells a clause that begins with the verb of its best candidate and
// of no other near it, where something must be asked for first. That question shows what
// was understood, so nobody needs to be asked before which one is meant.
func askedAnyway(c Clause) bool {
	best := c.Candidates[0]
	return (best.begins && best.Confidence >= clearAlone || best.gives) && len(best.Missing) > 0 &&
		!slices.ContainsFunc(c.Candidates[1:], func(o Candidate) bool { return o.begins && o.Confidence > best.Confidence-clearBefore })
}
