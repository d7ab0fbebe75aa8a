package orchestrator

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// RunsFilter selects runs; All asks for everybody's.
type RunsFilter struct {
	SessionID string
	State     contracts.RunState
	Before    time.Time
	Limit     int
	All       bool
}

// Runs lists runs, the newest first: the caller's own, or all.
func (s *Service) Runs(ctx context.Context, who access.Principal, f RunsFilter) ([]contracts.RunSummary, error) {
	filter := execution.RunFilter{SessionID: f.SessionID, Owner: who.Subject(), Before: f.Before, Limit: pageSize(f.Limit)}
	if f.State != "" {
		filter.States = []contracts.RunState{f.State}
	}
	if f.All {
		if err := who.May(access.ActionReadAllRuns); err != nil {
			return nil, err
		}
		filter.Owner = ""
	}
	runs, err := s.runs.ListRuns(ctx, filter)
	if err != nil {
		return nil, err
	}
	out := make([]contracts.RunSummary, 0, len(runs))
	for _, r := range runs {
		summary := contracts.RunSummary{
			RunID: r.ID, SessionID: r.SessionID, Goal: r.Plan.Goal, State: r.State,
			Owner: access.SubjectOf(r.Plan.Owner), CreatedAt: r.CreatedAt, FinishedAt: r.FinishedAt,
		}
		if r.Verdict != nil {
			summary.Verdict = r.Verdict.Status
		}
		out = append(out, summary)
	}
	return out, nil
}

// Run gives one run, waiting while it is running.
func (s *Service) Run(ctx context.Context, who access.Principal, runID string, wait time.Duration) (contracts.RunView, error) {
	view, err := s.readRun(ctx, who, runID)
	if err != nil {
		return contracts.RunView{}, err
	}
	err = s.hub.until(ctx, view.SessionID, wait, func(ctx context.Context) (bool, error) {
		view, err = s.runner.View(ctx, runID)
		return view.State.Terminal() || view.State == contracts.RunWaiting, err
	})
	if view.State.Terminal() {
		view.Answer = s.compose(view)
	}
	return view, err
}

func (s *Service) readRun(ctx context.Context, who access.Principal, runID string) (contracts.RunView, error) {
	view, err := s.runner.View(ctx, runID)
	if err != nil {
		return contracts.RunView{}, err
	}
	return view, hide(who.MayReadRun(view.Plan.Owner), "run", runID)
}

// RunEvents gives the events of one run.
func (s *Service) RunEvents(ctx context.Context, who access.Principal, runID string, after int64, limit int) ([]contracts.Event, error) {
	view, err := s.readRun(ctx, who, runID)
	if err != nil {
		return nil, err
	}
	events := []contracts.Event{}
	for limit = eventPage(limit); len(events) < limit; {
		page, err := s.runs.Events(ctx, view.SessionID, after, eventPage(0))
		if err != nil || len(page) == 0 {
			return events, err
		}
		for _, e := range page {
			if after = e.Seq; e.RunID == runID && len(events) < limit {
				events = append(events, e)
			}
		}
	}
	return events, nil
}

// CancelRun asks for a run to end. Writes that are under way finish; what was
// done stays done, and its compensation is offered, never automatic.
func (s *Service) CancelRun(ctx context.Context, who access.Principal, runID string) (contracts.RunView, error) {
	view, err := s.readRun(ctx, who, runID)
	if err != nil {
		return contracts.RunView{}, err
	}
	if err := who.MaySteerRun(view.Plan.Owner); err != nil {
		return contracts.RunView{}, err
	}
	if err := s.runner.Cancel(ctx, runID, who.Subject()); err != nil {
		return contracts.RunView{}, err
	}
	// The cancel is on its way; a run that only waited has ended a moment later.
	err = s.hub.until(ctx, view.SessionID, time.Second, func(ctx context.Context) (bool, error) {
		view, err = s.runner.View(ctx, runID)
		return view.State.Terminal(), err
	})
	if err != nil {
		return contracts.RunView{}, err
	}
	return s.Run(ctx, who, runID, 0)
}

// Locks lists the resource keys that are held.
func (s *Service) Locks(ctx context.Context, who access.Principal) ([]execution.LockHolder, error) {
	if err := who.May(access.ActionReadLocks); err != nil {
		return nil, err
	}
	return s.runs.Locks(ctx)
}

