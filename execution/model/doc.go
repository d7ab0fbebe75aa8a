// Package model is the state of a run as a value: its nodes and their rows, what
// they wait for, the gates and intents, and what follows when something
// happens to one of them. It has nothing to do with language models: those stand behind
// the port Mind of package execution. It does no I/O, draws nothing at random and has no
// clock; what is random or timed comes in with an event.
//
// Whoever owns a run calls State.Apply and commits the Changes that it gives.
// Whoever only reads (a view, a verdict, a replay, an undo) makes a State of
// what is stored with Read. A row, a gate or an intent that a State holds is
// never changed in place: it is replaced.
package model
