package telemetry

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"
	"go.opentelemetry.io/otel/semconv/v1.40.0/genaiconv"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/reasoning"
)

// Handler returns next with metrics and a span for each request. The parent of the span is that
// of the caller.
func (t *Telemetry) Handler(next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	routed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asking := t.asking(r)
		next.ServeHTTP(w, asking)
		r.Pattern = asking.Pattern
		if r.Pattern != "" {
			trace.SpanFromContext(r.Context()).SetAttributes(semconv.HTTPRoute(r.Pattern))
		}
	})
	return otelhttp.NewHandler(routed, "request", otelhttp.WithTracerProvider(t.traces), otelhttp.WithMeterProvider(t.meters), otelhttp.WithPropagators(t.propagator))
}

// Invoker returns next with metrics and a span for each call of a domain.
func (t *Telemetry) Invoker(next execution.Invoker) execution.Invoker {
	if t == nil {
		return next
	}
	return tracedCalls{next, t}
}

type tracedCalls struct {
	next execution.Invoker
	t    *Telemetry
}

// Invoke makes one exchange.
func (c tracedCalls) Invoke(ctx context.Context, call execution.Call) execution.Reply {
	if call.Context.RunID != "" {
		ctx = c.t.in(ctx, call.Context.RunID, call.Context.NodeID)
	}
	ctx, span := c.t.callSpan(ctx, &call)
	began := time.Now()
	reply := c.next.Invoke(ctx, call)
	l := callLabels{domain: call.Entry.Domain, class: string(call.Entry.Policy.SideEffectClass), reply: string(reply.Kind)}
	c.t.set.calls.Record(ctx, time.Since(began).Seconds(), c.t.set.byCall.at(l)...)
	if span.IsRecording() {
		span.SetAttributes(attribute.String("manifold.reply", l.reply))
		if reply.Kind != execution.ReplyResult && reply.Kind != execution.ReplyAccepted {
			span.SetAttributes(semconv.ErrorTypeKey.String(l.reply))
			span.SetStatus(codes.Error, l.reply)
		}
	}
	span.End()
	return reply
}

func (t *Telemetry) callSpan(ctx context.Context, call *execution.Call) (context.Context, trace.Span) {
	if !t.sends(ctx) {
		return ctx, tracenoop.Span{}
	}
	tool := call.Entry.Ref()
	return t.tracer.Start(ctx, "execute_tool "+tool, trace.WithAttributes(append(t.about(call.Context.RunID),
		semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolName(tool), attribute.String("manifold.domain", call.Entry.Domain),
		attribute.String("manifold.side_effect", string(call.Entry.Policy.SideEffectClass)),
		attribute.String("manifold.node.id", call.Context.NodeID), attribute.Int("manifold.attempt", call.Context.Attempt))...))
}

// Engine returns next with metrics and a span for each model call, by the semantic conventions
// for generative AI. The span does not contain the texts.
func (t *Telemetry) Engine(next reasoning.Engine, provider string) reasoning.Engine {
	if t == nil {
		return next
	}
	return tracedModel{next, t, genaiconv.ProviderNameAttr(provider)}
}

type tracedModel struct {
	reasoning.Engine
	t        *Telemetry
	provider genaiconv.ProviderNameAttr
}

// Complete calls the model.
func (m tracedModel) Complete(ctx context.Context, r reasoning.Request) (reasoning.Reply, error) {
	model := semconv.GenAIRequestModel(m.Name())
	ctx, span := m.t.tracer.Start(ctx, "chat "+m.Name(), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		semconv.GenAIOperationNameChat, semconv.GenAIProviderNameKey.String(string(m.provider)), model,
		semconv.GenAIRequestTemperature(r.Temperature), semconv.GenAIRequestMaxTokens(r.MaxOutputTokens)))
	defer span.End()
	began := time.Now()
	reply, err := m.Engine.Complete(ctx, r)
	with := []attribute.KeyValue{model}
	if err != nil {
		kind := semconv.ErrorTypeKey.String(faultOf(ctx, err))
		with = append(with, kind)
		span.SetAttributes(kind)
		span.SetStatus(codes.Error, kind.Value.AsString())
	}
	m.t.set.asked.Record(ctx, time.Since(began).Seconds(), genaiconv.OperationNameChat, m.provider, with...)
	m.used(ctx, span, reply.Usage, model)
	return reply, err
}

func (m tracedModel) used(ctx context.Context, span trace.Span, used contracts.Tokens, model attribute.KeyValue) {
	if used == (contracts.Tokens{}) {
		return // the server reports no usage
	}
	span.SetAttributes(semconv.GenAIUsageInputTokens(used.In), semconv.GenAIUsageOutputTokens(used.Out))
	m.t.set.tokens.Record(ctx, int64(used.In), genaiconv.OperationNameChat, m.provider, genaiconv.TokenTypeInput, model)
	m.t.set.tokens.Record(ctx, int64(used.Out), genaiconv.OperationNameChat, m.provider, genaiconv.TokenTypeOutput, model)
}
