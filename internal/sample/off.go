//go:build !race

package sample

// Race says whether this was built with the race detector.
const Race = false
