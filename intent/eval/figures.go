package eval

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Figure is one measured number.
type Figure struct {
	Key string `json:"key"`
	// Unit is "share", "ms", "MiB" or empty for a count.
	Unit  string  `json:"unit,omitempty"`
	Value float64 `json:"value"`
	// Spread is the difference between the best and the worst draw.
	Spread float64 `json:"spread"`
}

// outOfScope is the share of messages meant for nobody in the stream that
// precision and calibration are computed for.
const outOfScope = 0.2

// figures are all numbers of one draw; what cannot be measured with the cases
// that there are is left out.
func (r *running) figures() []Figure {
	var scope, out, near []outcome
	for _, o := range r.outcomes {
		switch {
		case len(o.c.Gold) > 0:
			scope = append(scope, o)
			continue
		case o.c.LeftOut:
			near = append(near, o)
		}
		out = append(out, o)
	}
	var f figures
	f.routing(scope)
	f.gates("in_scope", scope)
	f.gates("out_of_scope", out)
	f.trust(scope, out)
	f.leftOut(scope, near)
	f.marks(r.outcomes)
	f.parameters(scope)
	f.cost(r)
	return f
}

type figures []Figure

func (f *figures) share(key string, n, of int) {
	if of > 0 {
		f.value(key, "share", float64(n)/float64(of))
	}
}

func (f *figures) value(key, unit string, v float64) {
	*f = append(*f, Figure{Key: key, Unit: unit, Value: v})
}

func count(outcomes []outcome, is func(outcome) bool) int {
	n := 0
	for _, o := range outcomes {
		if is(o) {
			n++
		}
	}
	return n
}

// routing tells how often the right capability was found, and how high.
func (f *figures) routing(scope []outcome) {
	var single, several []outcome
	for _, o := range scope {
		if len(o.c.Gold) == 1 {
			single = append(single, o)
		} else {
			several = append(several, o)
		}
	}
	f.share("accuracy", count(single, func(o outcome) bool { return o.found == o.c.Gold[0].Ref() }), len(single))
	for _, k := range []struct {
		key string
		n   int
	}{{"recall_at_1", 1}, {"recall_at_5", 5}, {"recall_at_10", deepest}} {
		f.share(k.key, count(single, func(o outcome) bool { return o.within(k.n) }), len(single))
		if len(several) > 0 && k.n > 1 {
			sum := 0.0
			for _, o := range several {
				sum += o.share(k.n)
			}
			f.value("several_"+k.key, "share", sum/float64(len(several)))
			f.share("several_all_"+k.key, count(several, func(o outcome) bool { return o.within(k.n) }), len(several))
		}
	}
	f.share("several_understood", count(several, outcome.understood), len(several))
}

// gates is one half of the gate table.
func (f *figures) gates(name string, outcomes []outcome) {
	if len(outcomes) == 0 {
		return
	}
	with := func(g contracts.ReadingOutcome) func(outcome) bool {
		return func(o outcome) bool { return o.gate == g }
	}
	f.share(name+"_accepted", count(outcomes, with(contracts.ReadingAccepted)), len(outcomes))
	f.share(name+"_clarified", count(outcomes, with(contracts.ReadingUnclear)), len(outcomes))
	f.share(name+"_declined", count(outcomes, with(contracts.ReadingDeclined)), len(outcomes))
	if name == "in_scope" {
		right := count(outcomes, func(o outcome) bool { return o.gate == contracts.ReadingAccepted && o.understood() })
		f.share(name+"_accepted_right", right, len(outcomes))
		offered := func(o outcome) bool {
			return o.gate == contracts.ReadingUnclear && slices.ContainsFunc(o.c.Gold, func(g Gold) bool {
				return slices.Contains(o.choices, g.Ref()) || slices.Contains(o.intents, g.Ref())
			})
		}
		f.share(name+"_clarified_right", count(outcomes, offered), len(outcomes))
		f.share("precision_of_accepted", right, count(outcomes, with(contracts.ReadingAccepted)))
	}
}

