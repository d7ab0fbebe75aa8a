package execution

import (
	"crypto/rand"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// LockChain is the chain of locks that were broken. A chain has one appender:
// that of a run its lease holder, this one the transaction that breaks a lock.
// The run that held the lock may have left it, or be about to, so
// that its own chain cannot promise the entry. No run has this id.
const LockChain = "locks"

// LockBroken is the entry that follows last in LockChain: who broke which key,
// and as NodeID the run and node that held it; act tells with which key of their
// own, and from where.
func LockBroken(last contracts.LedgerEntry, held LockHolder, by string, act AdminAction, at time.Time) (contracts.LedgerEntry, error) {
	e := contracts.LedgerEntry{
		Seq: last.Seq + 1, At: at.UTC().Truncate(time.Millisecond), RunID: LockChain, NodeID: held.RunID + "/" + held.NodeID,
		Kind: contracts.LedgerLockBroken, Key: held.Key, Actor: by, KeyID: act.KeyID, From: act.From,
	}
	return e, e.Seal(last.Hash)
}

// VerifyChain checks that the entries are one unbroken, unchanged chain from
// the first; the error names the entry that is not.
func VerifyChain(entries []contracts.LedgerEntry) error { return runstate.VerifyChain(entries) }

// VerifyRun is VerifyChain for a run, and checks that the chain reaches as far
// as the run's row says.
func VerifyRun(r Run, entries []contracts.LedgerEntry) error { return runstate.VerifyRun(r, entries) }

// Difference lists where two values differ as JSON, by pointer in order.
func Difference(before, after any) []contracts.FieldDifference {
	return runstate.Difference(before, after)
}

// saltOf is what salts the ledger of a run of a format; nil for nothing.
func saltOf(format int) func() []byte {
	if format < runstate.Format3 {
		return nil
	}
	return newSalt
}

func newSalt() []byte {
	salt := make([]byte, runstate.SaltSize)
	_, _ = rand.Read(salt) // it never returns an error
	return salt
}

// VerifyRows compares the rows of a run with what its ledger says of them, and
// gives one sentence for each that differs.
func VerifyRows(s Snapshot, entries []contracts.LedgerEntry, payload func(contracts.LedgerEntry) ([]byte, error)) []string {
	return runstate.VerifyRows(s, entries, payload)
}
