// Package grounding checks a sentence against sources: every number, date, time, name, id,
// quotation and link in it must be in the given sources, with the same sign and unit. It is pure,
// and uses no language model.
//
// It does not understand the sentence. A sentence whose values are all in the sources can still be
// wrong: by a negation, a verdict in plain words ("approved" for "rejected"), a superlative, or
// another value of the same row (the days that were taken for those that are left). The table below
// the sentence shows the true values.
package grounding
