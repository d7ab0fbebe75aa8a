package slots

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// CrossLingualMatcher replaces words of a language that a domain does not support with their
// nearest neighbours among the words of the domain, by embeddings: "den Raum" is read as "room"
// where the manifest is English only. It never replaces operators, numbers, dates, names or
// quotations, so a negation or condition is never lost. It is not safe for concurrent use.
type CrossLingualMatcher struct {
	m       *Message
	lexicon *tokenize.Lexicon
	encode  func(string) []float32
	// read caches the matched message per capability; nil if no word was replaced.
	read map[int32]*MatchedMessage
	// vectors caches the embedding per token, similarities the cosine similarities per glossary
	// and token.
	vectors      map[int][]float32
	similarities map[similarityKey][]float64
}

// similarityKey identifies a cached token-to-glossary similarity.
type similarityKey struct {
	glossary *Glossary
	token    int
}

// NewCrossLingualMatcher returns a matcher for one message. encode returns the embedding of a
// word, or nil.
func NewCrossLingualMatcher(m *Message, lexicon *tokenize.Lexicon, encode func(string) []float32) *CrossLingualMatcher {
	return &CrossLingualMatcher{m: m, lexicon: lexicon, encode: encode, read: map[int32]*MatchedMessage{}, vectors: map[int][]float32{}, similarities: map[similarityKey][]float64{}}
}

// MatchedMessage is a message with words replaced by those of a capability.
type MatchedMessage struct {
	*Message

	words map[int]bool
}

// At reports whether the token that begins at a byte offset was replaced.
func (m *MatchedMessage) At(start int) bool {
	at := slices.IndexFunc(m.Tokens, func(t tokenize.Token) bool { return t.Start == start })
	return at >= 0 && m.words[at]
}

// MatchTarget is the capability that words are matched to, with the glossary of its domain.
type MatchTarget struct {
	Capability int32
	// Glossary holds the words of the domain. Languages are the indexes of its languages in the
	// lexica.
	Glossary  *Glossary
	Languages map[int]bool
	// Writes reports whether the capability has side effects.
	Writes bool
	// Aliased reports whether a token belongs to an alias, which is never replaced.
	Aliased func(tokenize.Token) bool
}

// maxForeignShare is the maximum probability that a word is in a language of the domain for it to
// count as foreign.
const maxForeignShare = 0.4

// IsForeignWord reports whether a token is in a language that the domain does not support. It
// returns false if the languages of the domain are unknown.
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
	return known <= maxForeignShare
}

// minWriteSimilarity is the minimum similarity of a value in a write.
const minWriteSimilarity = 0.74

// For returns the message in the words of a capability; false if no word was replaced.
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
		if !IsForeignWord(r.m, e.Languages, i) || !r.replaceable(i) || e.Aliased != nil && e.Aliased(t) {
			continue
		}
		kin := r.lexicon.Kin(t.Fold)
		if i > 0 && tokens[i-1].Has(lexicon.Article) {
			kin = 0 // a noun such as "die Buchung" is no verb
		}
		word, like, ok := e.Glossary.Nearest(e.Capability, r.similaritiesTo(e.Glossary, i), func(w GlossaryEntry) bool { return kin == 0 || kin&r.lexicon.Kin(w.Fold) != 0 })
		if !ok || e.Writes && word.Kind == EntryValue && like < minWriteSimilarity {
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

// similaritiesTo returns the similarity of a token to each word of a glossary, or nil if it has no
// embedding.
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

// shortestMatched is the minimum length of a word that may be replaced.
const shortestMatched = 3

// replaceable reports whether a token may be replaced.
func (r *CrossLingualMatcher) replaceable(i int) bool {
	t := r.m.Tokens[i]
	if t.Is(tokenize.FormQuoted|tokenize.FormDigits|tokenize.FormMixed|tokenize.FormCaps|tokenize.FormSign) || r.lexicon.StopWord(t.Fold) || t.Has(lexicon.Value) || len(t.Fold) < shortestMatched || tokenize.Humps(r.m.Src[t.Start:t.End]) != nil {
		return false
	}
	for c := lexicon.Negation; c <= lexicon.Switches; c++ {
		if t.Has(c) {
			return false // negations, conditions and the like are never replaced
		}
	}
	if slices.ContainsFunc(r.m.Entities, func(e values.Entity) bool { return e.First <= i && i <= e.Last }) {
		return false
	}
	return !r.isName(i) && !r.inOperator(i)
}

// isName reports whether a token is written as a name, in a language that does not capitalise all
// nouns.
func (r *CrossLingualMatcher) isName(i int) bool {
	t, mix := r.m.Tokens[i], r.m.Languages.At(i)
	return t.Is(tokenize.FormTitle) && !t.Is(tokenize.FormFirst) &&
		!slices.ContainsFunc(r.m.Languages.Order(i), func(n int) bool { return r.lexicon.Languages[n].Capitalises && mix.Likely(n) })
}

// longestOperator is the maximum length of an operator in tokens.
const longestOperator = 4

// inOperator reports whether a token belongs to an operator such as "except".
func (r *CrossLingualMatcher) inOperator(i int) bool {
	for from := max(0, i-longestOperator+1); from <= i; from++ {
		if hit, ok := lexicon.Find(&r.lexicon.Operators, r.m.Tokens, from); ok && from+hit.Tokens > i {
			return true
		}
	}
	return false
}
