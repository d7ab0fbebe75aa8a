package slots

import (
	"strings"

	"github.com/manifold-run/manifold/intent/local/retrieve"
)

// Glossary holds the words that the capabilities of one domain are asked for with, and
// their vectors. It is immutable.
type Glossary struct{ entries []GlossaryEntry }

// GlossaryEntry is a word of a glossary, folded.
type GlossaryEntry struct {
	Fold   string
	Vector retrieve.CompactVector
	// Kind is what it stands for, Of are the capabilities that are asked for with it.
	Kind EntryKind
	Of   map[int32]bool
}

// NewGlossary makes a glossary; entries without a vector are left out.
func NewGlossary(entries []GlossaryEntry) *Glossary {
	g := &Glossary{}
	for _, e := range entries {
		if !e.Vector.Empty() {
			g.entries = append(g.entries, e)
		}
	}
	return g
}

// How like in meaning a word of another language is at least to the word that it is
// read as, from 0 to 1, and how much more another word of the domain may be like it,
// which is then what was meant, unless both are as like as forms of one word. Of values more is asked, since nothing else would show
// that another one was meant.
const (
	sameMeaning  = 0.66
	nearlyAsLike = 0.05
	sameValue    = 0.7
	valueAhead   = 0.1
	oneWord      = 0.85
)

// Similarities gives the cosine similarity of a vector to each word, from -1 to 1.
func (g *Glossary) Similarities(v []float32) []float64 {
	out := make([]float64, len(g.entries))
	for i, e := range g.entries {
		out[i] = e.Vector.Similarity(v)
	}
	return out
}

// Nearest gives the nearest word of a capability, and its similarity; none where no word is
// near enough, or where a word of another capability of the domain is nearer. fits filters
// the words.
func (g *Glossary) Nearest(capability int32, similarities []float64, fits func(GlossaryEntry) bool) (GlossaryEntry, float64, bool) {
	best := -1
	for i, e := range g.entries[:min(len(g.entries), len(similarities))] {
		if e.Of[capability] && fits(e) && (best < 0 || similarities[i] > similarities[best]) {
			best = i
		}
	}
	if best < 0 || similarities[best] < sameMeaning || g.entries[best].Kind == EntryAmbiguous || g.entries[best].Kind == EntryValue && similarities[best] < sameValue {
		return GlossaryEntry{}, 0, false
	}
	is := g.entries[best].Vector.Unpack()
	for i, e := range g.entries {
		rival := similarities[i] > similarities[best]+nearlyAsLike && e.Vector.Similarity(is) < oneWord
		if e.Kind != EntryWord && g.entries[best].Kind != EntryWord {
			rival = similarities[i] > similarities[best]-valueAhead && !strings.HasPrefix(e.Fold, g.entries[best].Fold) && !strings.HasPrefix(g.entries[best].Fold, e.Fold)
		}
		if i != best && rival && fits(e) {
			return GlossaryEntry{}, 0, false
		}
	}
	return g.entries[best], similarities[best], true
}