// BreakLock frees a key by force; the ledger of execution.LockChain says who
// did.
func (s *Service) BreakLock(ctx context.Context, who access.Principal, key string) (execution.LockHolder, error) {
	if err := who.May(access.ActionBreakLocks); err != nil {
		return execution.LockHolder{}, err
	}
	broken, err := s.runs.BreakLock(ctx, key, who.Subject())
	if err != nil {
		return broken, err
	}
	s.cfg.Logger.WarnContext(ctx, "lock was broken", slog.String("key", key), slog.String("run_id", broken.RunID), slog.String("node_id", broken.NodeID), slog.String("by", who.Subject()))
	for _, runID := range broken.Waiting {
		s.runner.Wake(runID)
	}
	return broken, nil
}

// Artifact gives a content that a node of the run names.
func (s *Service) Artifact(ctx context.Context, who access.Principal, runID, sha256 string) ([]byte, error) {
	view, err := s.readRun(ctx, who, runID)
	if err != nil {
		return nil, err
	}
	for _, n := range view.Nodes {
		for _, ref := range n.Artifacts {
			if ref == "sha256:"+sha256 {
				return s.runs.Blob(ctx, sha256)
			}
		}
	}
	return nil, contracts.Errorf(contracts.CodeNotFound, "run %s has no artifact %s", runID, sha256)
}

// NodeData gives the raw output of a node, for debugging.
func (s *Service) NodeData(ctx context.Context, who access.Principal, runID, nodeID string) ([]byte, error) {
	if err := who.May(access.ActionReadData); err != nil {
		return nil, err
	}
	return s.runs.NodeData(ctx, runID, nodeID)
}

// ReplayRun plays a run again from plan and ledger, without calling domains.
func (s *Service) ReplayRun(ctx context.Context, who access.Principal, runID string) (execution.Replayed, error) {
	if _, err := s.readRun(ctx, who, runID); err != nil {
		return execution.Replayed{}, err
	}
	return s.runner.Replay(ctx, runID)
}

// Ledger gives the hash chain of a run, or that of broken locks to those who
// see locks.
func (s *Service) Ledger(ctx context.Context, who access.Principal, runID string) ([]contracts.LedgerEntry, error) {
	if runID == execution.LockChain {
		if err := who.May(access.ActionReadLocks); err != nil {
			return nil, err
		}
		return s.runs.Ledger(ctx, runID)
	}
	if _, err := s.readRun(ctx, who, runID); err != nil {
		return nil, err
	}
	return s.runs.Ledger(ctx, runID)
}

// AuditVerify checks the hash chain of one run, or of all.
func (s *Service) AuditVerify(ctx context.Context, who access.Principal, runID string) (contracts.AuditReport, error) {
	if err := who.May(access.ActionAudit); err != nil {
		return contracts.AuditReport{}, err
	}
	report := contracts.AuditReport{OK: true}
	if runID != "" {
		err := s.auditNamed(ctx, runID, &report)
		return report, err
	}
	if err := s.auditRun(ctx, execution.Run{ID: execution.LockChain}, &report); err != nil {
		return report, err
	}
	before := time.Time{}
	for {
		runs, err := s.runs.ListRuns(ctx, execution.RunFilter{Before: before, Limit: maxSessions, Brief: true})
		if err != nil || len(runs) == 0 {
			return report, err
		}
		for _, r := range runs {
			report.Runs++
			if err := s.auditRun(ctx, r, &report); err != nil {
				return report, err
			}
		}
		before = slices.MinFunc(runs, func(a, b execution.Run) int { return a.CreatedAt.Compare(b.CreatedAt) }).CreatedAt
	}
}

// auditNamed checks one chain. A run that was deleted has left its chain, and
// no row to compare it with.
func (s *Service) auditNamed(ctx context.Context, runID string, report *contracts.AuditReport) error {
	snapshot, err := s.runs.LoadRun(ctx, runID)
	gone := contracts.CodeOf(err) == contracts.CodeNotFound
	if err != nil && !gone {
		return err
	}
	report.Runs++
	snapshot.Run.ID = runID
	if auditing := s.auditRun(ctx, snapshot.Run, report); auditing != nil {
		return auditing
	}
	if gone && report.Entries == 0 {
		return err
	}
	return nil
}

// auditRun checks one chain against the row of its run.
func (s *Service) auditRun(ctx context.Context, r execution.Run, report *contracts.AuditReport) error {
	entries, err := s.runs.Ledger(ctx, r.ID)
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
