package audit

import (
	"context"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Verifier checks the stored data against ledgers, seals and roots. It has no state.
type Verifier struct {
	store  execution.Store
	proofs Proofs
	// publisher is nil if no roots are signed.
	publisher *Publisher
}

// NewVerifier returns the verifier of a store; publisher may be nil.
func NewVerifier(store execution.Store, proofs Proofs, publisher *Publisher) *Verifier {
	return &Verifier{store: store, proofs: proofs, publisher: publisher}
}

// Verify is Verifier.Check for callers who may audit.
func (a *Audit) Verify(ctx context.Context, who access.Principal, chain string) (contracts.AuditReport, error) {
	if err := who.May(access.ActionAudit); err != nil {
		return contracts.AuditReport{}, err
	}
	may := func() error { return who.MayManage(access.ActionAudit, "") }
	if chain != "" {
		may = func() error { return a.mayReadChain(ctx, who, chain) }
	}
	if err := may(); err != nil {
		return contracts.AuditReport{}, err
	}
	return a.verifier.Check(ctx, chain)
}

// Check verifies one chain and its rows; with "" all chains, all rows against their seals, and the
// log against its roots.
func (v *Verifier) Check(ctx context.Context, chain string) (contracts.AuditReport, error) {
	report := contracts.AuditReport{OK: true}
	if chain != "" {
		err := v.verifyChain(ctx, chain, &report)
		if err == nil && report.Entries == 0 && report.OK {
			err = contracts.Errorf(contracts.CodeNotFound, "there is no run %q", chain)
		}
		return report, err
	}
	for _, part := range []func(context.Context, *contracts.AuditReport) error{v.verifyChains, v.verifyRuns, v.verifyRows, v.verifyLog} {
		if err := part(ctx, &report); err != nil {
			return report, err
		}
	}
	return report, nil
}

// chainPage is how many chains are listed at once.
const chainPage = 500

func (v *Verifier) verifyChains(ctx context.Context, report *contracts.AuditReport) error {
	after := ""
	for {
		chains, err := v.proofs.Chains(ctx, after, chainPage)
		if err != nil {
			return err
		}
		for _, chain := range chains {
			after = chain
			if err := v.verifyChain(ctx, chain, report); err != nil {
				return err
			}
		}
		if len(chains) < chainPage {
			return nil
		}
	}
}

// verifyRuns reports runs without a ledger.
func (v *Verifier) verifyRuns(ctx context.Context, report *contracts.AuditReport) error {
	page := execution.RunFilter{Limit: contracts.MaxPageLimit, Brief: true}
	for {
		runs, err := v.store.ListRuns(ctx, page)
		if err != nil {
			return err
		}
		for _, r := range runs.Items {
			entries, err := v.store.Ledger(ctx, r.ID, 0, 2)
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

func (v *Verifier) verifyRows(ctx context.Context, report *contracts.AuditReport) (err error) {
	report.Sealed, err = v.proofs.CheckRows(ctx, report.Found)
	return err
}

// verifyChain verifies one chain, and the rows of its run if there are any. The run is read before
// the ledger, so that a run that continues meanwhile has a longer chain than its row. If there are
// differences and the chain is longer, both are read again, at most three times.
func (v *Verifier) verifyChain(ctx context.Context, chain string, report *contracts.AuditReport) error {
	faults, entries, moving, err := v.chainFaults(ctx, chain)
	for tries := 0; err == nil && moving && len(faults) > 0 && tries < 3; tries++ {
		faults, entries, moving, err = v.chainFaults(ctx, chain)
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

// chainFaults returns the faults of a chain, and whether it has grown meanwhile.
func (v *Verifier) chainFaults(ctx context.Context, chain string) (faults []string, count int, moving bool, err error) {
	snap, err := v.store.LoadRun(ctx, chain)
	gone := contracts.CodeOf(err) == contracts.CodeNotFound
	if err != nil && !gone {
		if contracts.CodeOf(err) != contracts.CodeInternal {
			return nil, 0, false, err
		}
		return []string{fmt.Sprintf("the run cannot be read: %v", err)}, 0, false, nil
	}
	entries, err := v.store.Ledger(ctx, chain, 0, 0)
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
	faults = execution.VerifyRows(snap, known, func(e contracts.LedgerEntry) ([]byte, error) { return v.store.Payload(ctx, e) })
	return faults, len(entries), len(entries) > len(known), nil
}

// unburied reports a run that is missing although its chain has no deletion entry.
func unburied(chain string, entries []contracts.LedgerEntry) []string {
	if !ofRun(chain) || len(entries) == 0 || entries[len(entries)-1].Kind == contracts.LedgerDeleted {
		return nil
	}
	return []string{"the run is gone, and no entry says that it was deleted"}
}

// ofRun reports whether a chain is that of a run, which may be deleted.
func ofRun(chain string) bool {
	return chain != execution.LockChain && chain != execution.AdminChain && !strings.HasPrefix(chain, execution.SessionChain(""))
}
