package intent

import (
	"slices"

	"github.com/manifold-run/manifold/intent/internal/command"
	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/slot"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// shareHead is what it counts that a text begins with the verb that sentences
// of a capability begin with: the verb says what is wanted, while the same word
// inside a description, such as the "request" that is cancelled, does not.
const shareHead = 0.12

// begun notes the verb that an example or a name begins with, and what it is done to.
func (b *builder) begun(c *indexed, tokens []text.Token) {
	for _, t := range command.Object(b.x.tools.Lexicon, tokens) {
		if !t.Named() && !slices.Contains(c.objects, t.Stem) {
			c.objects = append(c.objects, t.Stem)
		}
	}
	if head := command.Head(b.x.tools.Lexicon, tokens); head != "" && !slices.Contains(c.begins, head) {
		c.begins, c.kinds = append(c.begins, head), c.kinds|b.x.tools.Lexicon.Kin(head).Asked()
	}
}

// wanted are the kinds of verbs that a part stands for which says what somebody wants
// or needs: 0 where it commands something, or says no such thing.
func (s *sentenceReader) wanted(p *part) lang.Kinds {
	if s.said == nil || !s.said.Wants(p.from, p.to) {
		return 0
	}
	return lang.KindOf("request") | lang.KindOf("reserve") | lang.KindOf("create") | lang.KindOf("buy")
}

// gives tells a capability that gives what is wanted, with a value of it that is hardly
// anything else.
func (s *sentenceReader) gives(c *indexed, wanted lang.Kinds, f slot.Filled) bool {
	if wanted == 0 || !c.entry.Policy.SideEffectClass.Writes() || c.kinds&wanted == 0 {
		return false
	}
	for _, ev := range f.Evidence {
		if slot.Typed(ev) || slot.Unmistakable(ev) {
			return true
		}
	}
	return false
}

// handsOn tells a capability that hands on what is said, in words that begin with a verb
// of telling and hold what is to be said.
func (s *sentenceReader) handsOn(c *indexed, run slot.Range, f slot.Filled) bool {
	return c.entry.Policy.SideEffectClass.Writes() && c.kinds&(lang.KindOf("send")|lang.KindOf("notify")) != 0 && slot.Tells(s.x.set(c), s.m, run, f)
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
