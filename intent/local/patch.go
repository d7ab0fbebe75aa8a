package local

import (
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// A patch pays where much is kept: catalogs of this size, to which no more
// than half is added, and not too often.
const (
	patchCapabilities = 200
	patchShare        = 2
	patchLayers       = 8
)

// patch makes the index of a catalog from the one before: what did not change
// keeps its weights, trained ones too, and what is new stands beside it in a
// layer of its own. Rare words are told by the catalog before. It is false when
// too much changed. x may be nil.
func (x *Index) patch(catalog *contracts.Catalog) (*Index, bool) {
	if x == nil || len(x.refs) < patchCapabilities || len(x.vectors) > patchLayers {
		return nil, false
	}
	fresh := x.fresh(catalog)
	added := 0
	for _, d := range fresh {
		added += len(catalog.Domains[d].Capabilities)
	}
	if added*patchShare > len(x.refs) {
		return nil, false
	}
	b := x.forked(catalog)
	for d, domain := range catalog.Domains {
		b.x.domains = append(b.x.domains, newDomainName(domain))
		if slices.Contains(fresh, d) {
			b.learnValues(domain)
			continue
		}
		for _, entry := range domain.Capabilities {
			b.keep(x, entry, int32(d))
		}
	}
	for number, c := range b.x.caps {
		if c != nil && b.x.refs[c.entry.Ref()] != c {
			b.x.caps[number] = nil // it is gone, or will be read anew
		}
	}
	for _, d := range fresh {
		b.addDomain(catalog.Domains[d], count32(d))
	}
	b.finish()
	return b.x, true
}

// fresh gives the places of the domains that are not as they were.
func (x *Index) fresh(catalog *contracts.Catalog) []int {
	var out []int
	for d, domain := range catalog.Domains {
		known := func(e *contracts.CapabilityEntry) bool {
			c, ok := x.refs[e.Ref()]
			return ok == e.Routable() && (!ok || c.entry.Capability == e.Capability)
		}
		if slices.ContainsFunc(domain.Capabilities, func(e *contracts.CapabilityEntry) bool { return !known(e) }) {
			out = append(out, d)
		}
	}
	return out
}

// forked gives a builder of a copy that shares what never changes.
func (x *Index) forked(catalog *contracts.Catalog) *builder {
	y := *x
	y.snapshot, y.id, y.provisional, y.patched = catalog.Snapshot, "", true, true
	y.embeddings = nil // what is new has no vectors yet
	y.caps, y.docs, y.words.idf = slices.Clone(x.caps), slices.Clone(x.docs), slices.Clone(x.words.idf)
	y.capDF, y.words.isChar = slices.Clone(x.capDF), slices.Clone(x.words.isChar)
	y.vectors, y.bm25, y.words.spellers = slices.Clip(x.vectors), slices.Clip(x.bm25), slices.Clip(x.words.spellers)
	y.words.features, y.exact = maps.Clone(x.words.features), maps.Clone(x.exact)
	y.segmenter.Heads, y.segmenter.Openers, y.words.values = maps.Clone(x.segmenter.Heads), maps.Clone(x.segmenter.Openers), maps.Clone(x.words.values)
	y.segmenter.Values = y.words.values
	y.refs, y.domains = make(map[string]*indexed, len(x.refs)), nil
	return &builder{
		x: &y, spelt: map[string]bool{}, df: make([]int32, len(x.words.idf)), seenBy: make([]int32, len(x.words.idf)),
		firstFeature: len(x.words.idf), firstDoc: len(x.docs), firstCap: len(x.caps),
	}
}

// keep takes a capability over, with its number and its sentences.
func (b *builder) keep(from *Index, entry *contracts.CapabilityEntry, domain int32) {
	old, ok := from.refs[entry.Ref()]
	if !ok {
		return
	}
	c := *old
	c.entry, c.domain = entry, domain
	b.x.refs[entry.Ref()] = &c
	b.x.caps[c.number] = &c
}
