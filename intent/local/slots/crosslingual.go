package slots

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// CrossLingualMatcher replaces words of a language that a domain does not have by the
// nearest words that it has, by their vectors: "den Raum" is read as "room" where rooms are
// asked for in English alone. Operators, numbers, dates, names and quotations are never
// replaced, so what holds a request back is never lost. It must not be shared by
// goroutines.
type CrossLingualMatcher struct {
	m       *Message
	lexicon *tokenize.Lexicon
	encode  func(string) []float32
	// read are the message as each capability reads it; nil where it stands as it is.
	read map[int32]*MatchedMessage
	// vectors are those of the words, similarities how like they are to those of each
	// glossary.
	vectors      map[int][]float32
	similarities map[similarityKey][]float64
}

// similarityKey is a word of the message before a glossary.
type similarityKey struct {
	glossary *Glossary
	token    int
}

// NewCrossLingualMatcher makes a matcher for one message. encode gives the vector of a
// word, nil for none.
func NewCrossLingualMatcher(m *Message, lexicon *tokenize.Lexicon, encode func(string) []float32) *CrossLingualMatcher {
	return &CrossLingualMatcher{m: m, lexicon: lexicon, encode: encode, read: map[int32]*MatchedMessage{}, vectors: map[int][]float32{}, similarities: map[similarityKey][]float64{}}
}

// MatchedMessage is a message in the words of a capability.
type MatchedMessage struct {
	*Message

	words map[int]bool
}

// At reports whether the word that begins at a byte was read as another one.
func (m *MatchedMessage) At(start int) bool {
	at := slices.IndexFunc(m.Tokens, func(t tokenize.Token) bool { return t.Start == start })
	return at >= 0 && m.words[at]
}

// MatchTarget is the capability that words are matched to, with the glossary of its domain.
type MatchTarget struct {
	Capability int32
	// Glossary are the words of its domain, Spoken the languages of it, by their places
	// among the lexica.
	Glossary  *Glossary
	Languages map[int]bool
	// Writes tells that it has an effect.
	Writes bool
	// Aliased tells a word of an alias of its values, which is read as it stands.
	Aliased func(tokenize.Token) bool
}

// hardlySpoken is how sure it is at most that words are in a language of a domain.
const hardlySpoken = 0.4

// IsForeignWord reports whether a word stands in a sentence of a language that the domain
// does not have; false where the languages of the domain are unknown.
func IsForeignWord(m *Message, spoken map[int]bool, i int) bool {
	if len(spoken) == 0 {
		return false
	}
	known := 0.0
	for language, p := range m.Languages.At(i) {
		if spoken[language] {
			known += p
		}
	}
	return known <= hardlySpoken
}

// surelyMeant is how like a value must be for what has an effect, from 0 to 1.
const surelyMeant = 0.74

// For gives the message as a capability reads it; false where it reads it as it stands.
func (r *CrossLingualMatcher) For(e MatchTarget) (*MatchedMessage, bool) {
	if e.Glossary == nil {
		return nil, false
	}
	out, ok := r.read[e.Capability]
	if !ok {
		out = r.match(e)
		r.read[e.Capability] = out
	}
	return out, out != nil
}

func (r *CrossLingualMatcher) match(e MatchTarget) *MatchedMessage {
	out := &MatchedMessage{words: map[int]bool{}}
	tokens := slices.Clone(r.m.Tokens)
	for i, t := range tokens {
		if !IsForeignWord(r.m, e.Languages, i) || !r.open(i) || e.Aliased != nil && e.Aliased(t) {
			continue
		}
		kin := r.lexicon.Kin(t.Fold)
		if i > 0 && tokens[i-1].Has(lexicon.Article) {
			kin = 0 // "die Buchung" is no verb
		}
		word, like, ok := e.Glossary.Nearest(e.Capability, r.similaritiesTo(e.Glossary, i), func(w GlossaryEntry) bool { return kin == 0 || kin&r.lexicon.Kin(w.Fold) != 0 })
		if !ok || e.Writes && word.Kind == EntryValue && like < surelyMeant {
			continue
		}
		tokens[i] = t.Respelled(word.Fold)
		tokens[i].Form &^= tokenize.FormTitle
		out.words[i] = true
	}
	if len(out.words) == 0 {
		return nil
	}
	doc, m := *r.m.Doc, *r.m
	doc.Tokens = tokens
	m.Doc, m.Entities = &doc, slices.Clone(m.Entities)
	for k, entity := range m.Entities {
		if next := entity.Last + 1; out.words[next] && entity.Unit == r.m.Tokens[next].Stem {
			m.Entities[k].Unit = tokens[next].Stem // "5 pessoas" counts people
		}
	}
	out.Message = &m
	return out
}

// similaritiesTo tells how like a word is to those of a glossary; nil if it has no vector.
func (r *CrossLingualMatcher) similaritiesTo(g *Glossary, i int) []float64 {
	at := similarityKey{g, i}
	similarities, ok := r.similarities[at]
	if ok {
		return similarities
	}
	v, known := r.vectors[i]
	if !known {
		v = r.encode(r.m.Src[r.m.Tokens[i].Start:r.m.Tokens[i].End])
		r.vectors[i] = v
	}
	if len(v) > 0 {
		similarities = g.Similarities(v)
	}
	r.similarities[at] = similarities
	return similarities
}

// shortestMatched is how many letters a word has at least that is read as another.
const shortestMatched = 3

// open tells a word that may be read as another one.
func (r *CrossLingualMatcher) open(i int) bool {
	t := r.m.Tokens[i]
	if t.Is(tokenize.FormQuoted|tokenize.FormDigits|tokenize.FormMixed|tokenize.FormCaps|tokenize.FormSign) || r.lexicon.StopWord(t.Fold) || t.Has(lexicon.Value) || len(t.Fold) < shortestMatched || tokenize.Humps(r.m.Src[t.Start:t.End]) != nil {
		return false
	}
	for c := lexicon.Negation; c <= lexicon.Switches; c++ {
		if t.Has(c) {
			return false // what holds a request back is read as it stands
		}
	}
	if slices.ContainsFunc(r.m.Entities, func(e values.Entity) bool { return e.First <= i && i <= e.Last }) {
		return false
	}
	return !r.named(i) && !r.operates(i)
}

// named tells a word that is written as names are, in a language that does not write
// every noun so.
func (r *CrossLingualMatcher) named(i int) bool {
	t, mix := r.m.Tokens[i], r.m.Languages.At(i)
	return t.Is(tokenize.FormTitle) && !t.Is(tokenize.FormFirst) &&
		!slices.ContainsFunc(r.m.Languages.Order(i), func(n int) bool { return r.lexicon.Languages[n].Capitalises && mix.Likely(n) })
}

// longestOperator is how many words an operator is looked for over.
const longestOperator = 4

// operates tells a word that belongs to an operator, such as "except".
func (r *CrossLingualMatcher) operates(i int) bool {
	for from := max(0, i-longestOperator+1); from <= i; from++ {
		if hit, ok := lexicon.Find(&r.lexicon.Operators, r.m.Tokens, from); ok && from+hit.Tokens > i {
			return true
		}
	}
	return false
}
