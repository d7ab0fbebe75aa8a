package slots

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// boolean reads a boolean parameter at a token: "notify" or "all day", with or without a negation.
func (r *reading) boolean(i int) {
	for _, p := range r.set.params {
		if p.kind != "boolean" || p == r.set.informing && !r.learning {
			continue // read as a clause instead
		}
		first, last, score, ok := switchAt(r, p, i)
		if !ok {
			if first, last, on, said := readDescribed(r, p, i); said {
				r.add(mention{param: p, first: first, last: last, value: on, kind: kindBoolean, p: modalScore})
			}
			continue
		}
		says, known := p.says[r.doc.Tokens[last].Stem]
		on := (!known || says || score != modalScore) && (r.learning || !TakesAway(r.set.tools.Lexicon.Lexica, r.set.kinds, r.doc.Tokens[r.from:r.to]))
		for j := last; j >= r.from && j >= first-negationReach && (j >= first || !r.doc.Tokens[j+1].Break); j-- {
			if IsNegation(r.doc.Tokens[j].Fold) {
				first, on = min(first, j), !on
				break
			}
		}
		r.add(mention{param: p, first: first, last: last, value: on, kind: kindBoolean, p: score})
	}
}

// readDescribed reads a boolean from the denied noun of its name ("no fee"), or from its
// description: a read needs one word of it, a write two in a row.
func readDescribed(r *reading, p *param, i int) (first, last int, on, ok bool) {
	t := r.doc.Tokens[i]
	if (t.Stem == p.headNoun || slices.Contains(p.lackingNouns, t.Stem)) && r.near.uniqueInNames(p, t.Stem) {
		if j, no := FindDenial(r.doc.Tokens, r.from, i); no && i-j <= 2 && r.doc.Tokens[j].Has(lexicon.Switches) && !r.doc.Tokens[j].Has(lexicon.Finite) {
			return j, i, false, true
		}
	}
	first, on, ok = p.says.Said(r.doc.Tokens, r.from, i)
	if !ok || !r.set.writes {
		return first, i, on, ok && !r.learning
	}
	if next := i + 1; next < r.to && !r.doc.Tokens[next].Break {
		_, same, two := p.says.Said(r.doc.Tokens, r.from, next)
		return first, next, on, two && same == on && !r.learning
	}
	return 0, 0, false, false
}

// learnLacking records the nouns behind words such as "without" in an example, for a capability
// with only one boolean parameter: "ohne Gebühr".
func learnLacking(s *Set, d *values.Doc, covered []bool) {
	is := func(p *param) bool { return p.kind == "boolean" }
	if at := slices.IndexFunc(s.params, is); at >= 0 && !slices.ContainsFunc(s.params[at+1:], is) {
		s.params[at].lackingNouns = append(s.params[at].lackingNouns, LackingNouns(s.tools.Lexicon.Lexica, d.Tokens, covered)...)
	}
}

// uniqueInNames reports whether no other parameter has a word in its name.
func (r *vicinity) uniqueInNames(p *param, stem string) bool {
	return !slices.ContainsFunc(r.set.params, func(q *param) bool { return q != p && slices.Contains(q.words, stem) })
}

// Open returns the nouns of boolean parameters without a value, for a write. Nouns that other
// parameters use as well are excluded.
func (a RequestWords) Open(values map[string]any) []string {
	var out []string
	for _, p := range a.of.params {
		if !a.of.writes || p.headNoun == "" || has(values, p.single) || slices.ContainsFunc(a.of.params, func(q *param) bool {
			return q != p && (q.desc[p.headNoun] || slices.Contains(q.words, p.headNoun) || slices.Contains(q.enum, any(p.headNoun)))
		}) {
			continue
		}
		out = append(out, p.headNoun)
	}
	return out
}

// informed reads the boolean parameter that reports whether to notify somebody, and removes other
// candidates for the words of the recipient.
func (r *reading) informed() {
	p, who := r.set.informing, r.set.informed
	if p == nil || r.learning {
		return
	}
	for i := r.from; i < r.to; i++ {
		c, ok := ReadNotification(r.set.tools.Lexicon.Lexica, r.doc.Tokens, r.from, r.to, i, func(j int) bool { return slices.Contains(who, r.doc.Tokens[j].Stem) || r.near.isValueNamed(j, who) })
		if !ok || !r.try(1) || !r.beside && !r.near.hasRequestOutside(c.First, c.Last) {
			continue // somebody is told something else
		}
		r.mentions = slices.DeleteFunc(r.mentions, func(m mention) bool {
			return m.param != p && m.first >= c.First && m.last <= c.Last || m.param == p && m.first <= c.Last && c.First <= m.last
		})
		r.add(mention{param: p, first: c.First, last: c.Last, value: c.On, kind: kindBoolean, p: modalScore})
	}
}

// hasRequestOutside reports whether a token that may ask for something is outside of a run.
func (r *vicinity) hasRequestOutside(first, last int) bool {
	for i := r.from; i < r.to; i++ {
		t := r.doc.Tokens[i]
		if (i < first || i > last) && !r.inEntity[i] && !r.set.tools.Lexicon.StopWord(t.Fold) && !t.Is(tokenize.FormQuoted|tokenize.FormDigits|tokenize.FormMixed|tokenize.FormCaps) {
			return true
		}
	}
	return false
}

