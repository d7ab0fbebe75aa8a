// Package modality tells how something is said and what each word is to a request:
// whether it is negated, hypothetical, reported, asked about or taken back, and
// which tokens are values, parts of the command, courtesy or unread.
//
// It must not know a single capability, and it decides nothing: the caller holds a
// request back.
package modality
