package main

import (
	"io"
	"slices"
	"strings"
	"testing"
)

const before = `goos: linux
BenchmarkChain/nodes=250-2   	      10	  72000000 ns/op	       70.5 p50-ms	  4000 B/op	     500 allocs/op
BenchmarkGone-2              	      10	  10 ns/op	  0 B/op	       0 allocs/op
PASS
`

func TestFiguresAreReadByNameAndUnit(t *testing.T) {
	t.Parallel()
	s := newSeries()
	s.add(before)
	s.add(strings.ReplaceAll(before, "-2 ", "-8 ")) // another number of processors
	if got := s["BenchmarkChain/nodes=250"]["p50-ms"]; !slices.Equal(got, []float64{70.5, 70.5}) {
		t.Errorf("%v in %v", got, s)
	}
	if len(s) != 2 {
		t.Errorf("%v", s)
	}
}

func TestWhatIsWorse(t *testing.T) {
	t.Parallel()
	times := func(v ...float64) series { return series{"BenchmarkX": {"ns/op": v}} }
	allocations := func(v float64) series { return series{"BenchmarkX": {"allocs/op": {v}}} }
	for name, c := range map[string]struct {
		base, now     series
		worse, better bool
	}{
		"slower in every round":            {times(10, 11, 12, 11, 10), times(20, 21, 22, 21, 20), true, false},
		"slower, but within the spread":    {times(10, 11, 30, 31, 12), times(13, 14, 32, 12, 15), false, false},
		"one round of many was disturbed":  {times(10, 11, 12, 11, 10), times(10, 11, 90, 11, 10), false, false},
		"quicker in every round":           {times(20, 21, 22, 21, 20), times(10, 11, 12, 11, 10), false, true},
		"more allocations":                 {allocations(100), allocations(102), true, false},
		"allocations that vary by a few":   {allocations(1000), allocations(1005), false, false},
		"fewer allocations":                {allocations(102), allocations(100), false, true},
		"allocations where there was none": {allocations(0), allocations(1), true, false},
	} {
		got := compare("./p", c.base, c.now)
		if len(got) != 1 || got[0].worse() != c.worse || got[0].better() != c.better {
			t.Errorf("%s: %+v", name, got)
		}
	}
	var out strings.Builder
	worse, err := report(&out, options{base: "abc", rounds: 5}, compare("./p", times(10), times(20)))
	if err != nil || !worse || !strings.Contains(out.String(), "| p | X | ns/op | 10 (10–10) | 20 (20–20) | 2.00 | **worse** |") {
		t.Errorf("%t, %v:\n%s", worse, err, out.String())
	}
	if _, err := report(io.Discard, options{bench: "none"}, nil); err == nil {
		t.Error("nothing was compared, and that is no error")
	}
}

func TestALineThatSaysTooLittleIsRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"-base", "x", "-rounds", "4"}, {"-base", "x", "more"}, {"-nope"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
