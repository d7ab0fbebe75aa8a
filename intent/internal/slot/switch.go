package slot

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/slot/cues"
)

// boolean reads a switch that is said at a place: "notify" or "all day", also behind a
// negation.
func (r *reading) boolean(i int) {
	for _, p := range r.set.params {
		if p.kind != "boolean" {
			continue
		}
		first, last, score, ok := switchAt(r, p, i)
		if !ok {
			continue
		}
		on := true
		for j := last; j >= r.from && j >= first-negationReach && (j >= first || !r.doc.Tokens[j+1].Break); j-- {
			if cues.Negates(r.doc.Tokens[j].Fold) {
				first, on = min(first, j), false
				break
			}
		}
		r.add(mention{param: p, first: first, last: last, value: on, kind: kindBoolean, p: score})
	}
}

// worthNamed is how sure a switch is that is named, worthAble one that can or must be so.
const worthNamed, worthAble = 0.85, 0.84

// negationReach is how many words before a switch a negation stands at most.
const negationReach = 3

// switchAt tells whether a switch is said at a place: by its name, in whatever order and
// however its parts are written; for a read by the noun of its name behind "with"; and by
// what its description says that can or must be.
func switchAt(r *reading, p *param, i int) (first, last int, score float64, ok bool) {
	words := switchWords(p.words)
	if len(words) == 0 {
		return 0, 0, 0, false
	}
	last = i + len(words) - 1
	switch {
	case last < r.to && r.wording.PhraseEndsAt(words, last) && r.doc.Tokens[i].Stem == words[0]:
		return i, last, worthNamed, true
	case len(words) == 1 && r.wording.WrittenApart(words[0], i):
		return i, i + 1, worthNamed, true
	case len(p.words) > 1 && slices.Contains(p.words, r.doc.Tokens[i].Stem):
		if end, ok := r.wording.AnyOrder(p.words, i); ok {
			return i, end, worthNamed, true
		}
		return i, i, worthNamed, !r.set.writes && r.near.equipped(p, i)
	}
	first, last, ok = r.near.able(p, i)
	return first, last, worthAble, ok
}

// equipped tells the noun that a name ends in behind a word such as "with", where no other
// parameter has it: "with places left" of "free_places".
func (r *vicinity) equipped(p *param, i int) bool {
	noun := p.words[len(p.words)-1]
	if r.doc.Tokens[i].Stem != noun || i == r.from || r.doc.Tokens[i].Break || r.set.tools.cues.Preps[r.doc.Tokens[i-1].Fold]&cues.SenseMeans == 0 {
		return false
	}
	return !slices.ContainsFunc(r.set.params, func(q *param) bool { return q != p && slices.Contains(q.words, noun) })
}

// able tells a word that the description of a switch alone has, behind a word such as "can"
// that it has too: "it can still drive" of what says whether the car can be driven.
func (r *vicinity) able(p *param, i int) (first, last int, ok bool) {
	t := r.doc.Tokens[i]
	if r.set.tools.Lexicon.Light(t.Fold) || t.Named() || t.Break || !p.describes(t.Fold, t.Stem) {
		return 0, 0, false
	}
	for j := i - 1; j >= r.from && j >= i-negationReach; j-- {
		may := r.doc.Tokens[j]
		modal := may.Has(lang.Finite) && p.own[may.Stem]
		for w := range p.own {
			modal = modal || cues.Negates(may.Fold) && strings.HasPrefix(may.Fold, w) // "cannot"
		}
		switch {
		case modal:
			return j, i, true
		case may.Break || !r.set.tools.Lexicon.Light(may.Fold):
			return 0, 0, false
		}
	}
	return 0, 0, false
}

// describes tells a word that the description of a parameter alone has, in a form of a
// letter or two less at most: the "drive" of "driven".
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

// switchWords leaves out the words that only make a name a question.
func switchWords(words []string) []string {
	for len(words) > 1 && slices.Contains([]string{"is", "has", "be", "with", "includ", "show", "should", "enabl", "do", "use", "allow", "want", "need", "get", "return"}, words[0]) {
		words = words[1:]
	}
	return words
}
