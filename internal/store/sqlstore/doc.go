// Package sqlstore implements all stores of the core on a SQL database: rows, scans and
// statements, once for all databases. A Backend implements what differs between them:
// transactions, seals and notifications; a Dialect renders the few statements that differ.
//
// What advances runs, and what changes a single row of a conversation, goes
// through one writer of each process, which commits many changes in one
// transaction (group commit) and answers after the COMMIT. A change says ahead
// which rows it decides by; they are read together, the change decides by them
// in Go, and what follows from all changes is written together.
package sqlstore
