// Package audit accounts for what was done: the ledger of a run, whether its
// chain still holds, and the run played again from both.
package audit
