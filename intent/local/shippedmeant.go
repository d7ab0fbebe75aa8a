package local

// shippedMeant returns the shipped weights with embeddings, which also regularize a fit to a
// catalog.
func shippedMeant() Calibration {
	c := shipped()
	c.shown.of[signalMeant], c.shown.of[signalMeantShare] = 1, 2
	c.shown.bias -= 2.2 // compensates the two weights in an average request
	return c
}

// shippedForeign returns the weights for messages with few known words.
func shippedForeign() weights {
	return weights{bias: -4, of: signals{
		signalMeant: 2, signalAlike: 2, signalMeantShare: 3, signalTyped: 1, signalAbsent: -2, signalOutside: -1.5,
	}}
}
