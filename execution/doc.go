// Package execution runs a plan: one goroutine owns a run, starts what is
// ready, and commits every transition under its lease. It knows capability
// metadata and never a capability's name, and does no I/O of its own: domains
// are called through an Invoker, everything durable is in a Store.
//
// The row of a run is the truth; everything else is a wake-up. What waits (a
// gate, a lock, a timer) waits in the store: a parked run holds no goroutine,
// no job and no lease.
//
// The guarantee for writes: exactly once for domains that honour the
// idempotency key; otherwise at most once, with the doubtful ones surfaced to
// a person.
package execution
