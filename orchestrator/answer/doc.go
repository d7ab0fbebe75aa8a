// Package answer composes what people read: the answer of a run, the overview of capabilities, and
// the read models of sessions, turns and runs, the same for every interface. It changes nothing.
// Composing is pure: the same run and catalog give the same answer.
package answer
