// Package sqlite is the SQLite backend of internal/store/sqlstore (pure Go, no cgo): connections,
// transactions, and seals by SQLite's pre-update hook. It is the default store, for a single
// process; opening the same file in a second process fails.
//
// One goroutine writes. It commits many changes in one transaction and answers each after COMMIT
// has reached the disk. It never waits for a batch to fill: the next batch gathers while one is
// synced. Changes are rejected before they write. If a transaction fails, each of its writes is
// retried alone, so that one error affects only its own write. Reads use separate connections.
package sqlite
