package local

import (
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// A patch is used for catalogs of at least this size, if at most 1/patchShare is new, and for a
// limited number of layers.
const (
	patchCapabilities = 200
	patchShare        = 2
	patchLayers       = 8
)

// patch derives the index of a catalog from an earlier one. Unchanged capabilities keep their
// weights, trained ones included, and new ones form a layer of their own. Document frequencies
// come from the earlier catalog. It returns false if too much changed. x may be nil.
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
			b.x.caps[number] = nil // removed, or added again below
		}
	}
	for _, d := range fresh {
		b.addDomain(catalog.Domains[d], count32(d))
	}
	b.finish()
	return b.x, true
}

// fresh returns the indexes of the domains that changed.
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

// forked returns a builder for a copy that shares immutable parts.
func (x *Index) forked(catalog *contracts.Catalog) *builder {
	y := *x
	y.snapshot, y.id, y.provisional, y.patched = catalog.Snapshot, "", true, true
	y.embeddings = nil // new capabilities have no embeddings yet
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

// keep copies an unchanged capability with its number and sentences.
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
