// Package executiontest holds what tests of a durable run need: a store in
// memory, the suite of sentences that every execution.Store must fulfil, and a
// decorator that lets a store die at a chosen write, as a killed process would.
//
// The store in memory follows the port to the letter, but forgets everything
// with the process; it is for tests only.
package executiontest
