package audit

import (
	"context"
	"errors"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// Runs tells who may see a run.
type Runs interface {
	Read(ctx context.Context, who access.Principal, runID string) (contracts.RunView, error)
}

// Talks tells what was said in a session, and where it stands.
type Talks interface {
	Session(ctx context.Context, who access.Principal, id string, wait time.Duration) (contracts.SessionResponse, error)
	Said(ctx context.Context, sessionID string) ([]orchestrator.Turn, error)
}

// Audit reads ledgers. It keeps nothing, and changes nothing.
type Audit struct {
	store    execution.Store
	runner   *execution.Runner
	runs     Runs
	sessions *sessions.Directory
	talks    Talks
}

// New makes the audit of a store.
func New(store execution.Store, runner *execution.Runner, runs Runs, directory *sessions.Directory, talks Talks) (*Audit, error) {
	if store == nil || runner == nil || runs == nil || directory == nil || talks == nil {
		return nil, errors.New("audit: every dependency is needed")
	}
	return &Audit{store: store, runner: runner, runs: runs, sessions: directory, talks: talks}, nil
}

// Replay plays a run again from plan and ledger, without calling domains.
func (a *Audit) Replay(ctx context.Context, who access.Principal, runID string) (execution.Replayed, error) {
	if _, err := a.runs.Read(ctx, who, runID); err != nil {
		return execution.Replayed{}, err
	}
	return a.runner.Replay(ctx, runID)
}

// Ledger gives a page of the hash chain of a run, or of that of broken locks to
// those who see locks.
func (a *Audit) Ledger(ctx context.Context, who access.Principal, runID string, p contracts.Page) (contracts.List[contracts.LedgerEntry], error) {
	var none contracts.List[contracts.LedgerEntry]
	if runID == execution.LockChain {
		if err := who.May(access.ActionReadLocks); err != nil {
			return none, err
		}
	} else if _, err := a.runs.Read(ctx, who, runID); err != nil {
		return none, err
	}
	p = p.Bounded(contracts.MaxEvents)
	after, err := p.Seq()
	if err != nil {
		return none, err
	}
	entries, err := a.store.Ledger(ctx, runID, after, p.Limit+1)
	return contracts.Cut(entries, p.Limit, func(e contracts.LedgerEntry) string { return contracts.SeqCursor(e.Seq) }), err
}

// Verify checks the hash chain of one run, or of all.
func (a *Audit) Verify(ctx context.Context, who access.Principal, runID string) (contracts.AuditReport, error) {
	if err := who.May(access.ActionAudit); err != nil {
		return contracts.AuditReport{}, err
	}
	report := contracts.AuditReport{OK: true}
	if runID != "" {
		err := a.verifyNamed(ctx, runID, &report)
		return report, err
	}
	if err := a.verifyRun(ctx, execution.Run{ID: execution.LockChain}, &report); err != nil {
		return report, err
	}
	page := execution.RunFilter{Limit: contracts.MaxPageLimit, Brief: true}
	for {
		runs, err := a.store.ListRuns(ctx, page)
		if err != nil {
			return report, err
		}
		for _, r := range runs.Items {
			report.Runs++
			if err := a.verifyRun(ctx, r, &report); err != nil {
				return report, err
			}
		}
		if page.Cursor = runs.Next; page.Cursor == "" {
			return report, nil
		}
	}
}

// verifyNamed checks one chain. A run that was deleted has left its chain, and
// no row to compare it with.
func (a *Audit) verifyNamed(ctx context.Context, runID string, report *contracts.AuditReport) error {
	snapshot, err := a.store.LoadRun(ctx, runID)
	gone := contracts.CodeOf(err) == contracts.CodeNotFound
	if err != nil && !gone {
		return err
	}
	report.Runs++
	snapshot.Run.ID = runID
	if verifying := a.verifyRun(ctx, snapshot.Run, report); verifying != nil {
		return verifying
	}
	if gone && report.Entries == 0 {
		return err
	}
	return nil
}

// verifyRun checks one chain against the row of its run.
func (a *Audit) verifyRun(ctx context.Context, r execution.Run, report *contracts.AuditReport) error {
	entries, err := a.store.Ledger(ctx, r.ID, 0, 0)
	if err != nil {
		return err
	}
	report.Entries += len(entries)
	if err := execution.VerifyRun(r, entries); err != nil {
		report.OK = false
		report.Faults = append(report.Faults, contracts.AuditFault{RunID: r.ID, Message: err.Error()})
	}
	return nil
}
