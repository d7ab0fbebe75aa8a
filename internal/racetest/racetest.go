// Package racetest lets tests that try every one of many moments or cases try a
// share of them under the race detector, where each takes about five times as long.
// Without it they try all, and "make race" runs those packages both ways.
package racetest

import "testing"

// Step is by how much such a test goes on from one case to the next: 1 without
// the detector, else n. It takes an odd n where cases come in pairs, so that both of
// a pair have their turn.
func Step(n int) int {
	if On {
		return n
	}
	return 1
}

// Computes leaves out a test that only computes, with nothing beside it that the
// detector could find.
func Computes(tb testing.TB) {
	tb.Helper()
	if On {
		tb.Skip("it only computes, and does so without the race detector")
	}
}
