package eval

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
)

// enoughExamples is how many distinct examples a capability should have, and
// enoughNot how many sentences that it must not be taken for.
const (
	enoughExamples = 5
	enoughNot      = 2
)

// maxAdvice bounds what is said about examples of one capability.
const maxAdvice = 5

// Advice is what the author of a manifest can do better.
type Advice struct {
	Capability string `json:"capability"`
	Problem    string `json:"problem"`
	Fix        string `json:"fix"`
}

// Advise looks a set's manifests through for capabilities that have too few
// examples, and for those that are taken for each other: each example is asked
// of an index that does not have it.
func Advise(ctx context.Context, set Set) ([]Advice, error) {
	var out []Advice
	for _, m := range set.Manifests {
		for i := range m.Capabilities {
			c := &m.Capabilities[i]
			if c.Metadata.Routable != nil && !*c.Metadata.Routable {
				continue
			}
			a := &adviser{set: set, domain: m.Domain, capability: c}
			if err := a.look(ctx); err != nil {
				return nil, fmt.Errorf("look at %s.%s: %w", m.Domain, c.Name, err)
			}
			out = append(out, a.found...)
		}
	}
	return out, nil
}

// adviser looks at one capability.
type adviser struct {
	set        Set
	domain     string
	capability *contracts.Capability
	found      []Advice
}

func (a *adviser) say(problem, fix string) {
	a.found = append(a.found, Advice{Capability: a.domain + "." + a.capability.Name, Problem: problem, Fix: fix})
}

func (a *adviser) look(ctx context.Context) error {
	var hints contracts.IntentHints
	if a.capability.Metadata.IntentHints != nil {
		hints = *a.capability.Metadata.IntentHints
	}
	if n := len(hints.Examples); n < enoughExamples {
		a.say(fmt.Sprintf("it has %d examples", n), fmt.Sprintf("add %d that begin and are built differently, with the words that people use", enoughExamples-n))
	}
	if n := len(hints.Not); n < enoughNot && a.capability.Metadata.SideEffectClass.Writes() {
		a.say(fmt.Sprintf("it has an effect and %d sentences that it must not be taken for", n), fmt.Sprintf("add %d to not, close to the examples and meaning something else", enoughNot-n))
	}
	if len(hints.Examples) < 2 {
		return nil
	}
	return a.collisions(ctx, hints.Examples)
}

// collisions asks each example of an index without it.
func (a *adviser) collisions(ctx context.Context, examples []string) error {
	self := a.domain + "." + a.capability.Name
	for i, example := range examples {
		if len(a.found) >= maxAdvice {
			return nil
		}
		catalog, err := a.without(i).Catalog()
		if err != nil {
			return err
		}
		ranked, err := intent.NewLocal(1).Shortlist(ctx, intent.Query{Message: example, Catalog: catalog, AnyRole: true}, 1)
		if err != nil {
			return err
		}
		if len(ranked) == 0 || ranked[0].Entry.Ref() == self {
			continue
		}
		other := ranked[0].Entry
		if hints := other.Capability.Metadata.IntentHints; hints != nil && slices.ContainsFunc(hints.Examples, func(e string) bool { return strings.EqualFold(e, example) }) {
			a.say(fmt.Sprintf("“%s” is an example of %s too", example, other.Ref()), "keep it in one of them")
			continue
		}
		a.say(fmt.Sprintf("without the example “%s”, the sentence leads to %s", example, other.Ref()),
			"add an example that is said like this one, and the sentence to not of the other")
	}
	return nil
}

// without gives the set without one example of the capability.
func (a *adviser) without(at int) Set {
	out := a.set
	out.Manifests = slices.Clone(a.set.Manifests)
	for i, m := range out.Manifests {
		if m.Domain != a.domain {
			continue
		}
		copied := *m
		copied.Capabilities = slices.Clone(m.Capabilities)
		for k := range copied.Capabilities {
			if copied.Capabilities[k].Name == a.capability.Name {
				hints := *copied.Capabilities[k].Metadata.IntentHints
				hints.Examples = slices.Delete(slices.Clone(hints.Examples), at, at+1)
				copied.Capabilities[k].Metadata.IntentHints = &hints
			}
		}
		out.Manifests[i] = &copied
	}
	return out
}
