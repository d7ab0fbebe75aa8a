//go:build !race

package sample

// Race reports whether this was built with the race detector.
const Race = false
