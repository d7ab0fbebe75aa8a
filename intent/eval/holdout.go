package eval

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// held leaves a share of the capabilities out.
func (d Draw) held(s Set) Set {
	var refs []string
	for _, m := range s.Manifests {
		for i := range m.Capabilities {
			refs = append(refs, m.Domain+"."+m.Capabilities[i].Name)
		}
	}
	gone := map[string]bool{}
	for _, at := range d.random("hold").Perm(len(refs))[:int(d.Hold*float64(len(refs)))] {
		gone[refs[at]] = true
	}
	return s.lacking(gone)
}

// lacking leaves capabilities out. A case that asks for nothing else is then
// meant for nobody; one that asks for something else too, or is offered nothing
// else, is left out.
func (s Set) lacking(gone map[string]bool) Set {
	if len(gone) == 0 {
		return s
	}
	out := Set{Name: s.Name}
	for _, m := range s.Manifests {
		kept := *m
		kept.Capabilities = slices.DeleteFunc(slices.Clone(m.Capabilities), func(c contracts.Capability) bool { return gone[m.Domain+"."+c.Name] })
		out.Manifests = append(out.Manifests, &kept)
	}
	for _, c := range s.Cases {
		lost := 0
		for _, g := range c.Gold {
			if gone[g.Ref()] {
				lost++
			}
		}
		if c.Offered != nil {
			c.Offered = slices.DeleteFunc(slices.Clone(c.Offered), func(ref string) bool { return gone[ref] })
		}
		switch {
		case lost > 0 && lost < len(c.Gold) || c.Offered != nil && len(c.Offered) == 0:
			continue
		case lost > 0:
			c.Gold, c.LeftOut = nil, true
		}
		out.Cases = append(out.Cases, c)
	}
	return out
}
