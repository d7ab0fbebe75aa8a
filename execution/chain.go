package execution

import (
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/model"
)

// LockChain is the chain of locks that were broken. A chain has one appender:
// that of a run its lease holder, this one the transaction that breaks a lock.
// The run that held the lock may have left it, or be about to, so
// that its own chain cannot promise the entry. No run has this id.
const LockChain = "locks"

// LockBroken is the entry that follows last in LockChain: who broke which key,
// and as NodeID the run and node that held it.
func LockBroken(last contracts.LedgerEntry, held LockHolder, by string, at time.Time) (contracts.LedgerEntry, error) {
	e := contracts.LedgerEntry{
		Seq: last.Seq + 1, At: at.UTC().Truncate(time.Millisecond), RunID: LockChain, NodeID: held.RunID + "/" + held.NodeID,
		Kind: contracts.LedgerLockBroken, Key: held.Key, Actor: by,
	}
	return e, e.Seal(last.Hash)
}

// VerifyChain checks that the entries are one unbroken, unchanged chain from
// the first; the error names the entry that is not.
func VerifyChain(entries []contracts.LedgerEntry) error { return model.VerifyChain(entries) }

// VerifyRun is VerifyChain for a run, and checks that the chain reaches as far
// as the run's row says.
func VerifyRun(r Run, entries []contracts.LedgerEntry) error { return model.VerifyRun(r, entries) }

// Difference lists where two values differ as JSON, by pointer in order.
func Difference(before, after any) []contracts.FieldDifference {
	return model.Difference(before, after)
}
