// Package orchestrator holds the use cases: who may do what, in which order.
// It turns a message into intents, intents into a plan, a plan into a run, and
// composes the answer; the rooms below it do the work. It does no I/O of its
// own: what it needs from outside stands in ports.go.
package orchestrator
