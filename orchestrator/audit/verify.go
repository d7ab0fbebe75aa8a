package audit

import (
	"context"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Verify compares what is stored with what was written: one chain with its
// rows, or all chains, all rows with their seals, and the log with its roots.
func (a *Audit) Verify(ctx context.Context, who access.Principal, chain string) (contracts.AuditReport, error) {
	if err := who.May(access.ActionAudit); err != nil {
		return contracts.AuditReport{}, err
	}
	report := contracts.AuditReport{OK: true}
	if chain == "" {
		if err := who.MayManage(access.ActionAudit, ""); err != nil {
			return report, err
		}
	} else if err := a.mayReadChain(ctx, who, chain); err != nil {
		return report, err
	}
	if chain != "" {
		err := a.verifyChain(ctx, chain, &report)
		if err == nil && report.Entries == 0 && report.OK {
			err = contracts.Errorf(contracts.CodeNotFound, "there is no run %q", chain)
		}
		return report, err
	}
	for _, part := range []func(context.Context, *contracts.AuditReport) error{a.verifyChains, a.verifyRuns, a.verifyRows, a.verifyLog} {
		if err := part(ctx, &report); err != nil {
			return report, err
		}
	}
	return report, nil
}

// chainPage is how many chains are listed at once.
const chainPage = 500

func (a *Audit) verifyChains(ctx context.Context, report *contracts.AuditReport) error {
	after := ""
	for {
		chains, err := a.proofs.Chains(ctx, after, chainPage)
		if err != nil {
			return err
		}
		for _, chain := range chains {
			after = chain
			if err := a.verifyChain(ctx, chain, report); err != nil {
				return err
			}
		}
		if len(chains) < chainPage {
			return nil
		}
	}
}

// verifyRuns looks for runs that have no chain at all.
func (a *Audit) verifyRuns(ctx context.Context, report *contracts.AuditReport) error {
	page := execution.RunFilter{Limit: contracts.MaxPageLimit, Brief: true}
	for {
		runs, err := a.store.ListRuns(ctx, page)
		if err != nil {
			return err
		}
		for _, r := range runs.Items {
			entries, err := a.store.Ledger(ctx, r.ID, 0, 2)
			if err != nil {
				return err
			}
			if len(entries) == 0 {
				report.Runs++
				report.Found(r.ID, "the run has no ledger")
			}
		}
		if page.Cursor = runs.Next; page.Cursor == "" {
			return nil
		}
	}
}

func (a *Audit) verifyRows(ctx context.Context, report *contracts.AuditReport) (err error) {
	report.Sealed, err = a.proofs.CheckRows(ctx, report.Found)
	return err
}

// verifyChain checks one chain, and the rows of its run if there are any. What
// is read first is the run: a run that goes on meanwhile has a longer chain than
// its row knows of, and a run that is read anew if it differs has not changed by
// chance.
func (a *Audit) verifyChain(ctx context.Context, chain string, report *contracts.AuditReport) error {
	faults, entries, moving, err := a.chainFaults(ctx, chain)
	for tries := 0; err == nil && moving && len(faults) > 0 && tries < 3; tries++ {
		faults, entries, moving, err = a.chainFaults(ctx, chain)
	}
	if err != nil {
		return err
	}
	if ofRun(chain) {
		report.Runs++
	}
	report.Entries += entries
	for _, f := range faults {
		report.Found(chain, f)
	}
	return nil
}

// chainFaults says what is wrong with a chain, and whether it grew meanwhile.
func (a *Audit) chainFaults(ctx context.Context, chain string) (faults []string, count int, moving bool, err error) {
	snap, err := a.store.LoadRun(ctx, chain)
	gone := contracts.CodeOf(err) == contracts.CodeNotFound
	if err != nil && !gone {
		if contracts.CodeOf(err) != contracts.CodeInternal {
			return nil, 0, false, err
		}
		return []string{fmt.Sprintf("the run cannot be read: %v", err)}, 0, false, nil
	}
	entries, err := a.store.Ledger(ctx, chain, 0, 0)
	if err != nil {
		if contracts.CodeOf(err) != contracts.CodeInternal {
			return nil, 0, false, err
		}
		return []string{fmt.Sprintf("the ledger cannot be read: %v", err)}, 0, false, nil
	}
	if err := execution.VerifyRun(snap.Run, entries); err != nil {
		return []string{err.Error()}, len(entries), false, nil //nolint:nilerr // it is what was looked for
	}
	if gone {
		return unburied(chain, entries), len(entries), false, nil
	}
	known := entries[:min(int(snap.Run.LedgerSeq), len(entries))]
	faults = execution.VerifyRows(snap, known, func(hash string) ([]byte, error) { return a.store.Blob(ctx, hash) })
	return faults, len(entries), len(entries) > len(known), nil
}

// unburied tells of a chain whose run is gone and that does not say so.
func unburied(chain string, entries []contracts.LedgerEntry) []string {
	if !ofRun(chain) || len(entries) == 0 || entries[len(entries)-1].Kind == contracts.LedgerDeleted {
		return nil
	}
	return []string{"the run is gone, and no entry says that it was deleted"}
}

// ofRun tells whether a chain is that of a run, gone or not.
func ofRun(chain string) bool {
	return chain != execution.LockChain && chain != execution.ActChain && !strings.HasPrefix(chain, execution.SessionChain(""))
}
