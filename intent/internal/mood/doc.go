// Package mood tells how something is said where it is no plain request: negated,
// supposed, asked about or reported.
package mood
