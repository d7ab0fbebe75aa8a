// Command fit fits the weights of the matcher on sets of cases in the form of manifold
// eval, and writes them as Go code:
//
//	go run ./internal/dev/fit values -o intent/local/slots/weights.go internal/dev/fit/testdata/functions.json bfcl.json seal.json
//	go run ./internal/dev/fit confidence -o intent/local/shipped.go set.json other.json
//
// The value weights, which read numbers and free text, are fitted on the first set only; the others
// are held out. Before that, each set is measured with the shipped weights, with those of the
// first set, of the others, of its own other half and of itself. The confidence weights are fitted
// on all sets, and each set is measured with those of the others. The result is deterministic.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/eval"
	"github.com/manifold-run/manifold/intent/local/slots"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	switch {
	case len(args) > 0 && args[0] == "values":
		return fitValues(args[1:], out)
	case len(args) > 0 && args[0] == "confidence":
		return fitConfidence(ctx, args[1:], out)
	default:
		return contracts.Errorf(contracts.CodeInvalid, "say which weights are fitted: values or confidence")
	}
}

func fitValues(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("values", flag.ContinueOnError)
	to := flags.String("o", "", "the Go file for the weights of a fit on the first set; empty only measures")
	examples := flags.Int("n", 10, "how many examples each capability keeps")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() < 2 {
		return contracts.Errorf(contracts.CodeInvalid, "name two files of sentences or more: one alone tells nothing of others")
	}
	var sets []*lessons
	for _, path := range flags.Args() {
		set, err := read(path, *examples)
		if err != nil {
			return err
		}
		sets = append(sets, set)
	}
	crossValidate(out, sets)
	if *to == "" {
		return nil
	}
	weights := fit(sets[0])
	if err := os.WriteFile(*to, []byte(source(weights)), 0o644); err != nil { //nolint:gosec // a source file
		return fmt.Errorf("write the weights: %w", err)
	}
	return nil
}

// lessons are the requests of one set with a single capability whose values are known.
type lessons struct {
	name    string
	plain   []request
	hurried []request
}

// request is one sentence with the expected result.
type request struct {
	entry *contracts.CapabilityEntry
	text  string
	gold  eval.Gold
	split string
}

// perturbSeed is the seed for the simulated typing errors.
const perturbSeed = 1

func read(path string, examples int) (*lessons, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // the file that is asked for
	if err != nil {
		return nil, fmt.Errorf("read the sentences: %w", err)
	}
	set, err := eval.Parse(raw)
	if err != nil {
		return nil, err
	}
	out := &lessons{name: cmp.Or(set.Name, filepath.Base(path))}
	if out.plain, err = requests(set, eval.Draw{Examples: examples, Seed: perturbSeed}); err != nil {
		return nil, err
	}
	out.hurried, err = requests(set, eval.Draw{Examples: examples, Seed: perturbSeed, Perturb: true})
	return out, err
}

func requests(set eval.Set, draw eval.Draw) ([]request, error) {
	set = draw.Of(set)
	catalog, err := set.Catalog()
	if err != nil {
		return nil, err
	}
	var out []request
	for _, c := range set.Cases {
		if len(c.Gold) != 1 || len(c.Gold[0].Parameters) == 0 {
			continue
		}
		if entry, ok := catalog.Capability(c.Gold[0].Ref()); ok {
			out = append(out, request{entry, c.Text, c.Gold[0], c.Split})
		}
	}
	return out, nil
}

// passes is how often examples are collected and fitted. Which candidate values are considered, and
// which words are left for texts, depends on the weights used: the first pass uses the prior ones,
// the next one those of the pass before. The shipped ones are never used, because then each fit
// would depend on the previous one.
const passes = 2

// fit returns the weights fitted on sets.
func fit(sets ...*lessons) slots.Weights {
	w := slots.Prior()
	for range passes {
		w = slots.Fit(collect(slots.NewTools().With(w), sets...), slots.Prior())
	}
	return w
}

// collect returns the examples of sets: each request unchanged and in lower case. Requests with typing
// errors would teach not to read values.
func collect(tools *slots.Tools, sets ...*lessons) []slots.Example {
	var out []slots.Example
	for _, s := range sets {
		for _, r := range s.plain {
			for _, text := range []string{r.text, strings.ToLower(r.text)} {
				l := tools.Example(r.entry, text, time.Time{}, r.gold.Right, r.gold.MayLack)
				l.Weight = 1 / float64(2*len(s.plain)*len(sets)) // each set has the same weight
				out = append(out, l)
			}
		}
	}
	return out
}

