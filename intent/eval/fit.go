package eval

import (
	"context"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local"
)

// registries is how many registries are simulated of each set.
const registries = 60

// fitWeight is how many observations each set counts as, for each kind of
// capability: a set is not more important for having more cases.
const fitWeight = 1500

// The share of requests for nobody that weights are fitted for. More of them are
// close to a capability that is only described.
const (
	nobodyShown     = 0.3
	nobodyDescribed = 0.42
)

// Fitted is a calibration, and how it did.
type Fitted struct {
	Calibration local.Calibration
	// Reports tell for each set, and each kind of capability, how the weights do
	// that were fitted on the other sets, and at last how all together do.
	Reports []Report
	// Shown and Described are the factors by which weights were too sure of sets
	// that they were not fitted on; the calibration is flattened by them.
	Shown, Described float64
}

// Fit simulates registries of sets and fits the weights of the confidence.
func Fit(ctx context.Context, sets []Set) (Fitted, error) {
	var out Fitted
	if len(sets) < 2 {
		return out, contracts.Errorf(contracts.CodeInvalid, "fit weights: there must be two sets or more, since each is measured by what is fitted on the others")
	}
	seen := make([][]local.Observation, len(sets))
	for i, set := range sets {
		for number := range uint64(registries) {
			more, err := Simulate(ctx, set, number)
			if err != nil {
				return out, err
			}
			seen[i] = append(seen[i], more...)
		}
		even(seen[i])
	}
	all := slices.Concat(seen...)
	var judged [2][]local.Observation
	for i, left := range seen {
		others := slices.Concat(slices.Concat(seen[:i]...), slices.Concat(seen[i+1:]...))
		c := local.FitCalibration(others)
		out.report(sets[i].Name, &c, left)
		for k, part := range kinds(left) {
			for _, o := range part {
				judged[k] = append(judged[k], c.Judged(o))
			}
		}
	}
	out.Shown, out.Described = local.Steepness(judged[0]), local.Steepness(judged[1])
	c := local.FitCalibration(all)
	out.Calibration = c.Flatten(out.Shown, out.Described)
	out.report("all sets, flattened", &out.Calibration, all)
	return out, nil
}

// even gives each kind of observation of a set its share.
func even(seen []local.Observation) {
	type kind struct{ described, nobody bool }
	count := map[kind]float64{}
	for _, o := range seen {
		count[kind{o.Described, o.Nobody}]++
	}
	for i := range seen {
		o := &seen[i]
		share := nobodyShown
		if o.Described {
			share = nobodyDescribed
		}
		if !o.Nobody {
			share = 1 - share
		}
		o.Weight = fitWeight * share / count[kind{o.Described, o.Nobody}]
	}
}

// kinds sorts observations: of capabilities with examples, and of those without.
func kinds(seen []local.Observation) [2][]local.Observation {
	var out [2][]local.Observation
	for _, o := range seen {
		if o.Described {
			out[1] = append(out[1], o)
		} else {
			out[0] = append(out[0], o)
		}
	}
	return out
}

// report tells how a calibration does on observations.
func (f *Fitted) report(name string, c *local.Calibration, seen []local.Observation) {
	for k, part := range kinds(seen) {
		var scope, out []outcome
		for _, o := range part {
			if o.Nobody {
				out = append(out, observed(c, o))
			} else {
				scope = append(scope, observed(c, o))
			}
		}
		if len(scope) == 0 || len(out) == 0 {
			continue
		}
		var figures figures
		figures.routing(scope)
		figures.gates("in_scope", scope)
		figures.gates("out_of_scope", out)
		figures.trust(scope, out)
		f.Reports = append(f.Reports, Report{Set: name + [2]string{", with examples", ", described"}[k], Draws: 1, Cases: len(part), Figures: figures})
	}
}

// observed is what the gates make of an observation.
func observed(c *local.Calibration, o local.Observation) outcome {
	const meant = "what.was_meant"
	out := outcome{confidence: c.Confidence(o), gate: contracts.ReadingDeclined}
	if !o.Nobody {
		out.c.Gold = []Gold{{Domain: "what", Capability: "was_meant"}}
	}
	if o.Right {
		out.found, out.intents, out.ranked = meant, []string{meant}, []string{meant}
	}
	switch {
	case out.confidence >= local.DefaultAccept:
		out.gate = contracts.ReadingAccepted
	case out.confidence >= local.DefaultClarify:
		out.gate = contracts.ReadingUnclear
	}
	return out
}
