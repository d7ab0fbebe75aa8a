package retrieve

import (
	"hash/fnv"

	"github.com/manifold-run/manifold/contracts"
)

// Each fold holds out one of several examples of each capability. It also leaves out some
// capabilities completely; their examples are then out-of-scope requests.
const (
	foldHold     = 5 // a fold leaves out one of so many capabilities
	fewExamples  = 500
	manyExamples = 30000
)

// HeldOut is an example left out of a fold, with its gold capability.
type HeldOut struct {
	Text string
	// Ref is the gold capability; empty if the fold left it out.
	Ref string
}

// FoldCount returns the number of folds, and how many of them are evaluated.
func FoldCount(examples int) (folds, asked uint64) {
	switch {
	case examples <= fewExamples:
		return 8, 8
	case examples <= manyExamples:
		return 4, 2
	}
	return 8, 1
}

// Sample returns an evenly spaced sample of the examples, limited to most.
func Sample(questions []HeldOut, most int) []HeldOut {
	if len(questions) <= most {
		return questions
	}
	out := make([]HeldOut, most)
	for i := range out {
		out[i] = questions[i*len(questions)/most]
	}
	return out
}

// Fold is one split of a catalog for cross-validation.
type Fold struct {
	Catalog *contracts.Catalog
	// Number is the index of the fold among Of folds.
	Number, Of uint64
}

// Split returns the catalog without the held-out data, and the held-out examples.
func (f Fold) Split() (*contracts.Catalog, []HeldOut) {
	var domains []*contracts.DomainEntry
	var questions []HeldOut
	for _, from := range f.Catalog.Domains {
		d := &contracts.DomainEntry{Name: from.Name, Digest: from.Digest, Manifest: from.Manifest}
		for _, entry := range from.Capabilities {
			kept, asked := f.entry(entry)
			questions = append(questions, asked...)
			if kept != nil {
				d.Capabilities = append(d.Capabilities, kept)
			}
		}
		domains = append(domains, d)
	}
	return contracts.NewCatalog("", domains, nil), questions
}

// entry returns a capability without its held-out examples; nil if the fold leaves it out.
func (f Fold) entry(entry *contracts.CapabilityEntry) (*contracts.CapabilityEntry, []HeldOut) {
	hints := entry.Capability.Metadata.IntentHints
	if hints == nil || !entry.Routable() {
		return entry, nil
	}
	at := hashOf(entry.Ref())
	var kept []string
	var asked []HeldOut
	held := (at/f.Of+f.Number)%foldHold == 0
	for _, example := range hints.Examples {
		switch {
		case held:
			asked = append(asked, HeldOut{Text: example})
		case hashOf(example)%f.Of == f.Number:
			asked = append(asked, HeldOut{Text: example, Ref: entry.Ref()})
		default:
			kept = append(kept, example)
		}
	}
	if held {
		return nil, asked
	}
	c, h := *entry.Capability, *hints
	h.Examples = kept
	c.Metadata.IntentHints = &h
	return &contracts.CapabilityEntry{Domain: entry.Domain, Capability: &c, Policy: entry.Policy, Digest: entry.Digest}, asked
}

// hashOf returns a hash of a name, so that folds do not depend on the other names.
func hashOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64() >> 8
}
