package eval

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local"
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
// examples, and for those that are taken for each other: each example is asked,
// values and all, of an index that does not have it.
func Advise(ctx context.Context, set Set) ([]Advice, error) {
	var advisers []*adviser
	most := 0
	for _, m := range set.Manifests {
		for i := range m.Capabilities {
			c := &m.Capabilities[i]
			if c.Metadata.Routable != nil && !*c.Metadata.Routable {
				continue
			}
			a := &adviser{ref: m.Domain + "." + c.Name}
			if c.Metadata.IntentHints != nil {
				a.hints = *c.Metadata.IntentHints
			}
			a.count(c.Metadata.SideEffectClass.Writes())
			advisers = append(advisers, a)
			most = max(most, len(a.hints.Examples))
		}
	}
	for i := range most {
		catalog, err := set.without(i).Catalog()
		if err != nil {
			return nil, err
		}
		matcher := local.NewLocal(1)
		for _, a := range advisers {
			if err := a.collision(ctx, matcher, catalog, i); err != nil {
				return nil, fmt.Errorf("look at %s: %w", a.ref, err)
			}
		}
	}
	var out []Advice
	for _, a := range advisers {
		out = append(out, a.found...)
	}
	return out, nil
}

// adviser looks at one capability.
type adviser struct {
	ref   string
	hints contracts.IntentHints
	found []Advice
}

func (a *adviser) say(problem, fix string) {
	a.found = append(a.found, Advice{Capability: a.ref, Problem: problem, Fix: fix})
}

func (a *adviser) count(writes bool) {
	if n := len(a.hints.Examples); n < enoughExamples {
		a.say(fmt.Sprintf("it has %d examples", n), fmt.Sprintf("add %d that begin and are built differently, with the words that people use", enoughExamples-n))
	}
	if n := len(a.hints.Not); n < enoughNot && writes {
		a.say(fmt.Sprintf("it has an effect and %d sentences that it must not be taken for", n), fmt.Sprintf("add %d to not, close to the examples and meaning something else", enoughNot-n))
	}
}

// collision asks one example of a catalog without it.
func (a *adviser) collision(ctx context.Context, matcher local.Matcher, catalog *contracts.Catalog, at int) error {
	if at >= len(a.hints.Examples) || len(a.hints.Examples) < 2 || len(a.found) >= maxAdvice {
		return nil
	}
	example := a.hints.Examples[at]
	clauses, err := matcher.Match(ctx, local.Query{Message: example, Catalog: catalog, AnyRole: true})
	if err != nil {
		return err
	}
	other, ok := taken(clauses, a.ref)
	if !ok {
		return nil
	}
	if hints := other.Entry.Capability.Metadata.IntentHints; hints != nil && slices.ContainsFunc(hints.Examples, func(e string) bool { return strings.EqualFold(e, example) }) {
		a.say(fmt.Sprintf("“%s” is an example of %s too", example, other.Entry.Ref()), "keep it in one of them")
		return nil
	}
	fix := "add an example that is said like this one, with other words around its verb or noun"
	if other.Entry.Policy.SideEffectClass.Writes() {
		fix += "; the other has an effect, so put the sentence into its not"
	}
	a.say(fmt.Sprintf("without the example “%s”, the sentence leads to %s", example, other.Entry.Ref()), fix)
	return nil
}

// taken returns the candidate that would be done, or asked about, instead of a
// capability. One that nobody would hear of takes nothing away.
func taken(clauses []local.Clause, ref string) (local.Candidate, bool) {
	var first local.Candidate
	for _, c := range clauses {
		if len(c.Candidates) == 0 || c.Rejected {
			continue
		}
		if c.Candidates[0].Entry.Ref() == ref {
			return local.Candidate{}, false
		}
		if c.Candidates[0].Confidence > first.Confidence {
			first = c.Candidates[0]
		}
	}
	return first, first.Confidence >= local.DefaultClarify
}

// without returns the set without one example of each capability that has two.
func (s Set) without(at int) Set {
	out := s
	out.Manifests = slices.Clone(s.Manifests)
	for i, m := range out.Manifests {
		copied := *m
		copied.Capabilities = slices.Clone(m.Capabilities)
		for k := range copied.Capabilities {
			c := &copied.Capabilities[k]
			if c.Metadata.IntentHints == nil || at >= len(c.Metadata.IntentHints.Examples) || len(c.Metadata.IntentHints.Examples) < 2 {
				continue
			}
			hints := *c.Metadata.IntentHints
			hints.Examples = slices.Delete(slices.Clone(hints.Examples), at, at+1)
			c.Metadata.IntentHints = &hints
		}
		out.Manifests[i] = &copied
	}
	return out
}
