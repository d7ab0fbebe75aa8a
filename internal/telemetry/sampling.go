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
	// usualRatio is how many traces are sent where OTEL_TRACES_SAMPLER says nothing.
	usualRatio = 0.1
	// slowRun is what machines take of a run that is sent in any case.
	slowRun = time.Minute
)

// usually is what is sent where nobody says: what a caller's trace says, else one of ten.
func usually() sdktrace.Sampler { return sdktrace.ParentBased(sdktrace.TraceIDRatioBased(usualRatio)) }

// sends reports whether what happens in a context may be sent: it is in a trace that is, or
// in none yet. What a span would say is not even put together for others.
func (t *Telemetry) sends(ctx context.Context) bool {
	if !t.tracing {
		return false
	}
	at := trace.SpanContextFromContext(ctx)
	return !at.IsValid() || at.IsSampled()
}

// runSampled decides whether a run is sent: by its id, so that all servers say the same,
// unless this one knows that somebody asked for it.
func (t *Telemetry) runSampled(runID string) bool {
	if t.asked.has(runID) {
		return true
	}
	// A span that is never ended is never sent: it tells what the sampler says.
	_, span := t.tracer.Start(withIDs(context.Background(), runIDs(runID, "")), "run", trace.WithNewRoot()) //nolint:spancheck // see above
	return span.SpanContext().IsSampled()
}

// remarkable reports whether a run is worth to be sent whatever the sampler says: it came
// out badly, or was slow. It is so only where nobody has chosen a sampler.
func (t *Telemetry) remarkable(state contracts.RunState, took metrics.Timing) bool {
	return t.usual && (state == contracts.RunFailed || state == contracts.RunDegraded || took.MachineMS >= slowRun.Milliseconds())
}

// askedKey marks the contexts of requests whose callers send their traces.
type askedKey struct{}

// asking keeps that a request belongs to a trace that its caller sends: so are its runs.
func (t *Telemetry) asking(r *http.Request) *http.Request {
	if !t.tracing || r.Header.Get("Traceparent") == "" || !trace.SpanContextFromContext(r.Context()).IsSampled() {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), askedKey{}, true))
}

// mostAsked bounds the runs that are kept for their callers' sake.
const mostAsked = 4096

// askedRuns are runs that are sent because their callers send theirs.
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
