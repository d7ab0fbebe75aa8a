// Package sample decides how many of many similar cases a test runs: a share chosen by a seed when
// a change is checked, a smaller one with -short, and all of them in nightly runs.
//
// MANIFOLD_NIGHTLY=1 selects all. SAMPLE_SEED selects the share; its default is 1.
package sample

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Nightly reports whether all cases are to be run.
func Nightly() bool { return os.Getenv("MANIFOLD_NIGHTLY") == "1" }

// Seed returns the seed that selects the cases.
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

// Of returns the indexes of the cases to run, of n cases: one of every oneIn neighbours. With
// -short, and under the race detector, where a case takes about five times as long, it is one of
// three times as many. Nightly runs take all, or one of oneIn under the race detector.
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

// Long skips a slow test with -short; why explains what takes long.
func Long(tb testing.TB, why string) {
	tb.Helper()
	if testing.Short() {
		tb.Skipf("left out with -short: %s", why)
	}
}

// Night skips a test except in nightly runs.
func Night(tb testing.TB, why string) {
	tb.Helper()
	if !Nightly() {
		tb.Skipf("MANIFOLD_NIGHTLY=1 runs it: %s", why)
	}
}

// Computes skips a test that only computes, without concurrency, under the race detector.
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

// pick returns one of every step neighbours.
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

// nameOf hashes the name of the test, so that tests with one seed take different cases.
func nameOf(tb testing.TB) uint64 {
	tb.Helper()
	h := fnv.New64a()
	_, _ = h.Write([]byte(tb.Name()))
	return h.Sum64()
}
