package execution

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution/admission"
	"github.com/manifold-run/manifold/execution/runstate"
)

// Config configures a Runner. The zero value is a sound default; defaults are in brackets.
type Config struct {
	// Replica names this process in leases [random].
	Replica string
	// MaxActiveRuns limits the runs that this replica advances at once [256]. Further runs wait in
	// the store. The last sixteenth is kept for runs that can advance: runs that only wait for a
	// free slot of a capability yield it.
	MaxActiveRuns int
	// MaxCalls limits the exchanges in flight [128]; one domain gets at most half of them.
	MaxCalls int
	// LeaseTTL [10 s], Heartbeat [3 s] and SweepEvery [3 s] decide how soon another replica takes
	// over after a crash: about TTL + sweep.
	LeaseTTL, Heartbeat, SweepEvery time.Duration
	// FlushDelay is how long the progress of reads may wait to be committed together with later
	// changes [3 ms]. It is longer while commits are slow.
	FlushDelay time.Duration
	// ParkAfter is the shortest wait for which a run gives up its lease [2 s].
	ParkAfter time.Duration
	// DropData disables storing raw output for debugging.
	DropData bool
	// Rollout has the feature flags of the site, and the sessions that they apply to [everything
	// on].
	Rollout metrics.Rollout
	// JudgeMode specifies when a model is asked for an opinion on a verdict [steps].
	JudgeMode JudgeMode
	// Answers enables answers that a model words from the results of a run, if there is a model.
	Answers bool
	// LateWrites specifies what happens to writes that are proposed after reading [ask].
	LateWrites LateWrites
	// Context derives the context in which a run is advanced, for example with the trace that its
	// calls belong to [the runner's own].
	Context func(ctx context.Context, runID string) context.Context
	// Now is used for timestamps and durations; decisions use the store's clock.
	Now    func() time.Time
	Logger *slog.Logger
}

// LeaseTTL and Heartbeat are the defaults of Config: how long a lease lasts, and how often it is
// renewed.
const (
	LeaseTTL  = 10 * time.Second
	Heartbeat = 3 * time.Second
)

