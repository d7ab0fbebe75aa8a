package slots

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// phrase is a known value: an alias, an enum member or an example.
type phrase struct {
	words []string
	param *param
	value any
	kind  string
	p     float64
}

// spokenValue identifies a known value while the set is compiled.
type spokenValue struct {
	param *param
	words string
}

// The kinds of evidence for a value.
const (
	kindAlias   = "alias"
	kindEnum    = "enum"
	kindExample = "example"
	kindPattern = "pattern"
	kindShape   = "shape"
	kindNumber  = "number"
	kindDate    = "date"
	kindTime    = "time"
	kindPeriod  = "duration"
	kindAddress = "address"
	kindQuoted  = "quoted"
	kindKeyed   = "key_value"
	kindBoolean = "boolean"
	kindName    = "name"
	kindContext = "context"
	kindPhrase  = "phrase"
	kindAnswer  = "answer"
)

// compilePhrases collects the known values, those with the best evidence first.
func (s *Set) compilePhrases(c *contracts.Capability, family *Family) {
	s.spoken, s.aliased = map[spokenValue]bool{}, map[string]bool{}
	defer func() { s.spoken = nil }()
	for _, p := range s.params {
		specs := []contracts.ParameterSpec{c.Metadata.ParameterSpecs[p.single], c.Metadata.ParameterSpecs[p.list]}
		for _, spec := range specs {
			for _, spoken := range sortedKeys(spec.Aliases) {
				s.addPhrase(spoken, p, spec.Aliases[spoken], kindAlias, 0.95)
				s.addWithoutStopWords(spoken, p, spec.Aliases[spoken])
				for _, w := range tokenize.Phrase(spoken) {
					s.aliased[w] = s.aliased[w] || !s.tools.Lexicon.StopWord(w)
				}
			}
		}
		for _, v := range p.enum {
			if word, ok := v.(string); ok {
				s.addPhrase(word, p, v, kindEnum, 0.9)
				s.addPhrase(tokenize.SplitName(word), p, v, kindEnum, 0.88)
			}
		}
		for i, label := range p.labels {
			if i < len(p.enum) && label != "" {
				s.addPhrase(label, p, p.enum[i], kindEnum, 0.9)
			}
		}
		for _, spec := range specs {
			s.addExamples(p, spec)
		}
		s.addListed(p)
	}
	family.learn(s, c)
	for _, first := range sortedKeys(s.phrases) {
		slices.SortStableFunc(s.phrases[first], func(a, b phrase) int { return len(b.words) - len(a.words) })
		s.addFuzzy(s.phrases[first])
	}
}

// addWithoutStopWords adds a known value of several words without its leading stop words: "picked
// up" for "to be picked up".
func (s *Set) addWithoutStopWords(spoken string, p *param, v any) {
	words := tokenize.Tokens(spoken)
	for len(words) > 2 && s.tools.Lexicon.StopWord(words[0].Fold) && !words[0].Has(lexicon.Negation) && !words[0].Has(lexicon.Lacking) {
		words = words[1:]
		if !s.tools.Lexicon.StopWord(words[0].Fold) {
			s.addPhrase(spoken[words[0].Start:], p, v, kindAlias, 0.9)
		}
	}
}

func (s *Set) addExamples(p *param, spec contracts.ParameterSpec) {
	if p.kind != "string" || p.temporal() {
		return
	}
	for _, v := range FlattenLists(spec.Examples) {
		if word, ok := v.(string); ok {
			s.addPhrase(word, p, v, kindExample, 0.88)
		}
	}
}

// addListed adds the values that the description lists.
func (s *Set) addListed(p *param) {
	if !p.free() || p.pattern != nil {
		return
	}
	for _, v := range p.listed {
		s.addPhrase(v, p, v, kindExample, 0.78)
		if place, state, ok := strings.Cut(v, ", "); ok && IsStateCode(state) {
			s.addPhrase(place, p, v, kindExample, 0.78) // a place without its state
		}
	}
}

// addFuzzy records the long single words that are matched with one misspelled letter.
func (s *Set) addFuzzy(phrases []phrase) {
	for _, ph := range phrases {
		if len(ph.words) == 1 && len(ph.words[0]) >= 5 && ph.kind != kindExample {
			s.fuzzy = append(s.fuzzy, ph)
		}
	}
}

func (s *Set) addPhrase(spoken string, p *param, v any, kind string, prob float64) {
	words := tokenize.Phrase(spoken)
	if len(words) == 0 || len(words) > 12 {
		return
	}
	if len(words) == 1 && kind != kindAlias && s.tools.Lexicon.StopWord(words[0]) && (kind != kindEnum || !s.tools.Lexicon.Filler(words[0])) {
		return // words such as "in" and "all" occur in any sentence
	}
	key := spokenValue{p, strings.Join(words, " ")}
	if s.spoken[key] {
		return
	}
	s.spoken[key] = true
	s.phrases[words[0]] = append(s.phrases[words[0]], phrase{words: words, param: p, value: v, kind: kind, p: prob})
}

