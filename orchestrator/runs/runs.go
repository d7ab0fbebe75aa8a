package runs

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/answer"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// Config configures runs; the zero value is valid.
type Config struct {
	// Version is the server version that Ready returns.
	Version string
	// TraceURL is the URL of the trace of a run, with {trace_id} in it; "" for none.
	TraceURL string
	Now      func() time.Time
	Logger   *slog.Logger
}

// Deps are the use cases and ports that runs call.
type Deps struct {
	Store    execution.Store
	Runner   *execution.Runner
	Previews orchestrator.Previews
	Sessions *sessions.Directory
	Local    *local.Reader
	// Model also interprets messages; nil if no model is configured.
	Model    intent.Reader
	Catalogs orchestrator.Catalogs
	Notifier orchestrator.Notifier
	// Leases coordinates the servers of a cluster; nil for a single server.
	Leases orchestrator.LeaseStore
	// Quarantine may be nil if databases are never restored.
	Quarantine execution.Quarantine
}

// Runs implements the use cases of runs, except for their interrupts. All state is in the store; in
// memory it has only caches. It is safe for concurrent use.
type Runs struct {
	cfg      Config
	store    execution.Store
	runner   *execution.Runner
	previews orchestrator.Previews
	sessions *sessions.Directory
	intents  *intent.Adapter
	catalogs orchestrator.Catalogs
	notifier orchestrator.Notifier
	leases   orchestrator.LeaseStore
	probe    probe
	recent   recent
	// undoing serializes the compensations of this process.
	undoing sync.Mutex
	// quarantine may be nil.
	quarantine execution.Quarantine
}

