// Package wording tells how the words of a request stand: what is between two of
// them, in which quotation, list or key they are, and where a part of a sentence ends.
// It knows no parameter.
package wording
