// Package spelling tells names from other words by their capitals, their particles and
// what stands around them. It knows no parameter, only what a Request tells of all.
package spelling
