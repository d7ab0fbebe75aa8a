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

// Runs reads runs with an access check.
type Runs interface {
	Read(ctx context.Context, who access.Principal, runID string) (contracts.RunView, error)
}

// Talks reads the turns and the state of a session.
type Talks interface {
	Session(ctx context.Context, who access.Principal, id string, wait time.Duration) (contracts.SessionResponse, error)
	ListTurns(ctx context.Context, sessionID string) ([]orchestrator.Turn, error)
}

// Audit reads ledgers. It has no state and changes nothing.
type Audit struct {
	store    execution.Store
	proofs   Proofs
	verifier *Verifier
	runner   *execution.Runner
	runs     Runs
	sessions *sessions.Directory
	talks    Talks
}

// New returns the audit of a store; publisher may be nil.
func New(store execution.Store, proofs Proofs, publisher *Publisher, runner *execution.Runner, runs Runs, directory *sessions.Directory, talks Talks) (*Audit, error) {
	if store == nil || proofs == nil || runner == nil || runs == nil || directory == nil || talks == nil {
		return nil, errors.New("audit: every dependency is needed")
	}
	return &Audit{store: store, proofs: proofs, verifier: NewVerifier(store, proofs, publisher), runner: runner, runs: runs, sessions: directory, talks: talks}, nil
}

// Replay replays a run from its plan and ledger, without calling domains.
func (a *Audit) Replay(ctx context.Context, who access.Principal, runID string) (execution.Replayed, error) {
	if _, err := a.runs.Read(ctx, who, runID); err != nil {
		return execution.Replayed{}, err
	}
	return a.runner.Replay(ctx, runID)
}

// Ledger returns a page of a hash chain: that of a run for those who may read its ledger, those of
// deleted runs and administrative actions for those who may audit, that of broken locks for those
// who may read locks.
func (a *Audit) Ledger(ctx context.Context, who access.Principal, runID string, p contracts.Page) (contracts.List[contracts.LedgerEntry], error) {
	var none contracts.List[contracts.LedgerEntry]
	if err := a.mayReadChain(ctx, who, runID); err != nil {
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

func (a *Audit) mayReadChain(ctx context.Context, who access.Principal, chain string) error {
	switch chain {
	case execution.LockChain:
		return who.MayManage(access.ActionReadLocks, "")
	case execution.AdminChain:
		return who.MayManage(access.ActionAudit, "")
	}
	snapshot, err := a.store.LoadRun(ctx, chain)
	if err == nil {
		return access.MaskForbidden(who.MayReadLedger(snapshot.Run.Plan), "run", chain)
	}
	if contracts.CodeOf(err) != contracts.CodeNotFound {
		return err
	}
	entries, unread := a.store.Ledger(ctx, chain, 0, 1)
	if unread != nil {
		return unread
	}
	if len(entries) == 0 || who.MayManage(access.ActionAudit, "") != nil {
		return access.MaskForbidden(err, "run", chain)
	}
	return nil
}
