// Package sqlite is the SQLite file behind internal/store/sqlstore (pure Go, no cgo):
// connections, transactions, and seals by the hook that SQLite calls before it
// changes a row. It is the default store, for one process; a second one that
// opens the same file is refused.
//
// One goroutine writes. It commits many changes in one transaction and answers
// each only after COMMIT reached the disk; it never waits for a batch to fill:
// while one batch is synced the next one gathers. Changes refuse before they
// write; a transaction that fails is repeated with each of its writes alone, so
// that one fault harms only its own write. Reads use connections of their own.
package sqlite
