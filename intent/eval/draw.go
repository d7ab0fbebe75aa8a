package eval

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/contracts"
)

// Draw is how a set is varied before it is measured, to tell understanding
// from remembering. The same draw always gives the same set.
type Draw struct {
	// Examples is how many examples each capability keeps; 0 keeps all, less than
	// 0 none.
	Examples int
	// Seed chooses them, and what is perturbed.
	Seed uint64
	// Perturb writes messages as people do: with typing errors, without some
	// small words, in other cases.
	Perturb bool
	// Rename replaces the names of capabilities by numbers.
	Rename bool
	// Hold is the share of the capabilities that are left out: what asks for one
	// of them is then meant for nobody, and close to what there is.
	Hold float64
}

// Of returns the varied set; the given one is left as it is.
func (d Draw) Of(s Set) Set {
	s = d.held(s)
	out := Set{Name: s.Name, Cases: slices.Clone(s.Cases)}
	names := map[string]string{}
	for _, m := range s.Manifests {
		out.Manifests = append(out.Manifests, d.manifest(m, names))
	}
	for i := range out.Cases {
		c := &out.Cases[i]
		if d.Perturb {
			c.Text = perturbed(c.Text, d.random("perturb "+c.ID))
		}
		if d.Rename {
			c.Gold, c.Offered = renamedGold(c.Gold, names), renamed(c.Offered, names)
		}
	}
	return out
}

func (d Draw) random(purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(d.Seed, h.Sum64())) //nolint:gosec // a draw must be the same each time
}

// manifest copies what it changes.
func (d Draw) manifest(m *contracts.Manifest, names map[string]string) *contracts.Manifest {
	out := *m
	out.Capabilities = slices.Clone(m.Capabilities)
	for i := range out.Capabilities {
		c := &out.Capabilities[i]
		if hints := c.Metadata.IntentHints; hints != nil && d.Examples != 0 && len(hints.Examples) > d.Examples {
			kept := *hints
			kept.Examples = nil
			for _, at := range d.random("draw " + m.Domain + "." + c.Name).Perm(len(hints.Examples))[:max(d.Examples, 0)] {
				kept.Examples = append(kept.Examples, hints.Examples[at])
			}
			c.Metadata.IntentHints = &kept
		}
		if d.Rename {
			name := fmt.Sprintf("cap_%04d", len(names))
			names[m.Domain+"."+c.Name] = name
			c.Name = name
		}
	}
	return &out
}

func renamedGold(gold []Gold, names map[string]string) []Gold {
	out := slices.Clone(gold)
	for i := range out {
		if name, ok := names[out[i].Ref()]; ok {
			out[i].Capability = name
		}
	}
	return out
}

func renamed(offered []string, names map[string]string) []string {
	out := slices.Clone(offered)
	for i, ref := range out {
		if name, ok := names[ref]; ok {
			domain, _, _ := strings.Cut(ref, ".")
			out[i] = domain + "." + name
		}
	}
	return out
}

// small tells words that people in a hurry leave out.
func small(word string) bool {
	switch strings.ToLower(word) {
	case "the", "a", "an", "of", "to", "please", "is", "my", "for", "in", "on":
		return true
	}
	return false
}

// typoEvery is how many words there are to a typing error, dropEvery how many
// small words to one that is left out.
const (
	typoEvery = 8
	dropEvery = 3
)

// perturbed writes a message as somebody in a hurry does.
func perturbed(message string, r *rand.Rand) string {
	var out []string
	for w := range strings.FieldsSeq(message) {
		switch {
		case small(w) && r.IntN(dropEvery) == 0:
			continue
		case r.IntN(typoEvery) == 0:
			w = mistyped(w, r)
		}
		out = append(out, w)
	}
	text := strings.Join(out, " ")
	switch r.IntN(4) {
	case 0:
		text = strings.ToLower(text)
	case 1:
		text = strings.TrimRight(text, "?.!")
	case 2:
		text = "hi, " + text + " thanks"
	}
	return text
}

// mistyped swaps, drops or doubles a letter of a word that has some.
func mistyped(w string, r *rand.Rand) string {
	runes := []rune(w)
	if len(runes) < 4 || slices.ContainsFunc(runes, func(c rune) bool { return !unicode.IsLetter(c) }) {
		return w
	}
	at := 1 + r.IntN(len(runes)-2)
	switch r.IntN(3) {
	case 0:
		runes[at], runes[at+1] = runes[at+1], runes[at]
	case 1:
		runes = slices.Delete(runes, at, at+1)
	default:
		runes = slices.Insert(runes, at, runes[at])
	}
	return string(runes)
}

// Catalog makes a catalog of the manifests of a set, with the policies that
// they declare.
func (s Set) Catalog() (*contracts.Catalog, error) {
	var domains []*contracts.DomainEntry
	var digests []string
	for _, m := range s.Manifests {
		digest, err := contracts.Hash(m)
		if err != nil {
			return nil, fmt.Errorf("hash the manifest of %s: %w", m.Domain, err)
		}
		d := &contracts.DomainEntry{Name: m.Domain, Digest: digest, Manifest: m}
		for i := range m.Capabilities {
			c := &m.Capabilities[i]
			d.Capabilities = append(d.Capabilities, &contracts.CapabilityEntry{
				Domain: m.Domain, Capability: c, Policy: c.Metadata.Policy(c.Metadata.Compensation != nil),
			})
		}
		domains, digests = append(domains, d), append(digests, m.Domain+"@"+digest)
	}
	snapshot, err := contracts.Hash(digests)
	if err != nil {
		return nil, fmt.Errorf("hash the set: %w", err)
	}
	return contracts.NewCatalog(snapshot, domains, nil), nil
}
