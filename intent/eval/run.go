package eval

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// deepest is how far down a shortlist is looked.
const deepest = 10

// Options say how a set is measured.
type Options struct {
	// Draws are the variants; their figures are averaged.
	Draws []Draw
	// Gates and their settings, as the server has them.
	Gates local.Config
	// Untrained measures the index as it is at once after a registration.
	Untrained bool
	// Limit is the most cases of a draw, taken evenly; 0 takes all.
	Limit int
	// Engine reads the messages; nil is the local matcher.
	Engine local.Matcher
	// Now resolves relative dates; zero leaves them unread.
	Now time.Time
	// Progress is told what is done; nil is fine.
	Progress func(text string)
}

// outcome is the outcome of one case.
type outcome struct {
	c Case
	// found is the most probable capability, and confidence what was given for it.
	found      string
	confidence float64
	gate       contracts.ReadingOutcome
	intents    []string
	choices    []string
	ranked     []string
	took       time.Duration
	slots      slotCount
	// unread is what no reading uses; of the writes that are accepted, marked show some.
	unread         []Unread
	writes, marked int
}

// Run measures a set.
func Run(ctx context.Context, set Set, opt Options) (Report, error) {
	draws := opt.Draws
	if len(draws) == 0 {
		draws = []Draw{{}}
	}
	report := Report{Set: set.Name, Draws: len(draws)}
	var all [][]Figure
	for i, d := range draws {
		if opt.Progress != nil {
			opt.Progress(fmt.Sprintf("draw %d of %d", i+1, len(draws)))
		}
		run := &running{opt: opt, set: d.Of(set)}
		figures, err := run.do(ctx)
		if err != nil {
			return Report{}, fmt.Errorf("measure %s: %w", set.Name, err)
		}
		all = append(all, figures)
		report.Cases, report.Capabilities, report.Wrong, report.Unread = len(run.outcomes), run.index.Size(), run.wrong(), run.unread()
	}
	report.Figures = averaged(all)
	return report, nil
}

// running is one draw on its way.
type running struct {
	opt      Options
	set      Set
	adapter  *local.Reader
	catalog  *contracts.Catalog
	index    *local.Index
	built    time.Duration
	settled  time.Duration
	heap     uint64
	outcomes []outcome
}

func (r *running) do(ctx context.Context) ([]Figure, error) {
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	for _, c := range evenly(r.set.Cases, r.opt.Limit) {
		o, err := r.one(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", c.ID, err)
		}
		r.outcomes = append(r.outcomes, o)
	}
	return r.figures(), nil
}

// prepare builds the index, and settles it unless the untrained one is asked
// for.
func (r *running) prepare(ctx context.Context) error {
	var err error
	if r.catalog, err = r.set.Catalog(); err != nil {
		return err
	}
	if r.adapter, err = local.New(r.opt.Gates, r.opt.Engine); err != nil {
		return err
	}
	before := heapInUse()
	start := time.Now()
	r.index = r.adapter.Prepare(r.catalog)
	r.built = time.Since(start)
	if !r.opt.Untrained {
		start = time.Now()
		if r.index, err = r.adapter.Settle(ctx, r.catalog); err != nil {
			return err
		}
		r.settled = time.Since(start)
	}
	if after := heapInUse(); after > before {
		r.heap = after - before
	}
	return nil
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func evenly(cases []Case, most int) []Case {
	if most <= 0 || most >= len(cases) {
		return cases
	}
	out := make([]Case, most)
	for i := range out {
		out[i] = cases[i*len(cases)/most]
	}
	return out
}

func (r *running) one(ctx context.Context, c Case) (outcome, error) {
	req := intent.Request{Message: c.Text, Catalog: r.catalog, Only: c.Offered, Now: r.opt.Now}
	start := time.Now()
	u, clauses, err := r.adapter.Explain(ctx, req)
	o := outcome{c: c, took: time.Since(start), gate: u.Outcome}
	if err != nil {
		return o, err
	}
	for _, clause := range clauses {
		if len(clause.Candidates) > 0 && clause.Candidates[0].Confidence > o.confidence {
			o.found, o.confidence = clause.Candidates[0].Entry.Ref(), clause.Candidates[0].Confidence
		}
	}
	o = o.leaving(u, r.catalog)
	for _, in := range u.Intents {
		o.intents = append(o.intents, in.Ref())
	}
	for _, a := range u.Choices {
		o.choices = append(o.choices, a.Domain+"."+a.Capability)
	}
	ranked, err := r.adapter.Shortlist(ctx, req, deepest)
	for _, k := range ranked {
		o.ranked = append(o.ranked, k.Entry.Ref())
	}
	if err == nil && len(c.Gold) == 1 {
		o.slots = r.slots(c)
	}
	return o, err
}

// slots reads the parameters of the capability that is meant.
func (r *running) slots(c Case) slotCount {
	entry, ok := r.catalog.Capability(c.Gold[0].Ref())
	if !ok {
		return slotCount{}
	}
	values, _ := r.adapter.Fill(entry, c.Text, nil, r.opt.Now)
	if c.Partial {
		maps.DeleteFunc(values, func(name string, _ any) bool { return c.Gold[0].Parameters[name] == nil })
	}
	return countSlots(entry, c.Gold[0].Parameters, values)
}

// understood reports whether all that was asked for was found, and nothing else.
func (o outcome) understood() bool {
	return len(o.c.Gold) > 0 && !slices.ContainsFunc(o.c.Gold, func(g Gold) bool { return !slices.Contains(o.intents, g.Ref()) }) &&
		!slices.ContainsFunc(o.intents, func(ref string) bool {
			return !slices.ContainsFunc(o.c.Gold, func(g Gold) bool { return g.Ref() == ref })
		})
}

// within reports whether all that was asked for is among the first k.
func (o outcome) within(k int) bool {
	first := o.ranked[:min(k, len(o.ranked))]
	return !slices.ContainsFunc(o.c.Gold, func(g Gold) bool { return !slices.Contains(first, g.Ref()) })
}

// share is how much of what was asked for is among the first k.
func (o outcome) share(k int) float64 {
	found := 0
	for _, g := range o.c.Gold {
		if slices.Contains(o.ranked[:min(k, len(o.ranked))], g.Ref()) {
			found++
		}
	}
	return float64(found) / float64(len(o.c.Gold))
}
