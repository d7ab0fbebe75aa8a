package telemetry_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	collectmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collecttraces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// collector receives OTLP in both protocols.
type collector struct {
	collecttraces.UnimplementedTraceServiceServer

	mu      sync.Mutex // guards the fields below
	spans   []*traces.Span
	metrics map[string]bool
}

// byFormat starts a collector and returns the variables that configure it.
func byFormat(t *testing.T, protocol string) (*collector, map[string]string) {
	t.Helper()
	c := &collector{metrics: map[string]bool{}}
	env := map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": protocol, "OTEL_EXPORTER_OTLP_INSECURE": "true"}
	if protocol == "grpc" {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := grpc.NewServer()
		collecttraces.RegisterTraceServiceServer(server, c)
		collectmetrics.RegisterMetricsServiceServer(server, measured{c: c})
		served := make(chan struct{})
		go func() { defer close(served); _ = server.Serve(listener) }()
		t.Cleanup(func() { server.Stop(); <-served })
		env["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://" + listener.Addr().String()
		return c, env
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(w http.ResponseWriter, r *http.Request) {
		var body collecttraces.ExportTraceServiceRequest
		read(t, w, r, &body)
		_, _ = c.Export(r.Context(), &body)
	})
	mux.HandleFunc("POST /v1/metrics", func(w http.ResponseWriter, r *http.Request) {
		var body collectmetrics.ExportMetricsServiceRequest
		read(t, w, r, &body)
		_, _ = measured{c: c}.Export(r.Context(), &body)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	env["OTEL_EXPORTER_OTLP_ENDPOINT"] = server.URL
	return c, env
}

func read(t *testing.T, w http.ResponseWriter, r *http.Request, into proto.Message) {
	t.Helper()
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = proto.Unmarshal(raw, into)
	}
	if err != nil {
		t.Errorf("%s: %v", r.URL.Path, err)
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// Export receives spans.
func (c *collector) Export(_ context.Context, r *collecttraces.ExportTraceServiceRequest) (*collecttraces.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range r.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
	return &collecttraces.ExportTraceServiceResponse{}, nil
}

// measured receives metrics.
type measured struct {
	collectmetrics.UnimplementedMetricsServiceServer

	c *collector
}

// Export receives metrics.
func (m measured) Export(_ context.Context, r *collectmetrics.ExportMetricsServiceRequest) (*collectmetrics.ExportMetricsServiceResponse, error) {
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	for _, resource := range r.GetResourceMetrics() {
		for _, scope := range resource.GetScopeMetrics() {
			for _, metric := range scope.GetMetrics() {
				m.c.metrics[metric.GetName()] = true
			}
		}
	}
	return &collectmetrics.ExportMetricsServiceResponse{}, nil
}

// first returns the first span with a name.
func (c *collector) first(t *testing.T, name string) *traces.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.spans, func(s *traces.Span) bool { return s.GetName() == name })
	if at < 0 {
		t.Fatalf("no span is called %q", name)
	}
	return c.spans[at]
}

// one returns the only span with a name that fulfils all conditions.
func (c *collector) one(t *testing.T, name string, where ...func(*traces.Span) bool) *traces.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*traces.Span
	var names []string
	for _, s := range c.spans {
		names = append(names, s.GetName())
		if s.GetName() == name && !slices.ContainsFunc(where, func(w func(*traces.Span) bool) bool { return !w(s) }) {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d spans are called %q, want 1; there are %q", len(found), name, names)
	}
	return found[0]
}

func attribute(s *traces.Span, key string) *common.AnyValue {
	for _, a := range s.GetAttributes() {
		if a.GetKey() == key {
			return a.GetValue()
		}
	}
	return nil
}

// below returns a condition for children of a span.
func below(parent *traces.Span) func(*traces.Span) bool {
	return func(s *traces.Span) bool {
		return string(s.GetTraceId()) == string(parent.GetTraceId()) && string(s.GetParentSpanId()) == string(parent.GetSpanId())
	}
}
