// Package grounding checks a sentence against what was found: every number, date,
// time, name, id, quotation and link in it must stand in the sources that it is
// given, with the same sign and unit. It is pure, and knows no language model.
//
// It does not read. A sentence whose values all stand in the sources can still be
// wrong in what it says of them: a negation, a verdict in plain words ("approved"
// for "rejected"), a superlative, another value of the same row (the days that were
// taken for those that are left). That is for the table that stands below it.
package grounding
