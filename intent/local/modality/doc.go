// Package modality classifies how something is said and the role of each token in a request:
// whether it is negated, hypothetical, reported, a question or retracted, and which tokens are
// values, parts of the command, courtesy or unread.
//
// It must not know any capability, and it decides nothing: the caller holds a request back.
package modality