func (c Config) withDefaults() Config {
	c.Replica = cmp.Or(c.Replica, "replica-"+strings.ToLower(rand.Text()[:8]))
	c.MaxActiveRuns = cmp.Or(c.MaxActiveRuns, 256)
	c.MaxCalls = cmp.Or(c.MaxCalls, 128)
	c.LeaseTTL = cmp.Or(c.LeaseTTL, LeaseTTL)
	c.Heartbeat = cmp.Or(c.Heartbeat, Heartbeat)
	c.SweepEvery = cmp.Or(c.SweepEvery, SweepEvery)
	c.FlushDelay = cmp.Or(c.FlushDelay, 3*time.Millisecond)
	c.JudgeMode = cmp.Or(c.JudgeMode, JudgeSteps)
	c.LateWrites = cmp.Or(c.LateWrites, LateWritesAsk)
	c.ParkAfter = cmp.Or(c.ParkAfter, 2*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Deps are the ports that a Runner works through. Store, Invoker and Catalogs
// are required; all others may be nil.
type Deps struct {
	Store     Store
	Invoker   Invoker
	Catalogs  Catalogs
	Observer  Observer
	Reviewers Reviewers
	// LanguageModel is nil if no model is configured.
	LanguageModel LanguageModel
	// Replanner proposes further nodes for plans that are marked More. If it is nil, such runs
	// end with their first plan.
	Replanner Replanner
	// Dispatcher delivers runs that can be advanced [a Sweeper of the store].
	Dispatcher Dispatcher
	// Quota shares limits with other servers [no sharing].
	Quota admission.Quota
}

// Runner advances runs: those that were submitted to it, and those that have no owner and can be
// advanced.
type Runner struct {
	cfg           Config
	store         Store
	invoker       Invoker
	catalogs      Catalogs
	observer      Observer
	reviewers     Reviewers // may be nil
	languageModel LanguageModel
	replanner     Replanner
	limits        *admission.Limits
	unread        unreadableRuns
	finished      finishedCache
	pace          commitPace

	dispatcher Dispatcher
	quota      admission.Quota

	mu sync.Mutex // guards the fields below
	// active holds the owner of every run that this replica holds.
	active map[string]*owner
	// reserved counts the runs that are being created or acquired; leaving counts those that are
	// about to yield their place to others.
	reserved, leaving int
	stopping          bool
	started           bool
	// stop ends the background work and lets the owners release their runs.
	stop context.CancelFunc
	base context.Context //nolint:containedctx // the life of the owners, ended by Stop
	work sync.WaitGroup
}

// New makes a Runner; Start must be called before runs advance.
func New(cfg Config, deps Deps) (*Runner, error) {
	if deps.Store == nil || deps.Invoker == nil || deps.Catalogs == nil {
		return nil, errors.New("execution: store, invoker and catalogs are needed")
	}
	cfg = cfg.withDefaults()
	if deps.Dispatcher == nil {
		deps.Dispatcher = NewSweeper(deps.Store, SweeperConfig{Every: cfg.SweepEvery, Logger: cfg.Logger})
	}
	return &Runner{
		cfg: cfg, store: deps.Store, invoker: deps.Invoker,
		catalogs: deps.Catalogs, observer: deps.Observer, reviewers: deps.Reviewers, languageModel: deps.LanguageModel, replanner: deps.Replanner,
		limits:     admission.NewLimits(cfg.MaxCalls),
		dispatcher: deps.Dispatcher, quota: deps.Quota, active: map[string]*owner{},
	}, nil
}

// notify tells the observer that something was committed, or may have been. sessionID is "" if it
// is not known.
func (r *Runner) notify(sessionID, runID string, progress bool) {
	switch {
	case r.observer == nil:
	case progress:
		r.observer.Progressed(sessionID, runID)
	default:
		r.observer.Committed(sessionID, runID)
	}
}

// HasLanguageModel reports whether a model is configured.
func (r *Runner) HasLanguageModel() bool { return r.languageModel != nil }

// Start begins to renew leases and to take runs that are due. ctx bounds only the start.
func (r *Runner) Start(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started || r.stopping {
		return nil
	}
	r.started = true
	// The background work must outlive the context of this call.
	r.base, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	r.limits.ShareWith(r.base, r.quota, r.work.Go)
	r.work.Go(func() { r.heartbeat(r.base) })
	r.work.Go(func() { r.dispatcher.Run(r.base, taker{r}) })
	return nil
}

// Stop lets writes in flight finish and be recorded, and releases all leases. It returns when that
// is done or ctx ends. It may be called twice.
func (r *Runner) Stop(ctx context.Context) error {
	r.mu.Lock()
	r.stopping = true
	stop := r.stop
	r.mu.Unlock()
	if stop == nil {
		return nil
	}
	stop()
	done := make(chan struct{})
	go func() { r.work.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Create stores a new run as Runs.CreateRun does. It may store more in the same transaction.
type Create func(ctx context.Context, run Run, ttl time.Duration, first Transition) error

// Submit stores a run of the plan and starts it at once. If this replica is full, the run waits in
// the store. It returns the run's id.
func (r *Runner) Submit(ctx context.Context, sessionID string, plan contracts.Plan) (string, error) {
	return r.SubmitBy(ctx, sessionID, plan, r.store.CreateRun)
}

// SubmitBy is Submit with another function that stores the run.
func (r *Runner) SubmitBy(ctx context.Context, sessionID string, plan contracts.Plan, create Create) (string, error) {
	if len(plan.Nodes) == 0 {
		return "", contracts.Errorf(contracts.CodeInvalid, "the plan has no nodes")
	}
	now := r.cfg.Now()
	plan.RunID = cmp.Or(plan.RunID, NewID("run"))
	plan.Flags = r.pinned(sessionID, plan)
	run := Run{
		ID: plan.RunID, SessionID: sessionID, Format: Format, Plan: plan,
		State: contracts.RunRunning, CreatedAt: now, UpdatedAt: now,
	}
	state, first, err := firstTransition(&run, now)
	if err != nil {
		return "", err
	}
	held := r.reserve()
	if held {
		run.Owner, run.Epoch = r.cfg.Replica, 1
	}
	state.Run = run
	began := time.Now()
	err = create(ctx, run, r.cfg.LeaseTTL, first)
	r.pace.note(time.Since(began))
	if err != nil {
		if held {
			r.unreserve()
		}
		return "", err
	}
	if held {
		r.launch(run.ID, Lease{RunID: run.ID, Owner: run.Owner, Epoch: run.Epoch}, state)
	}
	return run.ID, nil
}

// pinned returns the flags of a run, which do not change after it began; nil if the site has none.
func (r *Runner) pinned(sessionID string, plan contracts.Plan) *metrics.Flags {
	if len(r.cfg.Rollout) == 0 {
		return nil
	}
	var domains []string
	add := func(name string) {
		if domain, _, ok := strings.Cut(name, "."); ok && !slices.Contains(domains, domain) {
			domains = append(domains, domain)
		}
	}
	for _, n := range plan.Nodes {
		add(n.Tool)
	}
	for _, f := range plan.Frames {
		add(f.Workflow)
	}
	flags := r.cfg.Rollout.For(sessionID, domains)
	return &flags
}

// firstTransition returns the initial state of a run and the transition that stores it: the plan
// entry and the rows of the nodes. A plan with nodes that can never be reached is invalid.
func firstTransition(run *Run, now time.Time) (*runstate.State, Transition, error) {
	state, err := runstate.Begin(*run)
	if err != nil {
		return nil, Transition{}, err
	}
	t := Transition{At: now, Nodes: make([]NodeRecord, 0, state.Len())}
	for _, n := range state.Nodes() {
		t.Nodes = append(t.Nodes, *n.Row)
	}
	plan, err := runstate.PlanEntry(run.Plan, now)
	if err != nil {
		return nil, t, err
	}
	chain := runstate.Chain{RunID: run.ID, Salt: saltOf(run.Format)}
	t.Ledger, t.Payloads, chain, err = chain.Seal([]runstate.Entry{plan})
	run.LedgerSeq, run.LedgerHead = chain.Seq, chain.Head
	return state, t, err
}

// Wake wakes the owner of a run, or the dispatcher if no owner is in this process.
func (r *Runner) Wake(runID string) {
	if !r.WakeLocal(runID) {
		r.dispatcher.Notify()
	}
}

// WakeLocal wakes the owner of the run if it is in this process, and reports whether it is. A run
// without an owner is taken by the process that wrote for it, or found by a sweep.
func (r *Runner) WakeLocal(runID string) bool {
	r.mu.Lock()
	l := r.active[runID]
	r.mu.Unlock()
	if l != nil {
		l.inbox.put(message{kind: msgWake})
	}
	return l != nil
}

// Cancel commits a request to cancel the run, and wakes its owner. Reads are cancelled, writes in
// flight finish and are recorded, waiting nodes are cancelled.
func (r *Runner) Cancel(ctx context.Context, runID, by string) error {
	if err := r.store.RequestCancel(ctx, runID, by); err != nil {
		return err
	}
	r.Wake(runID)
	return nil
}

// Quiet reports whether this process owns the run and has so far told observers only of progress. A
// caller that has already subscribed will be told of everything else.
func (r *Runner) Quiet(runID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.active[runID]
	return o != nil && !o.told.Load()
}

// Active returns how many runs this replica advances now.
func (r *Runner) Active() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.active)
}

// reserve takes a slot for one more run, if there is one.
func (r *Runner) reserve() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.started || r.stopping || len(r.active)+r.reserved >= r.cfg.MaxActiveRuns {
		return false
	}
	r.reserved++
	r.work.Add(1) // Stop also waits for runs that are being acquired
	return true
}

func (r *Runner) unreserve() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reserved--
	r.work.Done()
}

