package runstate

import "github.com/manifold-run/manifold/contracts"

// VerifyChain checks that the entries are one unbroken, unchanged chain from
// the first; the error names the entry that is not.
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

// VerifyRun checks the chain of a run, and that it reaches as far as the run's
// row says: what is left of a chain whose end was cut off holds as well.
func VerifyRun(r Run, entries []contracts.LedgerEntry) error {
	if err := VerifyChain(entries); err != nil {
		return err
	}
	last := int(r.LedgerSeq) // since the row was read, there may be more
	if last > len(entries) || last > 0 && entries[last-1].Hash != r.LedgerHead {
		return contracts.Errorf(contracts.CodeConflict, "ledger entry %d, the last one that the run knows of, is not there", last)
	}
	return nil
}
