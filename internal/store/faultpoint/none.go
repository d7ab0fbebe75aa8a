//go:build !faultpoint

package faultpoint

// Point is where a store commits; here nothing happens at it.
type Point struct{}

// Committing is right before a commit.
func (*Point) Committing() {}

// Committed is right after one, before anybody learns of it.
func (*Point) Committed() {}
