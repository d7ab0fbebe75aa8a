// Package executiontest has support for tests of durable runs: a store in memory, a test suite for
// every execution.Store, and a decorator that makes a store fail at a chosen write, like a killed
// process.
//
// The store in memory fulfils the port completely, but its contents end with the process; it is for
// tests only.
package executiontest
