// Package postgres keeps everything that the core keeps in a PostgreSQL
// database that several processes share.
//
// What advances runs goes through one writer of each process, which commits
// many changes in one transaction (group commit) and answers after the COMMIT.
// It locks the rows of the runs in the order of their ids, decides by them in
// Go, and sends what follows as one batch with the COMMIT in it, so that a
// transaction takes two round trips however many runs it serves. All else is
// one statement or one short transaction on a connection of the pool.
//
// The clock of the server decides leases and expiries. Order of locking: the
// locks of resources (an advisory lock), rows of runs by id, all else.
package postgres
