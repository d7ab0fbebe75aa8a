//go:build race

package racetest

// On says whether this was built with the race detector.
const On = true
