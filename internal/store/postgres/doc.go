// Package postgres is the PostgreSQL behind internal/store/sqlstore, which several
// processes share: connections, transactions, locks, and what processes tell
// each other.
//
// The writer of each process locks the rows of the runs in the order of their
// ids, and sends what follows as one batch. The database tells what that has
// changed, and the seals of it go with the COMMIT: three round trips however many
// runs it serves, two where nothing is decided by. All else is a short
// transaction on a connection of the pool.
//
// The clock of the server decides leases and expiries. Order of locking: the
// locks of resources (an advisory lock), rows of runs by id, all else, seals by
// their scopes.
package postgres
