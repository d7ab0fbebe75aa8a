package telemetry

import (
	"context"
	"net/http"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
)

const (
	// usualRatio is the share of traces exported if OTEL_TRACES_SAMPLER is not set.
	usualRatio = 0.1
	// slowRun is the machine time from which a run is always exported.
	slowRun = time.Minute
)

// usually returns the default sampler: the decision of the caller's trace, otherwise one in ten.
func usually() sdktrace.Sampler { return sdktrace.ParentBased(sdktrace.TraceIDRatioBased(usualRatio)) }

// sends reports whether a span in the context may be exported: the context is in a sampled trace,
// or in none. Otherwise the attributes of the span need not be computed.
func (t *Telemetry) sends(ctx context.Context) bool {
	if !t.tracing {
		return false
	}
	at := trace.SpanContextFromContext(ctx)
	return !at.IsValid() || at.IsSampled()
}

// runSampled decides whether the trace of a run is exported. The decision depends only on the run
// id, so that all servers agree, unless the caller's request was traced through this server.
func (t *Telemetry) runSampled(runID string) bool {
	if t.asked.has(runID) {
		return true
	}
	// A span that is never ended is never exported. It only shows the sampler's decision.
	_, span := t.tracer.Start(withIDs(context.Background(), runIDs(runID, "")), "run", trace.WithNewRoot()) //nolint:spancheck // see above
	return span.SpanContext().IsSampled()
}

// remarkable reports whether a run is exported despite the sampler's decision, because it failed,
// was degraded or was slow. This applies only to the default sampler.
func (t *Telemetry) remarkable(state contracts.RunState, took metrics.Timing) bool {
	return t.usual && (state == contracts.RunFailed || state == contracts.RunDegraded || took.MachineMS >= slowRun.Milliseconds())
}

// askedKey marks contexts of requests whose callers export their traces.
type askedKey struct{}

// asking marks a request if its caller exports its trace. The traces of its runs are then
// exported, too.
func (t *Telemetry) asking(r *http.Request) *http.Request {
	if !t.tracing || r.Header.Get("Traceparent") == "" || !trace.SpanContextFromContext(r.Context()).IsSampled() {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), askedKey{}, true))
}

// mostAsked is the maximum number of runs recorded in askedRuns.
const mostAsked = 4096

// askedRuns are the runs that are exported because their requests were traced.
type askedRuns struct {
	mu  sync.Mutex // guards ids
	ids map[string]bool
}

func (a *askedRuns) add(runID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ids == nil || len(a.ids) >= mostAsked {
		a.ids = map[string]bool{}
	}
	a.ids[runID] = true
}

func (a *askedRuns) has(runID string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ids[runID]
}

func (a *askedRuns) drop(runID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.ids, runID)
}
