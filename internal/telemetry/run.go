package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/runmetrics"
	"github.com/manifold-run/manifold/orchestrator"
)

// Runs is the store of runs of the server.
type Runs interface {
	execution.Store
	orchestrator.GateList
}

// Context returns a context in the trace of a run.
func (t *Telemetry) Context(ctx context.Context, runID string) context.Context {
	return t.in(ctx, runID, "")
}

// in returns a context in the span of a run's step. The span itself is exported at the end of the
// run, by the server that finishes it.
func (t *Telemetry) in(ctx context.Context, runID, nodeID string) context.Context {
	if t == nil || !t.tracing {
		return ctx
	}
	now := trace.SpanContextFromContext(ctx)
	sampled := now.IsSampled()
	switch within := now.TraceID() == traceOf(runID); {
	case !within:
		sampled = t.runSampled(runID)
	case !sampled:
		return ctx // the position in a trace that is not exported does not matter
	}
	at := runIDs(runID, nodeID)
	return trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: at.trace, SpanID: at.span, TraceFlags: trace.TraceFlags(0).WithSampled(sampled), Remote: true,
	}))
}

// Store returns s with metrics and traces for its commits.
func (t *Telemetry) Store(s Runs) Runs {
	if t == nil {
		return s
	}
	t.runs.store = s
	return tracedRuns{s, t}
}

type tracedRuns struct {
	Runs
	t *Telemetry
}

// CreateRun creates a run and links the trace of the request with that of the run. It commits.
func (s tracedRuns) CreateRun(ctx context.Context, run execution.Run, ttl time.Duration, first execution.Transition) error {
	if ctx.Value(askedKey{}) != nil {
		s.t.asked.add(run.ID)
	}
	own := s.t.Context(context.Background(), run.ID) // in the run's trace, not in the request's
	if !s.t.sends(ctx) && !s.t.sends(own) {          //nolint:contextcheck // see own
		return s.Runs.CreateRun(ctx, run, ttl, first)
	}
	ctx, span := s.t.tracer.Start(ctx, "submit run", trace.WithLinks(trace.LinkFromContext(own)), trace.WithAttributes(s.t.about(run.ID)...)) //nolint:contextcheck // see own
	defer span.End()
	err := s.Runs.CreateRun(ctx, run, ttl, first)
	if err != nil {
		span.SetStatus(codes.Error, string(contracts.CodeOf(err)))
		return err
	}
	_, begun := s.t.tracer.Start(own, "submitted", trace.WithLinks(trace.LinkFromContext(ctx)))
	begun.End()
	return nil
}

// Commit commits a transition, counts its gates and reports the end of a run. It commits.
func (s tracedRuns) Commit(ctx context.Context, tr execution.Transition) (execution.Committed, error) {
	done, err := s.Runs.Commit(ctx, tr)
	if err != nil {
		return done, err
	}
	for i := range tr.Gates {
		s.t.set.gates.Add(ctx, 1, metric.WithAttributes(attribute.String("manifold.gate.type", string(tr.Gates[i].Type))))
	}
	if tr.Finished {
		s.t.runs.ended(ctx, &tr)
	}
	return done, nil
}

// about returns the attributes that identify a run.
func (t *Telemetry) about(runID string) []attribute.KeyValue {
	out := []attribute.KeyValue{attribute.String("manifold.run.id", runID)}
	if t.cfg.PublicURL != "" {
		out = append(out, attribute.String("manifold.run.url", t.cfg.PublicURL+"/runs/"+runID))
	}
	return out
}

// follower reports finished runs in the background, so that nobody waits for it.
type follower struct {
	t     *Telemetry
	store Runs
	now   func() time.Time
	queue chan endedRun
	work  sync.WaitGroup

	mu     sync.Mutex // guards closed, and that nothing is put into a closed queue
	closed bool
}

// endedRun is a finished run to report. measured means that its metrics were recorded already,
// sent that its trace must be exported.
type endedRun struct {
	id             string
	measured, sent bool
}

// mostUntold is the maximum number of finished runs in the queue.
const mostUntold = 1024

func newFollower(t *Telemetry) *follower {
	return &follower{t: t, queue: make(chan endedRun, mostUntold)}
}

func (f *follower) begin(now func() time.Time) {
	f.now = now
	f.work.Go(func() {
		for run := range f.queue {
			f.tell(run)
		}
	})
}

