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

// Runs is the store of runs, as the server has it.
type Runs interface {
	execution.Store
	orchestrator.GateList
}

// Context gives a context in which everything belongs to the trace of a run.
func (t *Telemetry) Context(ctx context.Context, runID string) context.Context {
	return t.in(ctx, runID, "")
}

// in gives a context in which everything belongs to a step of a run. The span itself
// is sent when the run has ended, by whichever server ends it.
func (t *Telemetry) in(ctx context.Context, runID, nodeID string) context.Context {
	if t == nil || !t.tracing {
		return ctx
	}
	root, at := runIDs(runID, ""), runIDs(runID, nodeID)
	// A span that is never ended is never sent: it tells whether the run is sampled.
	_, span := t.tracer.Start(withIDs(ctx, root), "run", trace.WithNewRoot()) //nolint:spancheck // see above
	return trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: at.trace, SpanID: at.span, TraceFlags: span.SpanContext().TraceFlags(), Remote: true,
	}))
}

// Store gives the store, with what is committed told.
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

// CreateRun links the request that asks for a run with the run's own trace. It
// commits.
func (s tracedRuns) CreateRun(ctx context.Context, run execution.Run, ttl time.Duration, first execution.Transition) error {
	link := trace.LinkFromContext(s.t.Context(context.Background(), run.ID)) //nolint:contextcheck // of the run's trace, not of the request's
	ctx, span := s.t.tracer.Start(ctx, "submit run", trace.WithLinks(link), trace.WithAttributes(s.t.about(run.ID)...))
	defer span.End()
	err := s.Runs.CreateRun(ctx, run, ttl, first)
	if err != nil {
		span.SetStatus(codes.Error, string(contracts.CodeOf(err)))
		return err
	}
	_, begun := s.t.tracer.Start(s.t.Context(context.Background(), run.ID), "submitted", trace.WithLinks(trace.LinkFromContext(ctx)))
	begun.End()
	return nil
}

// Commit counts what was opened, and follows up what has ended. It commits.
func (s tracedRuns) Commit(ctx context.Context, tr execution.Transition) (execution.Committed, error) {
	done, err := s.Runs.Commit(ctx, tr)
	if err != nil {
		return done, err
	}
	for i := range tr.Gates {
		s.t.set.gates.Add(ctx, 1, metric.WithAttributes(attribute.String("manifold.gate.type", string(tr.Gates[i].Type))))
	}
	if tr.Finished {
		s.t.runs.ended(ctx, tr.Lease.RunID)
	}
	return done, nil
}

// about are the attributes by which a run is found.
func (t *Telemetry) about(runID string) []attribute.KeyValue {
	out := []attribute.KeyValue{attribute.String("manifold.run.id", runID)}
	if t.cfg.PublicURL != "" {
		out = append(out, attribute.String("manifold.run.url", t.cfg.PublicURL+"/runs/"+runID))
	}
	return out
}

// follower tells of runs that have ended, beside the work: whoever ends a run does not
// wait for it.
type follower struct {
	t     *Telemetry
	store Runs
	now   func() time.Time
	queue chan string
	work  sync.WaitGroup

	mu     sync.Mutex // guards closed, and that nothing is put into a closed queue
	closed bool
}

// mostUntold is how many ended runs may wait to be told of.
const mostUntold = 1024

func newFollower(t *Telemetry) *follower {
	return &follower{t: t, queue: make(chan string, mostUntold)}
}

func (f *follower) begin(now func() time.Time) {
	f.now = now
	f.work.Go(func() {
		for runID := range f.queue {
			f.tell(runID)
		}
	})
}

// stop tells of what is left.
func (f *follower) stop(context.Context) error {
	f.mu.Lock()
	if !f.closed {
		f.closed = true
		close(f.queue)
	}
	f.mu.Unlock()
	f.work.Wait()
	return nil
}

func (f *follower) ended(ctx context.Context, runID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	select {
	case f.queue <- runID:
	default:
		f.t.set.unfollowed.Add(ctx, 1)
	}
}

func (f *follower) tell(runID string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	snapshot, err := f.store.LoadRun(ctx, runID)
	var figures metrics.RunMetrics
	if err == nil {
		figures, err = runmetrics.Of(snapshot, f.now())
	}
	if err != nil {
		f.t.cfg.Logger.WarnContext(ctx, "a run that has ended cannot be told of", slog.String("run_id", runID), slog.Any("error", err))
		return
	}
	f.measure(ctx, figures)
	if f.t.tracing {
		f.t.spans(snapshot)
	}
}

func (f *follower) measure(ctx context.Context, r metrics.RunMetrics) {
	ctx = f.t.Context(ctx, r.RunID) // exemplars lead to the run
	how := metric.WithAttributes(attribute.String("manifold.run.state", r.State), attribute.String("manifold.run.verdict", cmp.Or(r.Verdict, "none")))
	f.t.set.runs.Record(ctx, float64(r.MachineMS)/1000, how)
	f.t.set.waits.Record(ctx, float64(r.HumanMS)/1000, how)
	if r.VerifierRejections > 0 {
		f.t.set.rejections.Add(ctx, int64(r.VerifierRejections))
	}
}

// spans sends the span of a run, and below it one for each step and each time that
// people were asked.
func (t *Telemetry) spans(s execution.Snapshot) {
	if s.Run.FinishedAt == nil {
		return
	}
	ctx, root := t.tracer.Start(withIDs(context.Background(), runIDs(s.Run.ID, "")), "run", trace.WithNewRoot(),
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
	_, span := t.tracer.Start(withIDs(ctx, runIDs(runID, n.NodeID)), "step "+cmp.Or(tool, n.NodeID), trace.WithTimestamp(*n.StartedAt),
		trace.WithAttributes(attribute.String("manifold.node.id", n.NodeID), attribute.String("manifold.node.state", string(n.State)), attribute.Int("manifold.node.attempts", n.Attempts)))
	if n.State == contracts.NodeFailed {
		span.SetStatus(codes.Error, "failed")
	}
	span.End(trace.WithTimestamp(*n.FinishedAt))
}

// wait is the span in which people were asked, up to the last decision.
func (t *Telemetry) wait(ctx context.Context, runID string, gate *contracts.Interrupt) {
	if len(gate.Decisions) == 0 {
		return
	}
	ids := runIDs(runID, gate.NodeID)
	parent := trace.SpanContextFromContext(ctx)
	ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: ids.trace, SpanID: ids.span, TraceFlags: parent.TraceFlags()}))
	_, span := t.tracer.Start(context.WithValue(ctx, idsKey{}, nil), "wait for people", trace.WithTimestamp(gate.CreatedAt), trace.WithAttributes(
		attribute.String("manifold.gate.type", string(gate.Type)), attribute.String("manifold.gate.status", string(gate.Status)), attribute.Int("manifold.gate.decisions", len(gate.Decisions))))
	span.End(trace.WithTimestamp(gate.Decisions[len(gate.Decisions)-1].DecidedAt))
}
