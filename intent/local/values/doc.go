// Package values extracts typed values from a message: numbers in digits and words, units, dates,
// clock times, durations, addresses and formulas, each with its tokens.
//
// It must not know which parameter a value is for; package slots decides that.
package values