// stop reports the remaining runs until ctx ends, because the store may not respond.
func (f *follower) stop(ctx context.Context) error {
	f.mu.Lock()
	if !f.closed {
		f.closed = true
		close(f.queue)
	}
	f.mu.Unlock()
	told := make(chan struct{})
	go func() { f.work.Wait(); close(told) }()
	select {
	case <-told:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ended records the metrics of a run from its verdict, which nearly all runs have. Only a run
// without one, or whose trace is exported, must be loaded.
func (f *follower) ended(ctx context.Context, tr *execution.Transition) {
	run := endedRun{id: tr.Lease.RunID}
	ctx = f.t.in(ctx, run.id, "") // so that exemplars refer to the run's trace
	run.sent = f.t.tracing && trace.SpanContextFromContext(ctx).IsSampled()
	f.t.asked.drop(run.id)
	if v := tr.Verdict; v != nil && v.Timing != nil && tr.State != "" {
		f.measure(ctx, runLabels{string(tr.State), string(v.Status)}, *v.Timing, v.Rejections)
		run.measured, run.sent = true, run.sent || f.t.remarkable(tr.State, *v.Timing)
	}
	if run.measured && !run.sent {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	select {
	case f.queue <- run:
	default:
		f.t.set.unfollowed.Add(ctx, 1)
	}
}

func (f *follower) tell(run endedRun) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	snapshot, err := f.store.LoadRun(ctx, run.id)
	var figures metrics.RunMetrics
	if err == nil && !run.measured {
		figures, err = runmetrics.Of(snapshot, f.now())
	}
	if err != nil {
		f.t.cfg.Logger.WarnContext(ctx, "a run that has ended cannot be told of", slog.String("run_id", run.id), slog.Any("error", err))
		return
	}
	if !run.measured {
		f.measure(ctx, runLabels{figures.State, cmp.Or(figures.Verdict, "none")}, figures.Timing, figures.VerifierRejections)
		run.sent = run.sent || f.t.remarkable(snapshot.Run.State, figures.Timing)
	}
	if run.sent {
		f.t.spans(snapshot)
	}
}

func (f *follower) measure(ctx context.Context, how runLabels, took metrics.Timing, rejections int) {
	f.t.set.runs.Record(ctx, float64(took.MachineMS)/1000, f.t.set.byRun.at(how)...)
	f.t.set.waits.Record(ctx, float64(took.HumanMS)/1000, f.t.set.byRun.at(how)...)
	if rejections > 0 {
		f.t.set.rejections.Add(ctx, int64(rejections))
	}
}

// spans exports the span of a run, with a child for each step and each interrupt. The caller has
// decided that the run is exported.
func (t *Telemetry) spans(s execution.Snapshot) {
	if s.Run.FinishedAt == nil {
		return
	}
	ctx, root := t.always.Start(withIDs(context.Background(), runIDs(s.Run.ID, "")), "run", trace.WithNewRoot(),
		trace.WithTimestamp(s.Run.CreatedAt), trace.WithAttributes(append(t.about(s.Run.ID), attribute.String("manifold.session.id", s.Run.SessionID), attribute.String("manifold.run.state", string(s.Run.State)))...))
	if s.Run.Verdict != nil {
		root.SetAttributes(attribute.String("manifold.run.verdict", string(s.Run.Verdict.Status)))
	}
	if s.Run.State == contracts.RunFailed {
		root.SetStatus(codes.Error, string(s.Run.State))
	}
	tools := map[string]string{}
	for i := range s.Run.Plan.Nodes {
		tools[s.Run.Plan.Nodes[i].NodeID] = s.Run.Plan.Nodes[i].Tool
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.StartedAt != nil && n.FinishedAt != nil {
			t.step(ctx, s.Run.ID, n, tools[n.NodeID])
		}
	}
	for i := range s.Gates {
		t.wait(ctx, s.Run.ID, &s.Gates[i])
	}
	root.End(trace.WithTimestamp(*s.Run.FinishedAt))
}

func (t *Telemetry) step(ctx context.Context, runID string, n *execution.NodeRecord, tool string) {
	if n.Spec != nil {
		tool = n.Spec.Tool
	}
	_, span := t.always.Start(withIDs(ctx, runIDs(runID, n.NodeID)), "step "+cmp.Or(tool, n.NodeID), trace.WithTimestamp(*n.StartedAt),
		trace.WithAttributes(attribute.String("manifold.node.id", n.NodeID), attribute.String("manifold.node.state", string(n.State)), attribute.Int("manifold.node.attempts", n.Attempts)))
	if n.State == contracts.NodeFailed {
		span.SetStatus(codes.Error, "failed")
	}
	span.End(trace.WithTimestamp(*n.FinishedAt))
}

// wait exports a span from the opening of an interrupt to its last decision.
func (t *Telemetry) wait(ctx context.Context, runID string, gate *contracts.Interrupt) {
	if len(gate.Decisions) == 0 {
		return
	}
	ids := runIDs(runID, gate.NodeID)
	parent := trace.SpanContextFromContext(ctx)
	ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: ids.trace, SpanID: ids.span, TraceFlags: parent.TraceFlags()}))
	_, span := t.always.Start(context.WithValue(ctx, idsKey{}, nil), "wait for people", trace.WithTimestamp(gate.CreatedAt), trace.WithAttributes(
		attribute.String("manifold.gate.type", string(gate.Type)), attribute.String("manifold.gate.status", string(gate.Status)), attribute.Int("manifold.gate.decisions", len(gate.Decisions))))
	span.End(trace.WithTimestamp(gate.Decisions[len(gate.Decisions)-1].DecidedAt))
}
