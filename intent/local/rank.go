package local

import (
	"cmp"
	"math"
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/retrieve"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// The weights of the parts of the score, relative to the centroid similarity: BM25 over the
// document, and the most similar single sentence.
const (
	shareBM25 = 0.5
	shareBest = 0.6
	// With trained weights single sentences count less.
	shareBestTrained = 0.4
	shareName        = 0.3 // the message names the domain
	// The weights of the embedding similarity to the capability and to its most similar example.
	shareMeant = 2.0
	shareAlike = 0.2
)

// shortlist is the number of capabilities that are compared sentence by sentence.
const shortlist = 50

// hitSharpness is the inverse temperature of the softmax over the hits.
const hitSharpness = 20

// hit is a capability with its scores.
type hit struct {
	number   int32
	centroid float64
	best     float64           // similarity to the nearest sentence
	against  float64           // similarity to the nearest hard negative
	modality modality.Modality // of the nearest sentence
	claim    float64           // centroid similarity, or at most 0 if the verb is of another kind
	softmax  float64           // softmax of the claims
	rival    float64           // highest claim of the others
	amount   float64           // BM25 score
	outside  float64           // relative lead of the best capability that is not allowed
	exact    bool
	score    float64
	// Embedding similarity to the capability and to its nearest example, and the softmax over the
	// hits.
	meant, alike, meantShare float64
}

// vector is a request as features of the index.
type vector struct {
	features []int32 // words, then character n-grams
	words    int
	wordNorm float32
	charNorm float32
	terms    []int32
}

// scratch is the working memory of one search.
type scratch struct {
	vector []float32 // by capability
	bm25   []float32
	meant  []float32 // embedding similarity by capability; empty without an embedding
	marks  []uint32  // by feature: the round in which the request had it
	round  uint32
}

func (x *Index) newScratch() *scratch {
	return &scratch{
		vector: make([]float32, len(x.caps)), bm25: make([]float32, len(x.caps)), marks: make([]uint32, len(x.words.idf)),
	}
}

// mark marks the features of a request.
func (s *scratch) mark(features []int32) {
	s.round++
	if s.round == 0 {
		clear(s.marks)
		s.round = 1
	}
	for _, id := range features {
		s.marks[id] = s.round
	}
}

func (x *wording) vectorOf(tokens []tokenize.Token) vector {
	f := tokenize.FeaturesOf(x.respelled(tokens), x.values)
	var v vector
	for _, h := range f.Words {
		if id, ok := x.features[h]; ok && x.idf[id] > 0 {
			v.features = append(v.features, id)
		}
	}
	v.words = len(v.features)
	for _, h := range f.Chars {
		if id, ok := x.features[h]; ok && x.idf[id] > 0 {
			v.features = append(v.features, id)
		}
	}
	for _, h := range f.Terms {
		if id, ok := x.features[h]; ok {
			v.terms = append(v.terms, id)
		}
	}
	v.wordNorm = x.inverseNorm(v.features[:v.words])
	v.charNorm = x.inverseNorm(v.features[v.words:])
	return v
}

// likelier is the minimum frequency ratio of a correction to the next best one.
const likelier = 4

// maxRespelled limits how many words of a text are spell-checked.
const maxRespelled = 128

// respelled corrects unknown words within one edit of a known word. It is used for ranking only;
// token roles use the original spelling.
func (x *wording) respelled(tokens []tokenize.Token) []tokenize.Token {
	var out []tokenize.Token
	for i, t := range tokens {
		if i >= maxRespelled || !tokenize.Spellable(t) {
			continue
		}
		if x.has(t) {
			continue
		}
		if w, ok := x.meant(t.Fold); ok {
			if out == nil {
				out = slices.Clone(tokens)
			}
			out[i] = t.Respelled(w)
		}
	}
	if out == nil {
		return tokens
	}
	return out
}

// repairSpelling corrects misspelled words by the words of the catalog. Values keep their
// spelling.
func (x *wording) repairSpelling(lexicon *tokenize.Lexicon, d *values.Doc) {
	tokens := d.Tokens
	for i, t := range tokens[:min(len(tokens), maxRespelled)] {
		if x.has(t) || !tokenize.IsPlainWord(tokens, i) {
			continue
		}
		if w, ok := tokenize.ExpandShorthand(lexicon, d.Tokens, d.Languages, i, x.has); ok {
			tokens[i] = t.Respelled(w)
			continue
		}
		if !tokenize.IsRepairable(lexicon, t) {
			continue
		}
		if w, ok := x.meant(t.Fold); ok {
			tokens[i] = t.Respelled(w)
		}
	}
}

// has reports whether some capability has a word.
func (x *wording) has(t tokenize.Token) bool {
	_, known := x.features[tokenize.WordFeature(t.Stem)]
	return known
}

// meant returns the correction of a misspelled word, if it is unambiguous.
func (x *wording) meant(fold string) (string, bool) {
	best, first, second := "", float32(math.MaxFloat32), float32(math.MaxFloat32)
	for _, s := range x.spellers {
		for _, w := range s.Near(fold) {
			id, ok := x.features[tokenize.WordFeature(tokenize.Token{}.Respelled(w).Stem)]
			if !ok {
				continue
			}
			switch rare := x.idf[id]; {
			case rare < first:
				best, first, second = w, rare, first
			case w != best:
				second = min(second, rare)
			}
		}
	}
	return best, best != "" && second-first >= float32(math.Log(likelier))
}

// search ranks the allowed capabilities for a run of tokens, and by an embedding if means is not
// empty.
func (x *Index) search(tokens []tokenize.Token, means []float32, allowed func(*indexed) bool) []hit {
	s, ok := x.scratch.Get().(*scratch)
	if !ok {
		s = x.newScratch()
	}
	defer x.scratch.Put(s)
	v := x.words.vectorOf(tokens)
	x.score(s, v)
	x.embeddings.score(s, means)
	hits, outside := x.firstStage(s, allowed)
	setClaims(x, hits, tokens)
	compare(hits, outside)
	x.secondStage(s, hits, v)
	x.embeddings.compare(hits, means)
	x.named(hits, tokens)
	x.markExact(&hits, tokens, allowed)
	sortHits(hits)
	return hits
}

// score computes the similarity of every capability to a request.
func (x *Index) score(s *scratch, v vector) {
	clear(s.vector)
	clear(s.bm25)
	for k, id := range v.features {
		w := x.words.idf[id] * v.wordNorm / 2
		if k >= v.words {
			w = x.words.idf[id] * v.charNorm / 2
		}
		for _, m := range x.vectors {
			caps, weights := m.Row(id)
			for i, number := range caps {
				s.vector[number] += float32(w * weights[i])
			}
		}
	}
	for _, id := range v.terms {
		for _, m := range x.bm25 {
			caps, weights := m.Row(id)
			for i, number := range caps {
				s.bm25[number] += weights[i]
			}
		}
	}
}

// place is a capability with its first-stage score.
type place struct {
	number int32
	score  float64
}

// firstStage returns the best capabilities by centroid and BM25, and the score of the best one
// that is not allowed.
func (x *Index) firstStage(s *scratch, allowed func(*indexed) bool) ([]hit, float64) {
	var top float32
	for _, b := range s.bm25 {
		top = max(top, b)
	}
	kept := make([]place, 0, shortlist+1)
	floor, outside := 0.0, 0.0
	for number, c := range x.caps {
		score := float64(s.vector[number])
		if top > 0 {
			score += shareBM25 * float64(s.bm25[number]/top)
		}
		if len(s.meant) > 0 {
			score += shareMeant * float64(s.meant[number])
		}
		// Check the permission last: most capabilities score too low anyway.
		if score <= floor || c == nil {
			continue
		}
		if !allowed(c) {
			outside = max(outside, score)
			continue
		}
		at, _ := slices.BinarySearchFunc(kept, score, func(p place, score float64) int { return cmp.Or(cmp.Compare(score, p.score), -1) })
		if kept = slices.Insert(kept, at, place{c.number, score}); len(kept) > shortlist {
			kept = kept[:shortlist]
			floor = kept[shortlist-1].score
		}
	}
	hits := make([]hit, len(kept), len(kept)+1)
	for i, p := range kept {
		hits[i] = hit{number: p.number, centroid: float64(s.vector[p.number]), score: p.score, amount: float64(s.bm25[p.number])}
	}
	return hits, outside
}

// setClaims sets the claim of each hit, its centroid score. If a command begins with a verb of
// showing, a write without such a verb has no claim. If it begins with a removing verb of another
// hit, a capability without a verb of that kind has none.
func setClaims(x *Index, hits []hit, tokens []tokenize.Token) {
	kin := modality.CommandKinds(x.tools.Lexicon, tokens)
	sameKind := func(h hit) bool { return x.caps[h.number].kinds&kin != 0 }
	looks, takes := kin == lexicon.KindOf("show"), kin&(lexicon.KindOf("delete")|lexicon.KindOf("cancel")|lexicon.KindOf("copy")) != 0 && slices.ContainsFunc(hits, sameKind)
	for i := range hits {
		h := &hits[i]
		h.claim = h.centroid
		if !sameKind(*h) && (takes || looks && x.caps[h.number].entry.Policy.SideEffectClass.Writes()) {
			h.claim = min(h.claim, 0)
		}
	}
	if takes {
		dropOtherObjects(x, hits, kin, modality.CommandObject(x.tools.Lexicon, tokens))
	}
}

// dropOtherObjects removes the claim of hits with the right verb but another object, if some hit
// has both: "delete the chatflow" deletes none of its messages.
func dropOtherObjects(x *Index, hits []hit, kin lexicon.Kinds, object []tokenize.Token) {
	if !slices.ContainsFunc(hits, func(h hit) bool { c := x.caps[h.number]; return c.kinds&kin != 0 && c.actions.DoneTo(object) }) {
		return
	}
	for i := range hits {
		h := &hits[i]
		if c := x.caps[h.number]; c.kinds&kin != 0 && len(c.actions) > 0 && !c.actions.DoneTo(object) {
			h.claim, h.score = min(h.claim, 0), h.score-h.centroid
		}
	}
}

// compare sets the rank features of each hit relative to the others and to the capabilities that
// are not allowed.
func compare(hits []hit, outside float64) {
	var first, second, sum float64
	for _, h := range hits {
		if h.claim > first {
			first, second = h.claim, first
		} else {
			second = max(second, h.claim)
		}
	}
	for _, h := range hits {
		sum += math.Exp(hitSharpness * (h.claim - first))
	}
	for i := range hits {
		h := &hits[i]
		h.outside = max(0, outside-h.score) / max(outside, h.score)
		h.softmax, h.rival = math.Exp(hitSharpness*(h.claim-first))/sum, first
		if h.claim == first {
			h.rival = second
		}
	}
}

// secondStage computes the similarity to single sentences.
func (x *Index) secondStage(in *scratch, hits []hit, v vector) {
	in.mark(v.features)
	for i := range hits {
		h := &hits[i]
		c := x.caps[h.number]
		for d := c.firstDoc; d < c.lastDoc; d++ {
			s := &x.docs[d]
			like := x.words.likeness(s, v, in)
			if d >= c.firstNot {
				h.against = max(h.against, like)
			} else if like > h.best {
				h.best, h.modality = like, s.modality
			}
		}
		h.score += x.shareBest * h.best
		if h.against > h.best {
			h.score -= x.shareBest * h.against
		}
	}
}

// likeness returns the mean of the cosine similarities over words and over character n-grams.
func (x *wording) likeness(s *sentence, v vector, in *scratch) float64 {
	var words, chars float32
	for _, id := range s.features[:s.words] {
		if in.marks[id] == in.round {
			words += x.idf[id] * x.idf[id]
		}
	}
	for _, id := range s.features[s.words:] {
		if in.marks[id] == in.round {
			chars += x.idf[id] * x.idf[id]
		}
	}
	return float64(words*s.wordNorm*v.wordNorm+chars*s.charNorm*v.charNorm) / 2
}

// named raises the capabilities of a domain that the message names. A capability of another domain
// that uses this name as a word is raised too, since the name is not distinctive then.
func (x *Index) named(hits []hit, tokens []tokenize.Token) {
	for d, domain := range x.domains {
		phrase, ok := domain.in(tokens)
		if !ok {
			continue
		}
		terms := x.words.vectorOf(phrase).terms
		for i := range hits {
			if x.caps[hits[i].number].domain == int32(d) || len(terms) > 0 && x.uses(hits[i].number, terms) {
				hits[i].score += shareName
			}
		}
	}
}

// uses reports whether the document of a capability has all words.
func (x *Index) uses(number int32, terms []int32) bool {
	return !slices.ContainsFunc(terms, func(id int32) bool {
		return !slices.ContainsFunc(x.bm25, func(m retrieve.Matrix) bool { return m.Has(id, number) })
	})
}

// in returns the tokens that name the domain.
func (d domainName) in(tokens []tokenize.Token) ([]tokenize.Token, bool) {
	for _, phrase := range d.phrases {
		for i := 0; i+len(phrase) <= len(tokens); i++ {
			k := 0
			for k < len(phrase) && tokens[i+k].Fold == phrase[k] {
				k++
			}
			if k == len(phrase) {
				return tokens[i : i+k], true
			}
		}
	}
	return nil, false
}

// markExact marks the capabilities with an example or a name that equals the text.
func (x *Index) markExact(hits *[]hit, tokens []tokenize.Token, allowed func(*indexed) bool) {
	for _, number := range x.exactMatches(tokens) {
		if c := x.caps[number]; c == nil || !allowed(c) {
			continue
		}
		at := slices.IndexFunc(*hits, func(h hit) bool { return h.number == number })
		if at < 0 {
			*hits = append(*hits, hit{number: number})
			at = len(*hits) - 1
		}
		(*hits)[at].exact = true
		(*hits)[at].score++
	}
}

func sortHits(hits []hit) {
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.number, b.number))
	})
}
