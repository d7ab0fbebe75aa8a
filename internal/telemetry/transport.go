package telemetry

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// Transport returns a transport that measures requests, records a span if the trace is exported,
// and propagates the trace. Without telemetry it returns base. otelhttp costs several times as
// much if nothing is exported.
func (t *Telemetry) Transport(base http.RoundTripper) http.RoundTripper {
	if t == nil {
		return base
	}
	return transport{base, t}
}

type transport struct {
	base http.RoundTripper
	t    *Telemetry
}

// RoundTrip executes the request. Its span ends with the response header.
func (h transport) RoundTrip(r *http.Request) (*http.Response, error) {
	l := requestLabels{method: knownMethod(r.Method), host: r.URL.Host}
	if r.URL.Scheme == "https" && r.URL.Port() == "" {
		l.host = net.JoinHostPort(r.URL.Hostname(), "443")
	}
	ctx, span := h.t.requestSpan(r, l)
	began := time.Now()
	res, err := h.base.RoundTrip(h.t.withParent(ctx, r))
	if err != nil {
		l.fault = fmt.Sprintf("%T", err)
	} else {
		l.status = res.StatusCode
	}
	h.t.set.requests.Inst().Record(ctx, time.Since(began).Seconds(), h.t.set.byRequest.at(l)...)
	if span.IsRecording() {
		span.SetAttributes(l.attributes()...)
		if l.fault != "" || l.status >= http.StatusBadRequest {
			span.SetStatus(codes.Error, l.fault)
		}
	}
	span.End()
	return res, err
}

func (t *Telemetry) requestSpan(r *http.Request, l requestLabels) (context.Context, trace.Span) {
	if !t.sends(r.Context()) {
		return r.Context(), tracenoop.Span{}
	}
	at := url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: r.URL.Path} // without query parameters and passwords
	return t.tracer.Start(r.Context(), "HTTP "+l.method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(semconv.URLFull(at.String())))
}

// withParent returns the request with its trace context, if there is one. The receiver sees from
// it whether this server exports the trace.
func (t *Telemetry) withParent(ctx context.Context, r *http.Request) *http.Request {
	if !t.tracing || !trace.SpanContextFromContext(ctx).IsValid() {
		return r
	}
	out := *r // a transport must not modify the request
	if out.Header = maps.Clone(r.Header); out.Header == nil {
		out.Header = http.Header{}
	}
	t.propagator.Inject(ctx, propagation.HeaderCarrier(out.Header))
	return &out
}

func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodHead, http.MethodOptions, http.MethodPatch:
		return method
	case "":
		return http.MethodGet
	}
	return "_OTHER"
}

func (l requestLabels) attributes() []attribute.KeyValue {
	at := url.URL{Host: l.host}
	out := []attribute.KeyValue{semconv.HTTPRequestMethodKey.String(l.method), semconv.ServerAddress(at.Hostname())}
	port, err := strconv.Atoi(at.Port())
	if err != nil {
		port = 80
	}
	out = append(out, semconv.ServerPort(port))
	switch {
	case l.fault != "":
		out = append(out, semconv.ErrorTypeKey.String(l.fault))
	case l.status >= http.StatusBadRequest:
		out = append(out, semconv.HTTPResponseStatusCode(l.status), semconv.ErrorTypeKey.String(strconv.Itoa(l.status)))
	default:
		out = append(out, semconv.HTTPResponseStatusCode(l.status))
	}
	return out
}
