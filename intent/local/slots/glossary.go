package slots

import (
	"strings"

	"github.com/manifold-run/manifold/intent/local/retrieve"
)

// Glossary holds the request words of the capabilities of one domain, with their embeddings. It is
// immutable.
type Glossary struct{ entries []GlossaryEntry }

// GlossaryEntry is a folded word of a glossary.
type GlossaryEntry struct {
	Fold   string
	Vector retrieve.CompactVector
	// Kind is what the word stands for; Of holds the capabilities that use it.
	Kind EntryKind
	Of   map[int32]bool
}

// NewGlossary returns a glossary of the entries that have an embedding.
func NewGlossary(entries []GlossaryEntry) *Glossary {
	g := &Glossary{}
	for _, e := range entries {
		if !e.Vector.Empty() {
			g.entries = append(g.entries, e)
		}
	}
	return g
}

// Thresholds of cosine similarity for a cross-lingual match.
//
// minWordSimilarity is the minimum for a request word, minValueSimilarity for a value, where nothing else would
// show a wrong match. rivalMargin is how much nearer another word of the domain may be without
// being meant instead, unless it is a form of the same word (a similarity of sameWordSimilarity or more).
// valueMargin is the lead that a value needs over other values.
const (
	minWordSimilarity  = 0.66
	rivalMargin        = 0.05
	minValueSimilarity = 0.7
	valueMargin        = 0.1
	sameWordSimilarity = 0.85
)

// Similarities returns the cosine similarity of an embedding to each entry.
func (g *Glossary) Similarities(v []float32) []float64 {
	out := make([]float64, len(g.entries))
	for i, e := range g.entries {
		out[i] = e.Vector.Similarity(v)
	}
	return out
}

// Nearest returns the nearest accepted word of a capability and its similarity. It returns false
// if no word is near enough, or if another word of the domain is nearer.
func (g *Glossary) Nearest(capability int32, similarities []float64, fits func(GlossaryEntry) bool) (GlossaryEntry, float64, bool) {
	best := -1
	for i, e := range g.entries[:min(len(g.entries), len(similarities))] {
		if e.Of[capability] && fits(e) && (best < 0 || similarities[i] > similarities[best]) {
			best = i
		}
	}
	if best < 0 || similarities[best] < minWordSimilarity || g.entries[best].Kind == EntryAmbiguous || g.entries[best].Kind == EntryValue && similarities[best] < minValueSimilarity {
		return GlossaryEntry{}, 0, false
	}
	is := g.entries[best].Vector.Unpack()
	for i, e := range g.entries {
		rival := similarities[i] > similarities[best]+rivalMargin && e.Vector.Similarity(is) < sameWordSimilarity
		if e.Kind != EntryWord && g.entries[best].Kind != EntryWord {
			rival = similarities[i] > similarities[best]-valueMargin && !strings.HasPrefix(e.Fold, g.entries[best].Fold) && !strings.HasPrefix(g.entries[best].Fold, e.Fold)
		}
		if i != best && rival && fits(e) {
			return GlossaryEntry{}, 0, false
		}
	}
	return g.entries[best], similarities[best], true
}
