// Package runstate implements the state machine of a run as a pure value: apply an event, get the
// rows, ledger entries, interrupts and events to commit. It does no I/O and has neither clock nor
// randomness; times and random values are part of the events.
//
// The owner of a run calls State.Apply and commits the resulting Changes. Readers (a view, a
// verdict, a replay, an undo) build a State from a Snapshot with Read. A row, gate or intent of a
// State is never changed in place: it is replaced.
package runstate
