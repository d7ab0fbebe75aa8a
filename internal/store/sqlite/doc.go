// Package sqlite keeps everything that must survive a crash in one SQLite file
// (pure Go, no cgo): runs, gates, events, ledgers and artifacts, sessions,
// domains and keys. It is the default store, for one process; a second one
// that opens the same file is refused.
//
// All writes go through one goroutine that commits many of them in one
// transaction and answers each only after COMMIT reached the disk. It never
// waits for a batch to fill: while one batch is being synced the next one
// gathers. A refusal (a lost lease, a conflict) harms only itself: a batch that
// holds one is rolled back and repeated with a savepoint for each write. Reads
// use connections of their own.
//
// The package decides nothing: what a transition means stands in the ports
// that it implements, and the suites beside those ports say what it must do.
package sqlite