// known adds the known values that begin at token i.
func (r *reading) known(i int) {
	t := r.doc.Tokens[i]
	found := false
	for _, key := range []string{t.Fold, t.Stem} {
		for _, ph := range r.set.phrases[key] {
			if !r.try(1) {
				return
			}
			if last, ok := matches(r.scope, ph, i); ok && !r.wording.InsideCode(i, last) && !r.wording.InsideQuotation(i, last) && (ph.kind != kindExample || !r.insideName(ph.param, i, last)) && !r.wording.CalledSo(i, last) {
				found = true
				r.add(mention{param: ph.param, first: i, last: last, value: ph.value, kind: ph.kind, p: ph.p})
			}
		}
		if t.Fold == t.Stem {
			break
		}
	}
	if !found {
		r.misspelled(i)
	}
}

// insideName reports whether a known example is part of a longer name: "Ana Souza Lima" is not Ana
// Souza.
func (r *reading) insideName(p *param, first, last int) bool {
	if !p.resolver || !r.doc.Tokens[last].Is(tokenize.FormTitle) {
		return false
	}
	next := last + 1
	if next < r.to && !r.doc.Tokens[next].Break && (r.spelling.NameWord(next) && !r.near.begins(p, next) || r.spelling.DigitsOfName(next)) {
		return true
	}
	if at, ok := r.spelling.OverParticles(first, last); ok && !r.near.begins(p, at) {
		return true
	}
	before := first - 1
	return before >= r.from && !r.doc.Tokens[first].Break && !r.doc.Tokens[before].Is(tokenize.FormFirst) && !r.spelling.Noun(before, before) && r.spelling.NameWord(before) && !r.endsKnown(p, before)
}

// begins reports whether another known value of a parameter begins at a token; endsKnown whether
// one ends there.
func (r *vicinity) begins(p *param, i int) bool {
	return slices.ContainsFunc(r.set.phrases[r.doc.Tokens[i].Fold], func(ph phrase) bool {
		_, ok := matches(r.scope, ph, i)
		return ok && ph.param == p
	})
}

func (r *reading) endsKnown(p *param, i int) bool {
	return slices.ContainsFunc(r.mentions, func(m mention) bool { return m.param == p && m.last == i })
}

func matches(r *scope, ph phrase, i int) (last int, ok bool) {
	if i+len(ph.words) > r.to {
		return 0, false
	}
	for k, w := range ph.words {
		t := r.doc.Tokens[i+k]
		if t.Fold != w && (len(w) < minInflectedLength(ph.kind) || t.Stem != w) || k > 0 && t.Break && !t.Glued {
			return 0, false
		}
	}
	return i + len(ph.words) - 1, true
}

// minInflectedLength returns the minimum length of a known value that is matched in its inflections:
// "vans" for the listed value "van".
func minInflectedLength(kind string) int {
	if kind == kindEnum {
		return 3
	}
	return 4
}

// inName reports whether a token is part of a name of several words: in "Petra Lang" the first
// word is no misspelling of "perra".
func (r *reading) inName(i int) bool {
	last, ok := r.spelling.Capitals(i)
	if !ok || last == i && i > r.from && !r.doc.Tokens[i].Break {
		last, ok = r.spelling.Capitals(max(r.from, i-1))
		return ok && last >= i
	}
	return last > i
}

// misspelled adds a known value for a long unknown word with one wrong letter.
func (r *reading) misspelled(i int) {
	t := r.doc.Tokens[i]
	if len(t.Fold) < 5 || r.inName(i) || r.set.Knows(t) || r.set.tools.Lexicon.StopWord(t.Fold) || t.Is(tokenize.FormDigits|tokenize.FormMixed) {
		return
	}
	for _, ph := range r.set.fuzzy {
		if !r.try(1) {
			return
		}
		if NearSpelling(t.Fold, ph.words[0]) {
			r.add(mention{param: ph.param, first: i, last: i, value: ph.value, kind: ph.kind, p: 0.75})
		}
	}
}

// enumNumber returns the member of a numeric enum.
func (p *param) enumNumber(n float64) (any, bool) {
	for _, v := range p.enum {
		switch v := v.(type) {
		case float64:
			if v == n {
				return v, true
			}
		case json.Number:
			if f, err := strconv.ParseFloat(string(v), 64); err == nil && f == n {
				return v, true
			}
		}
	}
	return nil, false
}

// IsCertain reports whether evidence is unambiguous: a listed value, an identifier, a keyed value,
// or a name where the examples have one.
func IsCertain(ev contracts.Evidence) bool {
	switch ev.Kind {
	case kindAlias, kindEnum, kindExample, kindPattern, kindShape, kindKeyed, kindName:
		return ev.P >= 0.8
	}
	return false
}

// IsListedValue reports whether the value is listed in the manifest.
func IsListedValue(ev contracts.Evidence) bool {
	return ev.Kind == kindAlias || ev.Kind == kindEnum || ev.Kind == kindExample
}

// IsTypedValue reports whether the value is a number, a date or a listed value.
func IsTypedValue(ev contracts.Evidence) bool {
	return ev.Kind == kindDate || ev.Kind == kindPeriod || ev.Kind == kindNumber || IsListedValue(ev) || ev.Kind == kindShape || ev.Kind == kindPattern
}

// IsFreeText reports whether the value is free text.
func IsFreeText(ev contracts.Evidence) bool {
	return ev.Kind == kindName || ev.Kind == kindPhrase || ev.Kind == kindContext
}
