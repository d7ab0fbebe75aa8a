// Package values reads typed values out of a message: numbers in digits and words,
// units, dates, clock times, durations, addresses and formulas, each with its place.
//
// It must not know which parameter a value is for; package slots decides that.
package values