// crossValidate measures each set with the shipped weights, with weights that never saw it, with
// weights that saw its other half, and with its own.
func crossValidate(out io.Writer, sets []*lessons) {
	fmt.Fprintf(out, "%-12s %-16s %-14s %8s %8s %8s\n", "measured on", "fitted on", "part", "read", "right", "exact")
	first := fit(sets[0])
	for i, held := range sets {
		others := slices.Delete(slices.Clone(sets), i, i+1)
		even, odd := held.half(0), held.half(1)
		fits := []fitted{
			{"nothing", []part{{held, slots.Prior()}}},
			{"as shipped", []part{{held, slots.Shipped()}}},
			{"the first", []part{{held, first}}},
			{"the others", []part{{held, fit(others...)}}},
			{"its other half", []part{{even, fit(odd)}, {odd, fit(even)}}},
			{"itself", []part{{held, fit(held)}}},
		}
		if i == 0 {
			fits = slices.Delete(fits, 2, 3) // which is itself
		}
		for _, fit := range fits {
			fit.measure(out, held.name)
		}
	}
}

// fitted are weights with a name for the sets that they were fitted on.
type fitted struct {
	name  string
	parts []part
}

// measure prints the metrics of a set as a whole, with typing errors, and per split.
func (f fitted) measure(out io.Writer, of string) {
	plain, hurried, splits := &figures{}, &figures{}, map[string]*figures{}
	for _, p := range f.parts {
		tools := slots.NewTools().With(p.weights)
		plain.add(tools, p.of.plain)
		hurried.add(tools, p.of.hurried)
		for _, r := range p.of.plain {
			if splits[r.split] == nil {
				splits[r.split] = &figures{}
			}
			splits[r.split].add(tools, []request{r})
		}
	}
	fmt.Fprintf(out, "%-12s %-16s %-14s %s\n", of, f.name, "all", plain)
	if len(splits) > 1 {
		for _, split := range slices.Sorted(maps.Keys(splits)) {
			fmt.Fprintf(out, "%-12s %-16s %-14s %s\n", of, f.name, split, splits[split])
		}
	}
	fmt.Fprintf(out, "%-12s %-16s %-14s %s\n", of, f.name, "all, hurried", hurried)
}

// part is a set with the weights to measure it with.
type part struct {
	of      *lessons
	weights slots.Weights
}

// half returns every second request, starting at from.
func (l *lessons) half(from int) *lessons {
	out := &lessons{name: l.name}
	for i := from; i < len(l.plain); i += 2 {
		out.plain, out.hurried = append(out.plain, l.plain[i]), append(out.hurried, l.hurried[i])
	}
	return out
}

// figures counts the required values, those that were read, those that are right, the requests, and
// those that are right completely.
type figures struct{ needed, read, right, requests, exact float64 }

func (f *figures) String() string {
	return fmt.Sprintf("%7.1f%% %7.1f%% %7.1f%%", 100*f.read/max(f.needed, 1), 100*f.right/max(f.read, 1), 100*f.exact/max(f.requests, 1))
}

func (f *figures) add(tools *slots.Tools, requests []request) {
	for _, r := range requests {
		set, m := slots.Compile(tools, r.entry, "", nil), tools.Read(r.text, time.Time{})
		values := set.Answer(m, nil).Values
		whole := true
		for name := range r.gold.Parameters {
			v, has := values[name]
			good, free := has && r.gold.Right(name, v), r.gold.MayLack(name)
			whole = whole && (good || !has && free)
			if free {
				continue
			}
			f.needed++
			f.read += count(has)
			f.right += count(good)
		}
		for name := range values {
			whole = whole && r.gold.Parameters[name] != nil
		}
		f.requests++
		f.exact += count(whole)
	}
}

func count(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// source returns the Go source file with the weights.
func source(w slots.Weights) string {
	var b strings.Builder
	b.WriteString("// Code generated by go run ./internal/dev/fit values. DO NOT EDIT.\n\npackage slots\n\n// shippedWeights come with the program.\nfunc shippedWeights() weights {\n\treturn weights{\n")
	for name, x := range w.All() {
		fmt.Fprintf(&b, "\t\t%s: %.2f,\n", name, x)
	}
	b.WriteString("\t}\n}\n")
	return b.String()
}
