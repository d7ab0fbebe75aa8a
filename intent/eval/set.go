package eval

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Set is what is measured: manifests, and messages whose meaning is known.
type Set struct {
	Name      string
	Manifests []*contracts.Manifest
	Cases     []Case
}

// Case is a message and what it asks for.
type Case struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	// Split names the part of the set that the case belongs to.
	Split string `json:"split"`
	// Offered are the only capabilities to choose from; empty means all.
	Offered []string `json:"offered"`
	// Gold is what the message asks for; empty means nothing that there is.
	Gold []Gold `json:"gold"`
	// Partial means that parameters which are not named are no fault.
	Partial bool `json:"partial,omitempty"`
	// LeftOut means that what it asks for was left out of the set.
	LeftOut bool `json:"-"`
}

// Gold is one request of a message.
type Gold struct {
	Domain     string `json:"domain"`
	Capability string `json:"capability"`
	// Parameters holds for each parameter the values that are right; an empty
	// text among them means that it may be left out.
	Parameters map[string][]any `json:"parameters"`
}

// Ref is the full name of the capability.
func (g Gold) Ref() string { return g.Domain + "." + g.Capability }

// file is the JSON form of a set.
type file struct {
	Name      string `json:"name"`
	Manifests []struct {
		Domain       string       `json:"domain"`
		Capabilities []capability `json:"capabilities"`
	} `json:"manifests"`
	Cases []Case `json:"cases"`
}

// capability is what a set says of a capability: less than a manifest does.
type capability struct {
	Name           string                             `json:"name"`
	Description    string                             `json:"description"`
	Schema         json.RawMessage                    `json:"schema"`
	IntentHints    *contracts.IntentHints             `json:"intent_hints"`
	ParameterSpecs map[string]contracts.ParameterSpec `json:"parameter_specs"`
}

// Parse reads a set: a file of cases, or a manifest, whose cases are its own
// tests.
func Parse(data []byte) (Set, error) {
	var kind struct {
		Cases        json.RawMessage `json:"cases"`
		Capabilities json.RawMessage `json:"capabilities"`
	}
	if err := json.Unmarshal(data, &kind); err != nil {
		return Set{}, contracts.Errorf(contracts.CodeInvalid, "read a set: %w", err)
	}
	switch {
	case kind.Cases != nil:
		return parseCases(data)
	case kind.Capabilities != nil:
		if without, of := lackSchema(data); without*2 > of {
			return Set{}, contracts.Errorf(contracts.CodeInvalid, "%d of %d capabilities have no schema. If this is the hints file of a domain that is built with domainkit, "+
				"whose schemas stand in code, start the domain and give its address, or save what it answers to GET /manifest and give that file", without, of)
		}
		m, err := contracts.ParseManifest(data)
		if err != nil {
			return Set{}, fmt.Errorf("read a manifest: %w", err)
		}
		return FromManifest(m), nil
	}
	return Set{}, contracts.Errorf(contracts.CodeInvalid, "this is neither a manifest (capabilities) nor a set (manifests, cases)")
}

// lackSchema counts the capabilities without a schema, if all else of a manifest
// can be read.
func lackSchema(data []byte) (without, of int) {
	var m contracts.Manifest
	if contracts.DecodeStrict(data, &m) != nil {
		return 0, 0
	}
	for _, c := range m.Capabilities {
		if c.Schema == nil {
			without++
		}
	}
	return without, len(m.Capabilities)
}

func parseCases(data []byte) (Set, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return Set{}, contracts.Errorf(contracts.CodeInvalid, "read a set: %w", err)
	}
	s := Set{Name: f.Name, Cases: f.Cases}
	for _, from := range f.Manifests {
		m := &contracts.Manifest{SchemaVersion: contracts.SchemaVersion, Domain: from.Domain}
		for _, c := range from.Capabilities {
			to := contracts.Capability{Name: c.Name, Description: c.Description, Schema: c.Schema}
			to.Metadata.SideEffectClass = contracts.ClassRead
			to.Metadata.IntentHints, to.Metadata.ParameterSpecs = c.IntentHints, c.ParameterSpecs
			m.Capabilities = append(m.Capabilities, to)
		}
		s.Manifests = append(s.Manifests, m)
	}
	s.resolve()
	return s, s.check()
}

// resolve gives what is offered by a bare name its domain.
func (s Set) resolve() {
	full := map[string]string{}
	for _, m := range s.Manifests {
		for _, c := range m.Capabilities {
			full[c.Name] = m.Domain + "." + c.Name
		}
	}
	for _, c := range s.Cases {
		for i, name := range c.Offered {
			if ref, ok := full[name]; ok {
				c.Offered[i] = ref
			}
		}
	}
}

// check reports whether all that cases speak of is there.
func (s Set) check() error {
	known := map[string]bool{}
	for _, m := range s.Manifests {
		for _, c := range m.Capabilities {
			known[m.Domain+"."+c.Name] = true
		}
	}
	for _, c := range s.Cases {
		for _, g := range c.Gold {
			if !known[g.Ref()] {
				return contracts.Errorf(contracts.CodeInvalid, "case %s: there is no capability %s", c.ID, g.Ref())
			}
		}
	}
	return nil
}

// FromManifest makes a set of the tests that a manifest has.
func FromManifest(m *contracts.Manifest) Set {
	s := Set{Name: m.Domain, Manifests: []*contracts.Manifest{m}}
	for i, t := range m.Tests {
		if t.LLM {
			continue
		}
		c := Case{ID: fmt.Sprintf("%s/tests/%d", m.Domain, i), Text: t.Say, Split: "tests", Partial: true}
		if t.Expect != nil {
			g := Gold{Domain: m.Domain, Capability: strings.TrimPrefix(t.Expect.Capability, m.Domain+"."), Parameters: map[string][]any{}}
			for name, v := range t.Expect.Parameters {
				g.Parameters[name] = []any{v}
			}
			c.Gold = []Gold{g}
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

// Merge puts sets side by side, as if one site had all their domains.
func Merge(sets ...Set) Set {
	var out Set
	for _, s := range sets {
		out.Name = strings.TrimPrefix(out.Name+"+"+s.Name, "+")
		out.Manifests = append(out.Manifests, s.Manifests...)
		out.Cases = append(out.Cases, s.Cases...)
	}
	return out
}

// Twice names a domain that two manifests are of.
func (s Set) Twice() (domain string, twice bool) {
	seen := map[string]bool{}
	for _, m := range s.Manifests {
		if seen[m.Domain] {
			return m.Domain, true
		}
		seen[m.Domain] = true
	}
	return "", false
}

// Select keeps the cases of the splits; without any it keeps all.
func (s Set) Select(splits ...string) Set {
	if len(splits) == 0 {
		return s
	}
	var kept []Case
	for _, c := range s.Cases {
		if slices.Contains(splits, c.Split) {
			kept = append(kept, c)
		}
	}
	s.Cases = kept
	return s
}