// trust tells what a confidence is worth.
func (f *figures) trust(scope, out []outcome) {
	if len(scope) == 0 {
		return
	}
	f.value("ece", "share", calibrationError(scope, out))
	if len(out) == 0 {
		return
	}
	f.value("oos_auroc", "share", auroc(scope, out))
	f.share("oos_below_90_kept", belowKept(scope, out), len(out))
	accepted := func(o outcome) bool { return o.gate == contracts.ReadingAccepted }
	right := count(scope, func(o outcome) bool { return accepted(o) && o.understood() })
	in, outside := float64(count(scope, accepted)), float64(count(out, accepted))
	weight := outOfScope / (1 - outOfScope) * float64(len(scope)) / float64(len(out))
	if in+weight*outside > 0 {
		f.value("precision_of_accepted_20_oos", "share", float64(right)/(in+weight*outside))
	}
}

// leftOut tells the outcome of requests for capabilities that were left out.
func (f *figures) leftOut(scope, near []outcome) {
	f.gates("left_out", near)
	if len(scope) > 0 && len(near) > 0 {
		f.value("left_out_auroc", "share", auroc(scope, near))
	}
}

// auroc is the probability that a message in scope gets more confidence than
// one that is not.
func auroc(scope, out []outcome) float64 {
	type mark struct {
		confidence float64
		in         bool
	}
	marks := make([]mark, 0, len(scope)+len(out))
	for _, o := range scope {
		marks = append(marks, mark{o.confidence, true})
	}
	for _, o := range out {
		marks = append(marks, mark{o.confidence, false})
	}
	slices.SortFunc(marks, func(a, b mark) int { return cmp.Compare(a.confidence, b.confidence) })
	sum, below := 0.0, 0
	for i := 0; i < len(marks); {
		j, in, outside := i, 0, 0
		for ; j < len(marks) && marks[j].confidence == marks[i].confidence; j++ {
			if marks[j].in {
				in++
			} else {
				outside++
			}
		}
		sum += float64(in) * (float64(below) + float64(outside)/2)
		below, i = below+outside, j
	}
	return sum / float64(len(scope)) / float64(len(out))
}

// belowKept counts what is out of scope below the confidence that nine of ten
// messages in scope reach.
func belowKept(scope, out []outcome) int {
	all := make([]float64, len(scope))
	for i, o := range scope {
		all[i] = o.confidence
	}
	slices.Sort(all)
	bar := all[len(all)/10]
	return count(out, func(o outcome) bool { return o.confidence < bar })
}

// calibrationError is how far confidences lie from how often they are right,
// in ten bins, with a fifth of the stream out of scope.
func calibrationError(scope, out []outcome) float64 {
	var weight, sure, right [10]float64
	note := func(o outcome, w float64) {
		bin := min(int(o.confidence*10), 9)
		weight[bin] += w
		sure[bin] += w * o.confidence
		if slices.ContainsFunc(o.c.Gold, func(g Gold) bool { return g.Ref() == o.found }) {
			right[bin] += w
		}
	}
	for _, o := range scope {
		note(o, 1/float64(len(scope)))
	}
	for _, o := range out {
		note(o, outOfScope/(1-outOfScope)/float64(len(out)))
	}
	total, off := 0.0, 0.0
	for bin := range weight {
		total += weight[bin]
		off += math.Abs(sure[bin] - right[bin])
	}
	return off / total
}

// parameters tells how well values were read, given the right capability.
func (f *figures) parameters(scope []outcome) {
	var n slotCount
	for _, o := range scope {
		n.add(o.slots)
	}
	f.share("slot_precision", n.right, n.filled)
	f.share("slot_recall", n.right, n.wanted)
	f.share("slot_precision_required", n.requiredRight, n.required)
	f.share("exact_call", n.exact, n.calls)
}

// cost tells time and memory.
func (f *figures) cost(r *running) {
	times := make([]time.Duration, len(r.outcomes))
	for i, o := range r.outcomes {
		times[i] = o.took
	}
	slices.Sort(times)
	f.value("build", "ms", millis(r.built))
	f.value("settle", "ms", millis(r.settled))
	if len(times) > 0 {
		f.value("p50", "ms", millis(times[len(times)/2]))
		f.value("p99", "ms", millis(times[len(times)*99/100]))
	}
	f.value("heap", "MiB", float64(r.heap)/(1<<20))
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
