package runstate

import "github.com/manifold-run/manifold/contracts"

// VerifyChain checks that the entries are one unbroken, unchanged chain from the first. The error
// names the first entry that is wrong.
func VerifyChain(entries []contracts.LedgerEntry) error {
	prev := ""
	for i, e := range entries {
		stored := e.Hash
		if e.Seq != int64(i+1) || e.PrevHash != prev {
			return contracts.Errorf(contracts.CodeConflict, "ledger entry %d does not follow the one before it", i+1)
		}
		if err := e.Seal(prev); err != nil {
			return err
		}
		if e.Hash != stored {
			return contracts.Errorf(contracts.CodeConflict, "ledger entry %d was changed after it was written", i+1)
		}
		prev = stored
	}
	return nil
}

// VerifyRun checks the chain of a run, and that it is as long as the run's row says. Without that
// check, a chain with its end cut off would be valid.
func VerifyRun(r Run, entries []contracts.LedgerEntry) error {
	if err := VerifyChain(entries); err != nil {
		return err
	}
	last := int(r.LedgerSeq) // there may be more entries since the row was read
	if last > len(entries) || last > 0 && entries[last-1].Hash != r.LedgerHead {
		return contracts.Errorf(contracts.CodeConflict, "ledger entry %d, the last one that the run knows of, is not there", last)
	}
	return nil
}
