package local

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/slots"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// shareHead is the score for a text that begins with the verb of a capability's examples. The verb
// says what is wanted, while the same word as a noun, such as the "request" that is cancelled,
// does not.
const shareHead = 0.12

// addVerb records the verb that an example or a name begins with, and its object.
func (b *builder) addVerb(c *indexed, tokens []tokenize.Token) {
	c.actions = c.actions.With(modality.CommandRoot(b.x.tools.Lexicon, tokens), modality.CommandObject(b.x.tools.Lexicon, tokens))
	if head := modality.CommandStem(b.x.tools.Lexicon, tokens); head != "" && !slices.Contains(c.begins, head) {
		c.begins, c.kinds = append(c.begins, head), c.kinds|b.x.tools.Lexicon.Kin(head).Asked()
	}
}

// wanted returns the verb kinds that a part with a verb of wanting stands for, or 0 for a command
// or another statement.
func (s *sentenceReader) wanted(p *part) lexicon.Kinds {
	if s.said == nil || !s.said.Wants(p.from, p.to) {
		return 0
	}
	return lexicon.KindOf("request") | lexicon.KindOf("reserve") | lexicon.KindOf("create") | lexicon.KindOf("buy")
}

// gives reports whether a capability provides what is wanted, with an unambiguous value that is
// not resolved by a lookup.
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

// lookedUp reports whether a lookup resolves a parameter, so that it names an existing thing.
func lookedUp(c *indexed, param string) bool {
	flow := c.entry.Capability.Metadata.Flow
	return flow != nil && slices.ContainsFunc(flow.Pre, func(step contracts.PreStep) bool { return step.Param == param })
}

// sendsMessage reports whether a capability sends a message, and the text begins with a verb of
// telling and contains the message.
func (s *sentenceReader) sendsMessage(c *indexed, run slots.Range, f slots.Filled) bool {
	return c.entry.Policy.SideEffectClass.Writes() && c.kinds&(lexicon.KindOf("send")|lexicon.KindOf("notify")) != 0 && slots.OnlyTells(s.x.set(c), s.m, run, f)
}

// raiseIncomplete raises the confidence of the only candidate that matches both the verb and its
// object, if a required parameter is missing. No example shows such a request, and the result is
// only a question for the parameter. A verb of the same kind is enough. Unread words cancel the
// raise.
func (s *sentenceReader) raiseIncomplete(p *part) {
	tokens := s.m.Tokens[p.from:p.to]
	root, object, kin := modality.CommandRoot(s.x.tools.Lexicon, tokens), modality.CommandObject(s.x.tools.Lexicon, tokens), s.verbKinds(p.first)
	said := func(of *indexed) bool { return of.actions.Done(root, object) }
	sameKind := func(of *indexed) bool { return of.kinds&kin != 0 && of.actions.DoneTo(object) }
	about := func(of *indexed) bool { return of.actions.DoneTo(object) }
	c := s.only(p, said)
	if alone := s.only(p, sameKind); c == nil && (kin&lexicon.KindOf("change") == 0 || alone == s.only(p, about)) {
		c = alone // "change the booking" may change any property
	}
	if c != nil && len(c.Missing) > 0 && c.Confidence < plainConfidence && !s.figures(p, c) {
		c.Confidence, c.confidenceIfUnread = plainConfidence, c.Confidence
	}
}

// figures reports whether a part has a number or a date that is no value of a candidate. It may be
// the missing one in another unit.
func (s *sentenceReader) figures(p *part, c *Candidate) bool {
	for i, timed := range s.timed(p) {
		if timed && !c.valued(s.m.Tokens[p.from+i]) {
			return true
		}
	}
	return false
}

// only returns the only candidate of a part that satisfies a condition, or nil.
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

// clearBefore is the minimum lead over another candidate with the same verb.
const clearBefore = 0.2

// askedAnyway reports whether the best candidate has the verb of the clause, no near candidate has
// it, and a required parameter is missing. The question for the parameter shows what was
// understood, so no question about the capability is needed.
func askedAnyway(c Clause) bool {
	best := c.Candidates[0]
	return (best.begins && best.Confidence >= clearAlone || best.gives) && len(best.Missing) > 0 &&
		!slices.ContainsFunc(c.Candidates[1:], func(o Candidate) bool { return o.begins && o.Confidence > best.Confidence-clearBefore })
}
