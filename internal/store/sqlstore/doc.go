// Package sqlstore implements all stores of the core on a SQL database: rows, scans and
// statements, once for all databases. A Backend implements what differs between them:
// transactions, seals and notifications. A Dialect renders the few statements that differ.
//
// Changes of runs and changes of single conversation rows go through the one writer of each
// process. It commits many changes in one transaction (group commit) and answers them after the
// COMMIT. A change declares in advance which rows it needs. These are read together, each change
// decides in Go, and the results of all changes are written together.
package sqlstore
