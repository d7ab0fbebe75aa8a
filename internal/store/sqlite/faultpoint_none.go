//go:build !faultpoint

package sqlite

// faultPoint does nothing in builds without the tag faultpoint.
type faultPoint struct{}

// Committing does nothing.
func (*faultPoint) Committing() {}

// Committed does nothing.
func (*faultPoint) Committed() {}
