// Package attack holds what a stranger, or a colleague who is one, would try
// against a running server: to be their own second pair of eyes, to pose as
// somebody else, to learn or delete what is not theirs, to keep what was taken
// from them. Each test is an attack that must fail, made through the public
// interfaces; what was really done is read from the record of the domain.
//
// It has no code of its own.
package attack
