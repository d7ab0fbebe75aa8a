package local

import (
	"maps"
	"slices"

	"github.com/manifold-run/manifold/intent/local/retrieve"
	"github.com/manifold-run/manifold/intent/local/slots"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// crossLingual provides one message in the words of each capability.
type crossLingual struct {
	s *sentenceReader
	// encoded is set if the scorer responds.
	encoded bool
	matcher *slots.CrossLingualMatcher
}

// of returns the message in the words of a capability; false if no word was replaced.
func (g *crossLingual) of(c *indexed) (*slots.MatchedMessage, bool) {
	if g.s == nil || !g.encoded || g.s.encodeWord == nil || g.s.x.embeddings == nil {
		return nil, false
	}
	if g.matcher == nil {
		g.matcher = slots.NewCrossLingualMatcher(g.s.m, g.s.x.tools.Lexicon, g.s.encodeWord)
	}
	senses := g.s.x.embeddings
	return g.matcher.For(slots.MatchTarget{
		Capability: c.number, Glossary: senses.glossaries[c.domain], Languages: senses.spoken[c.domain], Writes: c.entry.Policy.SideEffectClass.Writes(), Aliased: slots.NewRequestWords(g.s.x.set(c)).Aliased,
	})
}

// message returns the message in the words of a capability, or m if no word was replaced.
func (g *crossLingual) message(c *indexed, m *slots.Message) *slots.Message {
	if read, ok := g.of(c); ok {
		return read.Message
	}
	return m
}

// at reports whether the word that begins at a byte was replaced for a capability.
func (g *crossLingual) at(c *indexed, start int) bool {
	read, ok := g.of(c)
	return ok && read.At(start)
}

// search ranks the first hits again, each with the message in the words of its capability, and
// returns the tokens for the first one.
func (g *crossLingual) search(p *part, hits []hit, tokens []tokenize.Token) []tokenize.Token {
	if g.s == nil {
		return tokens
	}
	first, v := hits[:min(len(hits), readDeeply)], []float32(nil)
	for i, h := range first {
		read, ok := g.of(g.s.x.caps[h.number])
		if !ok {
			continue
		}
		if v == nil {
			v = g.s.vector(p.from, p.to)
		}
		again := g.s.x.search(g.s.said.Asking(read.Tokens[p.from:p.to], p.from), v, g.s.allowed)
		if at := slices.IndexFunc(again, func(o hit) bool { return o.number == h.number }); at >= 0 {
			first[i] = again[at]
		}
	}
	if v == nil {
		return tokens
	}
	sortHits(hits)
	return g.message(g.s.x.caps[hits[0].number], g.s.m).Tokens[p.from:p.to]
}

// glossariesOf returns glossaries for the domains that lack a language.
func glossariesOf(x *Index, spoken map[int32]map[int]bool, known *retrieve.VectorCache) map[int32]*slots.Glossary {
	words := map[int32]map[string]*slots.GlossaryEntry{}
	for _, c := range x.caps {
		if c == nil || len(spoken[c.domain]) == 0 || len(spoken[c.domain]) == len(x.tools.Lexicon.Languages) {
			continue
		}
		if words[c.domain] == nil {
			words[c.domain] = map[string]*slots.GlossaryEntry{}
		}
		for w, sort := range slots.GlossaryWords(c.entry.Capability, c.title) {
			e := words[c.domain][w]
			if e == nil {
				e = &slots.GlossaryEntry{Fold: w, Vector: known.Compact(w), Of: map[int32]bool{}}
				words[c.domain][w] = e
			}
			e.Kind, e.Of[c.number] = max(e.Kind, sort), true
		}
	}
	out := map[int32]*slots.Glossary{}
	for domain, of := range words {
		entries := make([]slots.GlossaryEntry, 0, len(of))
		for _, w := range slices.Sorted(maps.Keys(of)) {
			entries = append(entries, *of[w])
		}
		out[domain] = slots.NewGlossary(entries)
	}
	return out
}
