// Command bench measures Manifold and prints the figures of README.md as Markdown: go run ./bench.
// The same measurements are Go benchmarks for developers: go test -bench . ./bench.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/internal/app"
)

func main() {
	rounds := flag.Int("rounds", 10, "how often everything is measured, after one round to warm up")
	only := flag.String("only", "", "measure only these, of "+strings.Join(partNames(), ","))
	flag.Parse()
	app.GrowHeap(os.Getenv) // as in the released server
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	if os.Getenv(hallEnv) != "" {
		exit(listenAll(ctx, os.Stdin, os.Stdout))
	}
	if os.Getenv(apartEnv) != "" {
		exit(serveApart(ctx, os.Stdin, os.Stdout))
	}
	err := report(ctx, os.Stdout, effort{rounds: *rounds, part: 1}, *only)
	stop()
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// effort is how much is measured: the number of rounds, and the divisor of the number of operations
// in each.
type effort struct{ rounds, part int }

func (e effort) of(n int) int { return max(n/e.part, 1) }

func (e effort) time(d time.Duration) time.Duration { return d / time.Duration(e.part) }

// page writes Markdown and keeps the first write error.
type page struct {
	w   io.Writer
	err error
}

func (p *page) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// report runs all measurements and writes each result at once.
func report(ctx context.Context, w io.Writer, e effort, only string) (err error) {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "manifold-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p := &page{w: w}
	p.printf("%s, `go run ./bench -rounds %d`, %s %s/%s, %d processors\n",
		time.Now().Format(time.DateOnly), e.rounds, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	for _, part := range chosen {
		own := dir + "/" + part.name
		if err := os.Mkdir(own, 0o700); err != nil {
			return err
		}
		if err := part.measure(ctx, p, own, e); err != nil {
			return err
		}
	}
	return p.err
}

// part is a section of the report.
type part struct {
	name    string
	measure func(context.Context, *page, string, effort) error
}

func parts() []part {
	return []part{{"api", overAPI}, {"stores", overStores}, {"growth", growth}, {"wakeups", wakeups}, {"across", across}, {"parked", parkedRuns}, {"retained", retained}, {"lists", lists}, {"telemetry", observed}, {"chat", chats}, {"listeners", listeners}, {"bridges", bridges}, {"engine", tenNodes}, {"chains", chains}}
}

func partNames() []string {
	var out []string
	for _, p := range parts() {
		out = append(out, p.name)
	}
	return out
}

// choose returns the parts in a comma-separated list; all if it is empty.
func choose(names string) ([]part, error) {
	if names == "" {
		return parts(), nil
	}
	var out []part
	for name := range strings.SplitSeq(names, ",") {
		i := slices.Index(partNames(), name)
		if i < 0 {
			return nil, fmt.Errorf("there is no part %q; there are %s", name, strings.Join(partNames(), ", "))
		}
		out = append(out, parts()[i])
	}
	return out, nil
}

// overAPI measures the released server: client, server and domain talk HTTP.
func overAPI(ctx context.Context, p *page, dir string, e effort) error {
	w, err := startWhole(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(apiTables(ctx, p, w, e), closing(ctx, w.close))
}

func apiTables(ctx context.Context, p *page, w *whole, e effort) error {
	atOnce, err := w.prepare(ctx, napping, 8)
	if err != nil {
		return err
	}
	inTurn, err := w.prepare(ctx, nappingOne, 8)
	if err != nil {
		return err
	}
	reads, err := compete(ctx, e.rounds, e.of(10), 1, atOnce, w.direct(napping, 8))
	if err != nil {
		return err
	}
	turns, err := compete(ctx, e.rounds, e.of(1), 1, inTurn)
	if err != nil {
		return err
	}
	limit := nap*110/100 + 10*time.Millisecond
	p.printf("\n### 8 reads of %s, asked for with one POST /v1/runs\n\n", nap)
	p.printf("| | median ms | p99 ms | of %s |\n|---|--:|--:|--:|\n", nap)
	for i, s := range []sample{reads[0], turns[0], reads[1]} {
		name := []string{"Manifold, at once", "Manifold, declared `sequential`", "8 goroutines that call the domain, no server"}[i]
		p.printf("| %s | %.1f | %.1f | × %.2f |\n", name, milliseconds(s.at(0.5)), milliseconds(s.at(0.99)), float64(s.at(0.5))/float64(nap))
	}
	p.printf("\nAt most 1.10 × %s + 10 ms = %s is asked for: %s.\n", nap, limit, verdict(reads[0].at(0.5) <= limit))
	p.printf("\n### 10 no-op reads over HTTP, asked for with one POST /v1/runs\n\n")
	quick, err := w.prepare(ctx, noop, 10)
	if err != nil {
		return err
	}
	return loadTable(ctx, p, e, []racer{{"the calls alone, no server", w.direct(noop, 10)}, {"SQLite", quick}})
}

// racer is one of several ways to make the same ten reads.
type racer struct {
	name string
	run  func(context.Context) error
}

// loadTable measures racers in turn; the first one is the baseline.
func loadTable(ctx context.Context, p *page, e effort, racers []racer) error {
	p.printf("| in flight | | median ms | p99 ms | runs/s | of the floor | processor ms a run |\n|--:|---|--:|--:|--:|--:|--:|\n")
	operations := make([]func(context.Context) error, len(racers))
	for i, r := range racers {
		operations[i] = r.run
	}
	for _, inFlight := range []int{1, 8, 64} {
		took, err := compete(ctx, e.rounds, e.of(16+2*inFlight), inFlight, operations...)
		if err != nil {
			return err
		}
		for i, r := range racers {
			p.printf("| %d | %s | %.1f | %.1f | %.0f | × %.2f | %.1f |\n", inFlight, r.name, milliseconds(took[i].at(0.5)), milliseconds(took[i].at(0.99)),
				took[i].perSecond(), took[i].perSecond()/took[0].perSecond(), milliseconds(took[i].cpuEach()))
		}
	}
	return nil
}

func verdict(holds bool) string {
	if holds {
		return "the median holds"
	}
	return "**the median does not hold**"
}

// contender is one of several implementations that run the same shapes.
type contender struct {
	name string
	make func(context.Context, string) (subject, error)
}

// contenders returns the engine and its alternatives.
func contenders() []contender {
	return []contender{{"manifold", newEngine}, {"stepwise", newStepwise}, {"errgroup", newPlain}}
}

// tenNodes measures the engine alone and its alternatives.
func tenNodes(ctx context.Context, p *page, dir string, e effort) (err error) {
	var subjects []subject
	defer func() {
		for _, s := range subjects {
			err = errors.Join(err, closing(ctx, s.close))
		}
	}()
	for _, c := range contenders() {
		s, err := c.make(ctx, dir)
		if err != nil {
			return err
		}
		subjects = append(subjects, s)
	}
	p.printf("\n### Runs of ten no-op nodes, in process\n\n")
	p.printf("| nodes | runs in flight | who | median ms | p99 ms | runs/s | commits a run |\n|---|--:|---|--:|--:|--:|--:|\n")
	for _, sh := range []shape{{nodes: 10}, {nodes: 10, parallel: true}} {
		for _, inFlight := range []int{1, 64} {
			if err := tenRows(ctx, p, subjects, sh, inFlight, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func tenRows(ctx context.Context, p *page, subjects []subject, sh shape, inFlight int, e effort) error {
	var operations []func(context.Context) error
	before := make([]int64, len(subjects))
	for i, s := range subjects {
		before[i] = s.commits()
		operations = append(operations, func(ctx context.Context) error { return s.run(ctx, sh) })
	}
	n := e.of(32 + 2*inFlight)
	took, err := compete(ctx, e.rounds, n, inFlight, operations...)
	if err != nil {
		return err
	}
	for i, c := range contenders() {
		commits := float64(subjects[i].commits()-before[i]) / float64((e.rounds+1)*n)
		p.printf("| %s | %d | %s | %.3f | %.3f | %.0f | %.1f |\n", sh, inFlight, c.name,
			milliseconds(took[i].at(0.5)), milliseconds(took[i].at(0.99)), took[i].perSecond(), commits)
	}
	return nil
}

// chains measures whether the time per node grows with the length of a run.
func chains(ctx context.Context, p *page, dir string, e effort) error {
	s, err := newEngine(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(chainTable(ctx, p, s, e), closing(ctx, s.close))
}

func chainTable(ctx context.Context, p *page, s subject, e effort) error {
	lengths := []int{250, 500, 1000}
	var operations []func(context.Context) error
	for _, n := range lengths {
		operations = append(operations, func(ctx context.Context) error { return s.run(ctx, shape{nodes: n}) })
	}
	took, err := compete(ctx, e.rounds, e.of(2), 1, operations...)
	if err != nil {
		return err
	}
	p.printf("\n### Chains of no-op nodes, in process\n\n| nodes | median ms | p99 ms | µs a node |\n|--:|--:|--:|--:|\n")
	for i, n := range lengths {
		median := took[i].at(0.5)
		p.printf("| %d | %.0f | %.0f | %.0f |\n", n, milliseconds(median), milliseconds(took[i].at(0.99)), float64(median.Microseconds())/float64(n))
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// closing closes a subject, even if the measurement was interrupted.
func closing(ctx context.Context, end func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return end(ctx)
}
