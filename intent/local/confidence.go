package local

import "math"

// odds turns a share into a number that adds to a bias.
func odds(share float64) float64 { return math.Log(share / (1 - share)) }

// The confidence of a text that is an example word for word, and of one that
// writes the capability's identifier.
const (
	certainExample    = 0.99
	certainIdentifier = 0.97
)
