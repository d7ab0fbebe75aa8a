// Package runstate implements the state machine of a run as a pure value: apply an event,
// get the rows, ledger entries, interrupts and events to commit. It does no I/O and has
// neither clock nor randomness: both come in with an event.
//
// Whoever owns a run calls State.Apply and commits the Changes that it gives.
// Whoever only reads (a view, a verdict, a replay, an undo) makes a State of
// what is stored with Read. A row, a gate or an intent that a State holds is
// never changed in place: it is replaced.
package runstate
