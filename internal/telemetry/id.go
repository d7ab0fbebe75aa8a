package telemetry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"

	"go.opentelemetry.io/otel/trace"

	"github.com/manifold-run/manifold/contracts"
)

// ids are the ids for the next span, instead of random ones.
type ids struct {
	trace trace.TraceID
	span  trace.SpanID
}

type idsKey struct{}

// runIDs returns the ids of the span of a run or, with a node id, of a step.
func runIDs(runID, nodeID string) ids {
	sum := sha256.Sum256([]byte("span\x00" + runID + "\x00" + nodeID))
	return ids{trace: traceOf(runID), span: trace.SpanID(sum[:8])}
}

// traceOf returns the trace id of a run.
func traceOf(runID string) trace.TraceID {
	id, err := trace.TraceIDFromHex(contracts.TraceID(runID))
	if err != nil {
		return trace.TraceID{} // cannot happen for a hash
	}
	return id
}

func withIDs(ctx context.Context, id ids) context.Context {
	return context.WithValue(ctx, idsKey{}, id)
}

// idGenerator generates random ids, unless the context contains ids.
type idGenerator struct{}

// NewIDs returns the ids of a span that starts a trace.
func (idGenerator) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if id, ok := ctx.Value(idsKey{}).(ids); ok {
		return id.trace, id.span
	}
	return trace.TraceID(random(16)), randomSpan()
}

// NewSpanID returns the id of a span in a trace.
func (idGenerator) NewSpanID(ctx context.Context, of trace.TraceID) trace.SpanID {
	if id, ok := ctx.Value(idsKey{}).(ids); ok && id.trace == of {
		return id.span
	}
	return randomSpan()
}

func randomSpan() trace.SpanID { return trace.SpanID(random(8)) }

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never returns an error
	return b
}
