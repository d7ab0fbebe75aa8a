package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// series has the figures of each benchmark, by name and unit.
type series map[string]map[string][]float64

func newSeries() series { return series{} }

// add parses the output of a benchmark. The number of processors after a name is not part of it.
func (s series) add(text string) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := fields[0]
		if i := strings.LastIndex(name, "-"); i > 0 {
			if _, err := strconv.Atoi(name[i+1:]); err == nil {
				name = name[:i]
			}
		}
		if s[name] == nil {
			s[name] = map[string][]float64{}
		}
		for i := 2; i+1 < len(fields); i += 2 {
			if v, err := strconv.ParseFloat(fields[i], 64); err == nil {
				s[name][fields[i+1]] = append(s[name][fields[i+1]], v)
			}
		}
	}
}

// spread is a median with the quartiles of the figures.
type spread struct{ low, median, high float64 }

func spreadOf(figures []float64) spread {
	sorted := slices.Sorted(slices.Values(figures))
	return spread{at(sorted, 0.25), at(sorted, 0.5), at(sorted, 0.75)}
}

// at returns a quantile of sorted figures, interpolated.
func at(sorted []float64, q float64) float64 {
	place := q * float64(len(sorted)-1)
	n := int(place)
	if n+1 >= len(sorted) {
		return sorted[n]
	}
	return sorted[n] + (place-float64(n))*(sorted[n+1]-sorted[n])
}

// comparison is one benchmark in one unit, before and now.
type comparison struct {
	pkg, name, unit string
	base, now       spread
}

// units are the compared units. Allocations are counted, and vary by a few with concurrency; times
// have a spread.
var units = []string{"ns/op", "p50-ms", "allocs/op"}

const sameAllocations = 1.01

func compare(pkg string, base, now series) []comparison {
	var out []comparison
	for _, name := range slices.Sorted(maps.Keys(now)) {
		for _, unit := range units {
			before, after := base[name][unit], now[name][unit]
			if len(before) == 0 || len(after) == 0 {
				continue // there is nothing to compare it with
			}
			out = append(out, comparison{pkg, name, unit, spreadOf(before), spreadOf(after)})
		}
	}
	return out
}

// worse reports whether it has got worse: more allocations, or more time with disjoint middle
// halves.
func (c comparison) worse() bool {
	if c.unit == "allocs/op" {
		return c.now.median > sameAllocations*c.base.median
	}
	return c.now.low > c.base.high
}

func (c comparison) better() bool {
	if c.unit == "allocs/op" {
		return sameAllocations*c.now.median < c.base.median
	}
	return c.now.high < c.base.low
}

func (s spread) String() string {
	return fmt.Sprintf("%s (%s–%s)", figure(s.median), figure(s.low), figure(s.high))
}

func figure(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// report writes the table, and reports whether anything got worse.
func report(out io.Writer, o options, all []comparison) (worse bool, err error) {
	_, err = fmt.Fprintf(out, "median (middle half) of %d rounds in turn, %s beside the working tree\n\n"+
		"| package | benchmark | unit | %s | now | × | |\n|---|---|---|--:|--:|--:|---|\n", o.rounds, o.base, o.base)
	for _, c := range all {
		verdict := ""
		switch {
		case c.worse():
			verdict, worse = "**worse**", true
		case c.better():
			verdict = "better"
		}
		ratio := "–"
		if c.base.median > 0 {
			ratio = fmt.Sprintf("%.2f", c.now.median/c.base.median)
		}
		_, failed := fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s |\n",
			strings.TrimPrefix(c.pkg, "./"), strings.TrimPrefix(c.name, "Benchmark"), c.unit, c.base, c.now, ratio, verdict)
		if err == nil {
			err = failed
		}
	}
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("no benchmark of both matches %q", o.bench)
	}
	return worse, err
}
