// Package postgres is the PostgreSQL backend of internal/store/sqlstore, which several processes
// may share: connections, transactions, locks and notifications between processes.
//
// The writer of each process locks the rows of the runs in id order and sends all further
// statements as one batch. The database returns what these have changed, and the seals of the
// changes are sent with the COMMIT. A transaction takes three round trips, however many runs it
// changes, and two if it reads nothing first. All other writes are short transactions on a pooled
// connection.
//
// Leases and expiries use the clock of the database server. Locking order: resource locks (an
// advisory lock), rows of runs by id, everything else, seals by scope.
package postgres
