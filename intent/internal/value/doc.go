// Package value reads typed values out of a message: numbers, dates, clock
// times, durations and addresses, with the place where each stands. It does
// not know which parameter a value is for.
package value
