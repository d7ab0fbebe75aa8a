//go:build !faultpoint

package sqlite

// faultPoint is where a store commits; here nothing happens at it.
type faultPoint struct{}

// Committing is right before a commit.
func (*faultPoint) Committing() {}

// Committed is right after one, before anybody learns of it.
func (*faultPoint) Committed() {}
