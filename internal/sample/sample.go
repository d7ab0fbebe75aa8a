// Package sample decides how many of many like cases a test tries: a share that a
// seed chooses when a change is checked, a smaller one with -short, and all of them
// at night.
//
// MANIFOLD_NIGHTLY=1 asks for all. SAMPLE_SEED chooses the share, 1 without it.
package sample

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Nightly reports whether everything is wanted.
func Nightly() bool { return os.Getenv("MANIFOLD_NIGHTLY") == "1" }

// Seed chooses what is tried.
func Seed(tb testing.TB) uint64 {
	tb.Helper()
	text := os.Getenv("SAMPLE_SEED")
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		tb.Fatalf("SAMPLE_SEED: %v", err)
	}
	return seed
}

// Of returns the numbers of the cases that are tried, of n cases in their order, so
// that one of each oneIn neighbours has its turn. With -short, and under the race
// detector, where each takes about five times as long, it is one of three times as
// many. At night all are tried, under the detector as many as else without it.
func Of(tb testing.TB, n, oneIn int) []int {
	tb.Helper()
	step := stepOf(oneIn, Nightly(), Race || testing.Short())
	if step == 1 {
		return pick(n, 1, nil)
	}
	seed := Seed(tb)
	chosen := pick(n, step, rand.New(rand.NewPCG(seed, nameOf(tb)))) //nolint:gosec // it must be the same for one seed
	tb.Logf("%d of %d cases are tried, by SAMPLE_SEED=%d; MANIFOLD_NIGHTLY=1 tries all", len(chosen), n, seed)
	return chosen
}

// Long leaves out a test that takes long with -short; why says what it does so long.
func Long(tb testing.TB, why string) {
	tb.Helper()
	if testing.Short() {
		tb.Skipf("left out with -short: %s", why)
	}
}

// Night leaves out a test except at night.
func Night(tb testing.TB, why string) {
	tb.Helper()
	if !Nightly() {
		tb.Skipf("MANIFOLD_NIGHTLY=1 runs it: %s", why)
	}
}

// Computes leaves out a test that only computes, with nothing beside it that the
// race detector could find.
func Computes(tb testing.TB) {
	tb.Helper()
	if Race {
		tb.Skip("it only computes, and does so without the race detector")
	}
}

func stepOf(oneIn int, nightly, slow bool) int {
	switch {
	case nightly && slow:
		return max(1, oneIn)
	case nightly:
		return 1
	case slow:
		return 3 * max(1, oneIn)
	}
	return max(1, oneIn)
}

// pick takes one of each step neighbours.
func pick(n, step int, rng *rand.Rand) []int {
	chosen := make([]int, 0, n/step+1)
	for from := 0; from < n; from += step {
		at := from
		if step > 1 {
			at += rng.IntN(min(step, n-from))
		}
		chosen = append(chosen, at)
	}
	return chosen
}

// nameOf has tests of one seed take different cases.
func nameOf(tb testing.TB) uint64 {
	tb.Helper()
	h := fnv.New64a()
	_, _ = h.Write([]byte(tb.Name()))
	return h.Sum64()
}
