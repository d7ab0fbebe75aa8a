// Package sql keeps everything that the core keeps in a SQL database: rows,
// scans and statements, once for all databases. What differs between them, a
// Backend does: transactions, seals, what other processes are told, and the few
// places of a statement that a Dialect renders.
//
// What advances runs, and what changes a single row of a conversation, goes
// through one writer of each process, which commits many changes in one
// transaction (group commit) and answers after the COMMIT. A change says ahead
// which rows it decides by; they are read together, the change decides by them
// in Go, and what follows from all changes is written together.
package sql
