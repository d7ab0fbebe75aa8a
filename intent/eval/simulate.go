package eval

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local"
)

// How a registry is simulated: how many requests are read for what it has and
// for what it has not, of how many the closest is taken every other time, and
// among how many of the nearest capabilities offers are drawn.
const (
	simulatedRequests = 40
	simulatedClosest  = 5
	simulatedNear     = 8
)

// Simulate reads the requests of a registry that is made of a part of a set;
// number tells which one. It has from one to all of the capabilities, neighbours
// or any, with none to ten examples; every other one is settled, and in some each
// request may choose only among a few. Half of the requests are meant for nobody,
// and half of these are close to what there is. Cases of the set that offer
// something else than what is asked for are left out: they are there to measure.
func Simulate(ctx context.Context, set Set, number uint64) ([]local.Observation, error) {
	s := &simulation{random: Draw{Seed: number}.random("simulate " + set.Name), local: local.NewLocal(1)}
	drawn := s.draw(set)
	var err error
	if s.catalog, err = drawn.Catalog(); err != nil {
		return nil, err
	}
	if s.random.IntN(2) == 0 {
		_, err = s.local.Settle(ctx, s.catalog)
	}
	if err == nil {
		err = s.read(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("simulate registry %d of %s: %w", number, set.Name, err)
	}
	return s.seen, nil
}

// simulation is a registry with requests for what it has, and for what it has
// not.
type simulation struct {
	random          *rand.Rand
	local           *local.Local
	catalog         *contracts.Catalog
	refs            []string
	inside, outside []Case
	// offers means that each request may choose only among a few.
	offers bool
	seen   []local.Observation
}

// draw chooses capabilities and examples.
func (s *simulation) draw(set Set) Set {
	all, shown := set.refs()
	size := int(math.Round(math.Exp(s.random.Float64() * math.Log(float64(len(all))))))
	if s.offers = s.random.IntN(4) == 0 || !shown && s.random.IntN(2) == 0; s.offers {
		size = max(size, min(simulatedRequests/2, len(all)))
	}
	if s.random.IntN(2) == 0 {
		s.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	from := s.random.IntN(len(all) - size + 1)
	s.refs = slices.Sorted(slices.Values(all[from : from+size]))
	gone := map[string]bool{}
	for _, ref := range slices.Concat(all[:from], all[from+size:]) {
		gone[ref] = true
	}
	cases := set.Cases
	set.Cases = nil
	for _, c := range cases {
		if len(c.Gold) == 1 || len(c.Gold) == 0 && c.Offered == nil {
			c.Offered = nil
			set.Cases = append(set.Cases, c)
		}
	}
	examples := []int{-1, -1, 1, 2, 3, 5, 10}
	out := Draw{Seed: s.random.Uint64(), Examples: examples[s.random.IntN(len(examples))]}.Of(set.lacking(gone))
	for _, c := range out.Cases {
		if len(c.Gold) == 1 {
			s.inside = append(s.inside, c)
		} else {
			s.outside = append(s.outside, c)
		}
	}
	return out
}

// refs lists the capabilities of a set, and reports whether any has examples.
func (s Set) refs() (refs []string, shown bool) {
	for _, m := range s.Manifests {
		for i := range m.Capabilities {
			c := &m.Capabilities[i]
			refs = append(refs, m.Domain+"."+c.Name)
			shown = shown || c.Metadata.IntentHints != nil && len(c.Metadata.IntentHints.Examples) > 0
		}
	}
	return refs, shown
}

// read observes the requests.
func (s *simulation) read(ctx context.Context) error {
	if len(s.inside)+len(s.outside) == 0 {
		return nil
	}
	for i := range simulatedRequests {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i < 2*len(s.inside) {
			c := s.inside[s.random.IntN(len(s.inside))]
			if err := s.ask(ctx, c, c.Gold[0].Ref()); err != nil {
				return err
			}
		}
		if len(s.outside) == 0 && !s.offers {
			continue
		}
		c, err := s.foreign(ctx, i%2 == 0)
		if err == nil {
			err = s.ask(ctx, c, "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// foreign draws a request for what there is not. Where only a few are offered it
// may ask for one of the others.
func (s *simulation) foreign(ctx context.Context, near bool) (Case, error) {
	if s.offers && (near || len(s.outside) == 0) && len(s.inside) > 0 {
		return s.inside[s.random.IntN(len(s.inside))], nil
	}
	c := s.outside[s.random.IntN(len(s.outside))]
	if !near {
		return c, nil
	}
	best := math.Inf(-1)
	for range simulatedClosest {
		other := s.outside[s.random.IntN(len(s.outside))]
		ranked, err := s.near(ctx, other, 1)
		if err != nil {
			return c, err
		}
		if len(ranked) > 0 && ranked[0].Score > best {
			best, c = ranked[0].Score, other
		}
	}
	return c, nil
}

func (s *simulation) near(ctx context.Context, c Case, most int) ([]local.Ranked, error) {
	return s.local.Shortlist(ctx, local.Query{Message: c.Text, Catalog: s.catalog, AnyRole: true}, most)
}

// ask observes a request that is meant for a capability, or for none.
func (s *simulation) ask(ctx context.Context, c Case, meant string) error {
	q := local.Query{Message: c.Text, Catalog: s.catalog, AnyRole: true}
	if s.offers {
		var err error
		if q.Only, err = s.offer(ctx, c, meant); err != nil || len(q.Only) == 0 {
			return err
		}
	}
	if o, ok := s.local.Observe(ctx, q, meant); ok {
		s.seen = append(s.seen, o)
	}
	return nil
}

// offer draws what a request may choose among: what is meant if anything is, and
// others, of which half are near.
func (s *simulation) offer(ctx context.Context, c Case, meant string) ([]string, error) {
	ranked, err := s.near(ctx, c, simulatedNear)
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, 4)
	for range []int{1, 1, 2, 3, 4}[s.random.IntN(5)] {
		ref := s.refs[s.random.IntN(len(s.refs))]
		if len(ranked) > 0 && s.random.IntN(2) == 0 {
			ref = ranked[s.random.IntN(len(ranked))].Entry.Ref()
		}
		out = append(out, ref)
	}
	if meant != "" {
		out[0] = meant
		return out, nil
	}
	return slices.DeleteFunc(out, func(ref string) bool {
		return slices.ContainsFunc(c.Gold, func(g Gold) bool { return g.Ref() == ref })
	}), nil
}
