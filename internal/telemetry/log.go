package telemetry

import (
	"context"
	"errors"
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"github.com/manifold-run/manifold/internal/reasoning"
)

// Logger returns a logger that adds trace and span ids to its records.
func (t *Telemetry) Logger(l *slog.Logger) *slog.Logger {
	if t == nil || !t.tracing {
		return l
	}
	return slog.New(traced{l.Handler()})
}

type traced struct{ slog.Handler }

// Handle adds the trace and span ids.
func (h traced) Handle(ctx context.Context, r slog.Record) error {
	if at := trace.SpanContextFromContext(ctx); at.IsValid() {
		r.AddAttrs(slog.String("trace_id", at.TraceID().String()), slog.String("span_id", at.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs returns a handler that still adds the ids.
func (h traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{h.Handler.WithAttrs(attrs)} }

// WithGroup returns a handler that still adds the ids.
func (h traced) WithGroup(name string) slog.Handler { return traced{h.Handler.WithGroup(name)} }

// faultOf returns the error type of a model call, a label with bounded values.
func faultOf(ctx context.Context, err error) string {
	if fault, ok := errors.AsType[*reasoning.Error](err); ok {
		return string(fault.Kind)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "timeout"
	}
	return "_OTHER"
}
