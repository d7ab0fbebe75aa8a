// Package orchestrator holds what the use cases share: the records, the ports to their store, live
// events, notices and retention. The use cases are in its subfolders: conversation processes
// messages, runs starts and ends runs, gates takes decisions. The package does no I/O itself; the
// ports.go files declare what it needs.
package orchestrator