// tryYieldPlace reports whether a run that only waits for slots should give its place to runs that
// can be advanced. If so, it counts the run as leaving.
func (r *Runner) tryYieldPlace() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	spare := max(r.cfg.MaxActiveRuns/16, 1)
	if len(r.active)+r.reserved-r.leaving <= r.cfg.MaxActiveRuns-spare {
		return false
	}
	r.leaving++
	return true
}

// keepPlace undoes tryYieldPlace.
func (r *Runner) keepPlace() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaving--
}

// launch starts an owner in a reserved slot. The owner reads the run from the store, unless begun
// is set.
func (r *Runner) launch(runID string, lease Lease, begun *runstate.State) {
	o := newOwner(r, lease)
	r.mu.Lock()
	r.reserved--
	r.active[runID] = o
	base := r.base
	r.mu.Unlock()
	go func() {
		defer r.work.Done()
		if r.cfg.Context != nil {
			base = r.cfg.Context(base, runID) //nolint:fatcontext // once
		}
		o.advanceUntilDone(base, begun)
		r.mu.Lock()
		full := len(r.active)+r.reserved >= r.cfg.MaxActiveRuns
		delete(r.active, runID)
		if o.leaving {
			r.leaving--
		}
		r.mu.Unlock()
		if full || !o.over { // a slot is free, or a parked run may be due already
			r.dispatcher.Notify()
		}
	}()
}

// idDigits are in byte order, so that ids sort by time.
const idDigits = "234567abcdefghijklmnopqrstuvwxyz"

// NewID returns an id such as run_7k3q…: the milliseconds of about a year, and 65 bits that cannot
// be guessed. Ids made at about the same time are neighbours in an index, so that inserts touch few
// of its pages.
func NewID(prefix string) string { return idAt(prefix, time.Now(), []byte(rand.Text())) }

// DerivedRunID returns the run id of a request made at a time, so that a repeat of the request
// finds the run. It is like NewID, with digits derived from the parts.
func DerivedRunID(at time.Time, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return idAt("run", at, []byte(base32.StdEncoding.EncodeToString(sum[:])))
}

// idAt makes an id of a time and 13 of the 20 digits.
func idAt(prefix string, at time.Time, digits []byte) string {
	digits = bytes.ToLower(digits[:20])
	ms := at.UnixMilli()
	for i := 6; i >= 0; i-- {
		digits[i] = idDigits[ms&31]
		ms >>= 5
	}
	return prefix + "_" + string(digits)
}