// isValueNamed reports whether a token is a known value of a parameter with one of these stems.
func (r *vicinity) isValueNamed(i int, who []string) bool {
	return slices.ContainsFunc(append(slices.Clone(r.set.phrases[r.doc.Tokens[i].Fold]), r.set.phrases[r.doc.Tokens[i].Stem]...), func(ph phrase) bool {
		v, ok := ph.value.(string)
		return ok && len(ph.words) == 1 && slices.Contains(who, tokenize.Stems(v)[0])
	})
}

// findInforming finds the only boolean parameter that reports whether to notify somebody,
// unless the capability itself sends a message.
func (s *Set) findInforming(capability string) {
	if kin := s.tools.Lexicon.Kin(tokenize.Phrase(tokenize.SplitName(capability))[0]); kin&(lexicon.KindOf("notify")|lexicon.KindOf("send")) != 0 {
		return
	}
	for _, p := range s.params {
		if who, ok := InformsWhom(s.tools.Lexicon.Lexica, tokenize.SplitName(p.name())); ok && p.kind == "boolean" {
			if s.informing != nil {
				s.informing = nil
				return
			}
			s.informing, s.informed = p, who
		}
	}
}

// namedScore is the score of a boolean that is named, modalScore that of one with a modal verb.
const namedScore, modalScore = 0.85, 0.84

// negationReach is the maximum distance of a negation before a boolean in words.
const negationReach = 3

// switchAt reports whether a boolean parameter is mentioned at a token: by its name, in any order
// or spelling; in a read by the noun of its name behind "with"; or by its description behind a
// modal verb.
func switchAt(r *reading, p *param, i int) (first, last int, score float64, ok bool) {
	words := switchWords(p.words)
	if len(words) == 0 {
		return 0, 0, 0, false
	}
	last = i + len(words) - 1
	switch {
	case last < r.to && r.wording.PhraseEndsAt(words, last) && r.doc.Tokens[i].Stem == words[0]:
		return i, last, namedScore, true
	case len(words) == 1 && r.wording.WrittenApart(words[0], i):
		return i, i + 1, namedScore, true
	case len(p.words) > 1 && slices.Contains(p.words, r.doc.Tokens[i].Stem):
		if end, ok := r.wording.AnyOrder(p.words, i); ok {
			return i, end, namedScore, true
		}
		return i, i, namedScore, !r.set.writes && r.near.followsWith(p, i)
	}
	first, last, ok = r.near.followsModal(p, i)
	return first, last, modalScore, ok
}

// followsWith reports whether the last noun of a parameter name follows a word such as "with", and
// no other parameter has that noun: "with places left" for "free_places".
func (r *vicinity) followsWith(p *param, i int) bool {
	noun := p.words[len(p.words)-1]
	if r.doc.Tokens[i].Stem != noun || i == r.from || r.doc.Tokens[i].Break || r.set.tools.cues.Preps[r.doc.Tokens[i-1].Fold]&SenseMeans == 0 {
		return false
	}
	return !slices.ContainsFunc(r.set.params, func(q *param) bool { return q != p && slices.Contains(q.words, noun) })
}

// followsModal reports whether a word that only this description has follows a modal verb that it
// has too: "it can still drive" for a parameter that reports whether the car can be driven.
func (r *vicinity) followsModal(p *param, i int) (first, last int, ok bool) {
	t := r.doc.Tokens[i]
	if r.set.tools.Lexicon.StopWord(t.Fold) || t.Named() || t.Break || !p.describes(t.Fold, t.Stem) {
		return 0, 0, false
	}
	for j := i - 1; j >= r.from && j >= i-negationReach; j-- {
		may := r.doc.Tokens[j]
		modal := may.Has(lexicon.Finite) && p.own[may.Stem]
		for w := range p.own {
			modal = modal || IsNegation(may.Fold) && strings.HasPrefix(may.Fold, w) // such as "cannot"
		}
		switch {
		case modal:
			return j, i, true
		case may.Break || !r.set.tools.Lexicon.StopWord(may.Fold):
			return 0, 0, false
		}
	}
	return 0, 0, false
}

// describes reports whether only the description of this parameter has a word, in the same form or
// one up to two letters longer: "drive" for "driven".
func (p *param) describes(fold, stem string) bool {
	if p.own[stem] {
		return true
	}
	for w := range p.own {
		if len(fold) >= 4 && strings.HasPrefix(w, fold) && len(w) <= len(fold)+2 {
			return true
		}
	}
	return false
}

// switchWords removes leading words that only make a name a question, such as "is".
func switchWords(words []string) []string {
	for len(words) > 1 && slices.Contains([]string{"is", "has", "be", "with", "includ", "show", "should", "enabl", "do", "use", "allow", "want", "need", "get", "return"}, words[0]) {
		words = words[1:]
	}
	return words
}
