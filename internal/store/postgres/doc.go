// Package postgres keeps everything that the core keeps in a PostgreSQL
// database that several processes share.
//
// What advances runs, and what changes a single row of a conversation, goes
// through one writer of each process, which commits many changes in one
// transaction (group commit) and answers after the COMMIT. It locks the rows of
// the runs in the order of their ids, decides by them in Go, and sends what
// follows as one batch. The database tells what that has changed, and the seals
// of it go with the COMMIT: three round trips however many runs it serves, two
// where nothing is decided by. All else is a short transaction on a connection
// of the pool.
//
// The clock of the server decides leases and expiries. Order of locking: the
// locks of resources (an advisory lock), rows of runs by id, all else, seals by
// their scopes.
package postgres
