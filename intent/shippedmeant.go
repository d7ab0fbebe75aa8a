package intent

// shippedMeant are the weights with a scorer, for registries that cannot learn
// their own, and what those that can are held to.
func shippedMeant() Calibration {
	c := shipped()
	c.shown.of[signalMeant], c.shown.of[signalMeantShare] = 1, 2
	return c
}
