// Package answer composes what people read: the answer of a run, what there is to ask for,
// and the read models of sessions, turns and runs, the same for every interface. It changes
// nothing, and composing is pure: the same run and catalog give the same words.
package answer
