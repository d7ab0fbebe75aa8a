package local

import "math"

// odds returns the log-odds of a probability.
func odds(share float64) float64 { return math.Log(share / (1 - share)) }

// The confidence of a text that matches an example exactly, and of one that contains the
// identifier of the capability.
const (
	certainExample    = 0.99
	certainIdentifier = 0.97
)
