package local

// shippedMeant are the weights with a scorer, for registries that cannot learn
// their own, and what those that can are held to.
func shippedMeant() Calibration {
	c := shipped()
	c.shown.of[signalMeant], c.shown.of[signalMeantShare] = 1, 2
	c.shown.bias -= 2.2 // what the two come to in an ordinary request
	return c
}

// shippedForeign are the weights for what is said in words that are not known.
func shippedForeign() weights {
	return weights{bias: -4, of: signals{
		signalMeant: 2, signalAlike: 2, signalMeantShare: 3, signalTyped: 1, signalAbsent: -2, signalOutside: -1.5,
	}}
}
