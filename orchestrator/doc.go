// Package orchestrator has what the use cases share: records, the ports to their store,
// live events, notices and retention. The use cases are in its subfolders: conversation
// takes messages, runs starts and ends runs, gates takes decisions. It does no I/O of
// its own: what it needs from outside stands in ports.go.
package orchestrator
