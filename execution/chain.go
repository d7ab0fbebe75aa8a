package execution

import (
	"crypto/rand"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// LockChain is the chain of locks that were broken. A chain has one appender: for a run its lease
// holder, for this one the transaction that breaks a lock. The run that held the lock may be parked
// or losing its lease, so its own chain cannot guarantee the entry. No run has this id.
const LockChain = "locks"

// LockBroken returns the entry that follows last in LockChain: who broke which key. Its NodeID
// names the run and node that held the lock. act adds the key and the address of the actor.
func LockBroken(last contracts.LedgerEntry, held LockHolder, by string, act AdminAction, at time.Time) (contracts.LedgerEntry, error) {
	e := contracts.LedgerEntry{
		Seq: last.Seq + 1, At: at.UTC().Truncate(time.Millisecond), RunID: LockChain, NodeID: held.RunID + "/" + held.NodeID,
		Kind: contracts.LedgerLockBroken, Key: held.Key, Actor: by, KeyID: act.KeyID, From: act.From,
	}
	return e, e.Seal(last.Hash)
}

// VerifyChain checks that the entries are one unbroken, unchanged chain from the first. The error
// names the first entry that is wrong.
func VerifyChain(entries []contracts.LedgerEntry) error { return runstate.VerifyChain(entries) }

// VerifyRun is VerifyChain for a run. It also checks that the chain ends where the run's row says.
func VerifyRun(r Run, entries []contracts.LedgerEntry) error { return runstate.VerifyRun(r, entries) }

// Difference lists the differences of two values as JSON, ordered by pointer.
func Difference(before, after any) []contracts.FieldDifference {
	return runstate.Difference(before, after)
}

// saltOf returns the salt source for the ledger of a run; nil for formats without a salt.
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

// VerifyRows compares the rows of a run with its ledger, and returns one sentence for each row that
// differs.
func VerifyRows(s Snapshot, entries []contracts.LedgerEntry, payload func(contracts.LedgerEntry) ([]byte, error)) []string {
	return runstate.VerifyRows(s, entries, payload)
}