// New returns the use cases of runs.
func New(cfg Config, deps Deps) (*Runs, error) {
	if deps.Store == nil || deps.Runner == nil || deps.Previews == nil || deps.Sessions == nil ||
		deps.Local == nil || deps.Catalogs == nil || deps.Notifier == nil {
		return nil, errors.New("runs: every dependency is needed")
	}
	if err := checkTraceURL(cfg.TraceURL); err != nil {
		return nil, err
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Runs{
		cfg: cfg, store: deps.Store, runner: deps.Runner, previews: deps.Previews, sessions: deps.Sessions,
		intents: intent.NewAdapter(deps.Local, deps.Model), catalogs: deps.Catalogs, notifier: deps.Notifier, leases: deps.Leases, quarantine: deps.Quarantine,
	}, nil
}

// Filter selects runs; All selects the runs of all owners.
type Filter struct {
	SessionID string
	State     contracts.RunState
	Before    time.Time
	// ScoreBelow selects runs that ended with a lower outcome score; 0 selects all.
	ScoreBelow float64
	// Held selects the runs that are in quarantine after a restore.
	Held bool
	All  bool
	// Goal selects runs whose goal contains this text, Domain runs with a step of the domain, Owner
	// the runs of another person, for which the caller needs the right to read all.
	Goal, Domain, Owner string
	// Timing adds how long each run has waited for people. For that, unfinished runs are read in
	// full.
	Timing bool
	contracts.Page
}

// of returns the filter for the runs that the caller may see, or an error if they may not see them.
func (f Filter) of(who access.Principal) (execution.RunFilter, error) {
	filter := execution.RunFilter{SessionID: f.SessionID, Owner: who.Subject(), Before: f.Before, ScoreBelow: f.ScoreBelow, Held: f.Held, Goal: f.Goal, Domain: f.Domain}
	if f.State != "" {
		filter.States = []contracts.RunState{f.State}
	}
	if !f.All && (f.Owner == "" || f.Owner == who.Subject()) {
		return filter, nil
	}
	filter.Owner = f.Owner
	return filter, who.May(access.ActionReadAllRuns)
}

// MaxCounted is the maximum number of runs that Counts counts, the newest.
const MaxCounted = 10_000

// Counts returns how many of the runs that List selects are in each state.
func (r *Runs) Counts(ctx context.Context, who access.Principal, f Filter) (contracts.RunCounts, error) {
	out := contracts.RunCounts{States: map[contracts.RunState]int{}}
	filter, err := f.of(who)
	if err != nil {
		return out, err
	}
	if who.Scopes.All() {
		filter.Limit = MaxCounted
		out.States, err = r.store.CountRuns(ctx, filter)
		for _, n := range out.States {
			out.Total += n
		}
		out.More = out.Total >= MaxCounted
		return out, err
	}
	return r.countReached(ctx, who, filter)
}

// countReached counts runs by reading their plans, which show whether a key with scopes reaches
// them.
func (r *Runs) countReached(ctx context.Context, who access.Principal, filter execution.RunFilter) (contracts.RunCounts, error) {
	out := contracts.RunCounts{States: map[contracts.RunState]int{}}
	filter.Limit = 1000
	for out.Total < MaxCounted {
		found, err := r.store.ListRuns(ctx, filter)
		if err != nil {
			return out, err
		}
		for _, run := range found.Items {
			if who.Reaches(run.Plan) == nil {
				out.States[run.State]++
				out.Total++
			}
		}
		if filter.Cursor = found.Next; filter.Cursor == "" {
			return out, nil
		}
	}
	out.More = true
	return out, nil
}

// List returns a page of runs, the newest first: the caller's own, or all.
func (r *Runs) List(ctx context.Context, who access.Principal, f Filter) (contracts.List[contracts.RunSummary], error) {
	page := f.Bounded(contracts.MaxPageLimit)
	var out contracts.List[contracts.RunSummary]
	filter, err := f.of(who)
	if err != nil {
		return out, err
	}
	found, err := contracts.Filtered(page, func(p contracts.Page) (contracts.List[execution.Run], error) {
		filter.Cursor, filter.Limit = p.Cursor, p.Limit
		return r.store.ListRuns(ctx, filter)
	}, func(run execution.Run) bool { return who.Reaches(run.Plan) == nil })
	if err != nil {
		return out, err
	}
	out.Next = found.Next
	for _, run := range found.Items {
		summary := contracts.RunSummary{
			RunID: run.ID, SessionID: run.SessionID, Goal: run.Plan.Goal, State: run.State,
			Domains: domainsOf(run.Plan), Owner: access.SubjectOf(run.Plan.Owner), CreatedAt: run.CreatedAt, FinishedAt: run.FinishedAt, HeldSince: run.HeldSince,
		}
		if run.Verdict != nil {
			summary.Verdict, summary.Score = run.Verdict.Status, run.Verdict.Score
			if used := run.Verdict.Tokens; used != nil {
				summary.Tokens = *used
			}
		}
		if f.Timing {
			if summary.HumanMS, err = r.waited(ctx, &run); err != nil {
				return out, err
			}
		}
		out.Items = append(out.Items, summary)
	}
	return out, nil
}

// Get returns one run. It waits while the run is running, at most for wait.
func (r *Runs) Get(ctx context.Context, who access.Principal, runID string, wait time.Duration) (contracts.RunView, error) {
	view, err := r.Read(ctx, who, runID)
	if err != nil {
		return contracts.RunView{}, err
	}
	err = orchestrator.WaitUntilIdle(ctx, r.notifier, view.SessionID, wait, func(ctx context.Context) (bool, error) {
		view, err = r.runner.View(ctx, runID)
		return view.State.Terminal() || view.State == contracts.RunWaiting, err
	})
	if view.State.Terminal() {
		view.Answer = answer.Compose(r.catalogs.Catalog(), view)
	}
	view.TraceURL = strings.ReplaceAll(r.cfg.TraceURL, traceIDPlace, view.TraceID)
	return view, err
}

// Read returns the current view of a run that the caller may see.
func (r *Runs) Read(ctx context.Context, who access.Principal, runID string) (contracts.RunView, error) {
	view, err := r.runner.View(ctx, runID)
	if err != nil {
		return contracts.RunView{}, err
	}
	return view, access.MaskForbidden(who.MayReadRun(view.Plan), "run", runID)
}

// Events returns a page of the events of one run.
func (r *Runs) Events(ctx context.Context, who access.Principal, runID string, p contracts.Page) (contracts.List[contracts.Event], error) {
	view, err := r.Read(ctx, who, runID)
	if err != nil {
		return contracts.List[contracts.Event]{}, err
	}
	return orchestrator.EventsOf(ctx, r.store, view.SessionID, p, func(e contracts.Event) bool { return e.RunID == runID })
}

// Cancel requests that a run ends, and waits a second for its end. Writes in progress finish.
// Completed writes are not undone: Compensate does that.
func (r *Runs) Cancel(ctx context.Context, who access.Principal, runID string) (contracts.RunView, error) {
	view, err := r.Read(ctx, who, runID)
	if err != nil {
		return contracts.RunView{}, err
	}
	if err := who.MaySteerRun(view.Plan.Owner); err != nil {
		return contracts.RunView{}, err
	}
	if err := r.runner.Cancel(ctx, runID, who.Subject()); err != nil {
		return contracts.RunView{}, err
	}
	// Cancelling is asynchronous; a waiting run ends within moments.
	err = orchestrator.WaitFor(ctx, r.notifier, view.SessionID, time.Second, func(ctx context.Context) (bool, error) {
		view, err = r.runner.View(ctx, runID)
		return view.State.Terminal(), err
	})
	if err != nil {
		return contracts.RunView{}, err
	}
	return r.Get(ctx, who, runID, 0)
}

// Locks lists the resource keys that are locked.
func (r *Runs) Locks(ctx context.Context, who access.Principal, p contracts.Page) (contracts.List[execution.LockHolder], error) {
	if err := who.May(access.ActionReadLocks); err != nil {
		return contracts.List[execution.LockHolder]{}, err
	}
	return contracts.Filtered(p.Bounded(contracts.MaxPageLimit), func(p contracts.Page) (contracts.List[execution.LockHolder], error) {
		return r.store.Locks(ctx, p)
	}, func(h execution.LockHolder) bool {
		return who.MayManage(access.ActionReadLocks, lockDomain(h.Key)) == nil
	})
}

// BreakLock releases a key by force; the ledger of execution.LockChain records it.
func (r *Runs) BreakLock(ctx context.Context, who access.Principal, key string) (execution.LockHolder, error) {
	if err := who.MayManage(access.ActionBreakLocks, lockDomain(key)); err != nil {
		return execution.LockHolder{}, err
	}
	broken, err := r.store.BreakLock(who.WithAuditRecord(ctx, contracts.LedgerLockBroken, key, nil), key, who.Subject())
	if err != nil {
		return broken, err
	}
	r.cfg.Logger.WarnContext(ctx, "lock was broken", slog.String("key", key), slog.String("run_id", broken.RunID), slog.String("node_id", broken.NodeID), slog.String("by", who.Subject()))
	for _, runID := range broken.Waiting {
		r.runner.Wake(runID)
	}
	return broken, nil
}

// lockDomain returns the domain of a resource key, "" for a key shared by domains.
func lockDomain(key string) string {
	domain, _, found := strings.Cut(key, "/")
	if !found || strings.HasPrefix(key, "shared:") {
		return ""
	}
	return domain
}

// Artifact returns the content of an artifact that a node of the run refers to.
func (r *Runs) Artifact(ctx context.Context, who access.Principal, runID, sha256 string) ([]byte, error) {
	view, err := r.Read(ctx, who, runID)
	if err != nil {
		return nil, err
	}
	for _, n := range view.Nodes {
		for _, ref := range n.Artifacts {
			if ref == "sha256:"+sha256 {
				return r.store.Blob(ctx, sha256)
			}
		}
	}
	return nil, contracts.Errorf(contracts.CodeNotFound, "run %s has no artifact %s", runID, sha256)
}

// NodeData returns the raw output of a node, for debugging.
func (r *Runs) NodeData(ctx context.Context, who access.Principal, runID, nodeID string) ([]byte, error) {
	if err := who.May(access.ActionReadData); err != nil {
		return nil, err
	}
	if _, err := r.Read(ctx, who, runID); err != nil {
		return nil, err
	}
	return r.store.NodeData(ctx, runID, nodeID)
}

// Ready reports whether requests can be served, i.e. the store can be written, and the health of
// each domain. A domain that is down does not make the server unready.
func (r *Runs) Ready(ctx context.Context) contracts.Readiness {
	out := contracts.Readiness{
		Ready: true, Version: r.cfg.Version, Store: contracts.HealthOK,
		Domains: r.catalogs.Health(), Runs: r.runner.Active(),
	}
	if err := r.probe.ask(ctx, r.store.Probe); err != nil {
		out.Ready, out.Store = false, contracts.HealthDown
	}
	return out
}

// probe caches whether the store can be written for probeEvery, for any number of callers.
type probe struct {
	mu    sync.Mutex // guards the fields below
	asked time.Time
	err   error
}

const (
	probeEvery  = 2 * time.Second
	probeWithin = 5 * time.Second
)

func (p *probe) ask(ctx context.Context, write func(context.Context) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.asked) < probeEvery {
		return p.err
	}
	// A caller that disconnects must not make the others see the store as down.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeWithin)
	defer cancel()
	p.err = write(ctx)
	p.asked = time.Now()
	return p.err
}

// domainsOf returns the domains of a plan's nodes, sorted.
func domainsOf(plan contracts.Plan) (out []string) {
	for i := range plan.Nodes {
		if domain, _, ok := strings.Cut(plan.Nodes[i].Tool, "."); ok && !slices.Contains(out, domain) {
			out = append(out, domain)
		}
	}
	slices.Sort(out)
	return out
}
