// Package execution runs plans. One goroutine owns a run: it starts the nodes that are ready and
// commits every transition under the run's lease. The package knows the metadata of capabilities
// but no capability by name. It does no I/O of its own: domains are called through an Invoker, and
// all durable state is in a Store.
//
// The row of a run is the source of truth; everything else is a wake-up. A run that waits for a
// gate, a lock or a timer is parked in the store: it holds no goroutine, no job and no lease.
//
// Writes are executed exactly once in domains that honour the idempotency key. In other domains
// they are executed at most once, and an unknown outcome is shown to a person.
package execution
