package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/manifold-run/manifold/contracts"
)

// scope is the name of the instrumentation scope.
const scope = "github.com/manifold-run/manifold"

// Config configures telemetry. Endpoints, headers, sampling and further settings are OTEL_*
// variables, which the OpenTelemetry exporters read themselves.
type Config struct {
	// Getenv reads the variables that decide whether anything is exported.
	Getenv func(string) string
	// Prometheus enables Metrics.
	Prometheus bool
	// PublicURL is the base URL of the web page. If it is "", spans contain no links to it.
	PublicURL string
	Version   string
	Logger    *slog.Logger
}

// signal reports whether a signal is exported by OTLP, and with which protocol, as the
// OpenTelemetry specification says. Unlike there, nothing is exported if neither an exporter nor
// an endpoint is configured.
func (c Config) signal(name string) (protocol string, on bool, err error) {
	get := func(key string) string { return strings.TrimSpace(c.Getenv(key)) }
	if strings.EqualFold(get("OTEL_SDK_DISABLED"), "true") {
		return "", false, nil
	}
	exporter := get("OTEL_" + name + "_EXPORTER")
	named := get("OTEL_EXPORTER_OTLP_ENDPOINT")+get("OTEL_EXPORTER_OTLP_"+name+"_ENDPOINT") != ""
	switch exporter {
	case "none":
		return "", false, nil
	case "":
		if !named {
			return "", false, nil
		}
	case "otlp":
	default:
		return "", false, contracts.Errorf(contracts.CodeInvalid, "OTEL_%s_EXPORTER must be otlp or none, not %q", name, exporter)
	}
	protocol = cmp.Or(get("OTEL_EXPORTER_OTLP_"+name+"_PROTOCOL"), get("OTEL_EXPORTER_OTLP_PROTOCOL"), "http/protobuf")
	if protocol != "grpc" && protocol != "http/protobuf" {
		return "", false, contracts.Errorf(contracts.CodeInvalid, "OTEL_EXPORTER_OTLP_PROTOCOL must be grpc or http/protobuf, not %q", protocol)
	}
	return protocol, true, nil
}

// Telemetry measures and traces a server. A nil Telemetry does nothing and costs nothing.
type Telemetry struct {
	cfg    Config
	traces trace.TracerProvider
	tracer trace.Tracer
	// always ignores the sampler. usual means that the default sampler is used.
	always     trace.Tracer
	tracing    bool
	usual      bool
	asked      askedRuns
	meters     metric.MeterProvider
	meter      metric.Meter
	propagator propagation.TextMapPropagator
	registry   *prometheus.Registry // nil without Prometheus
	set        instruments
	stops      []func(context.Context) error
	runs       *follower
	watch      sync.Once
}

// New returns the telemetry that the variables configure, or nil if there is none. Stop must be
// called.
func New(ctx context.Context, cfg Config) (*Telemetry, error) {
	traces, tracing, err := cfg.signal("TRACES")
	if err != nil {
		return nil, err
	}
	metrics, measuring, err := cfg.signal("METRICS")
	if err != nil {
		return nil, err
	}
	if !tracing && !measuring && !cfg.Prometheus {
		return nil, nil //nolint:nilnil // nothing is told
	}
	t := &Telemetry{
		cfg: cfg, traces: tracenoop.NewTracerProvider(), meters: metricnoop.NewMeterProvider(), tracing: tracing,
		propagator: propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}),
	}
	if err := t.open(ctx, traces, metrics, measuring); err != nil {
		return nil, errors.Join(err, t.Stop(ctx))
	}
	return t, nil
}

func (t *Telemetry) open(ctx context.Context, traces, metrics string, measuring bool) error {
	about, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("manifold"), semconv.ServiceVersion(t.cfg.Version)),
		resource.WithHost(), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	if t.tracing {
		if err := t.openTraces(ctx, traces, about); err != nil {
			return err
		}
	}
	if err := t.openMetrics(ctx, metrics, measuring, about); err != nil {
		return err
	}
	t.tracer, t.meter = t.traces.Tracer(scope), t.meters.Meter(scope)
	if t.set, err = newInstruments(t.meter); err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	t.runs = newFollower(t)
	t.stops = append(t.stops, t.runs.stop)
	return nil
}

func (t *Telemetry) openTraces(ctx context.Context, protocol string, about *resource.Resource) error {
	var exporter sdktrace.SpanExporter
	var err error
	if protocol == "grpc" {
		exporter, err = otlptracegrpc.New(ctx)
	} else {
		exporter, err = otlptracehttp.New(ctx)
	}
	if err != nil {
		return fmt.Errorf("telemetry: traces: %w", err)
	}
	options := []sdktrace.TracerProviderOption{sdktrace.WithSpanProcessor(sdktrace.NewBatchSpanProcessor(exporter)), sdktrace.WithResource(about), sdktrace.WithIDGenerator(idGenerator{})}
	all := sdktrace.NewTracerProvider(append(options, sdktrace.WithSampler(sdktrace.AlwaysSample()))...)
	t.always = all.Tracer(scope)
	if t.usual = strings.TrimSpace(t.cfg.Getenv("OTEL_TRACES_SAMPLER")) == ""; t.usual {
		options = append(options, sdktrace.WithSampler(usually()))
	}
	t.traces, t.stops = sdktrace.NewTracerProvider(options...), append(t.stops, all.Shutdown)
	return nil
}

func (t *Telemetry) openMetrics(ctx context.Context, protocol string, measuring bool, about *resource.Resource) error {
	options := []sdkmetric.Option{sdkmetric.WithResource(about), sdkmetric.WithView(views()...)}
	if measuring {
		exporter, err := metricExporter(ctx, protocol)
		if err != nil {
			return fmt.Errorf("telemetry: metrics: %w", err)
		}
		options = append(options, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)))
	}
	if t.cfg.Prometheus {
		t.registry = prometheus.NewRegistry()
		t.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		exporter, err := otelprom.New(otelprom.WithRegisterer(t.registry), otelprom.WithoutScopeInfo())
		if err != nil {
			return fmt.Errorf("telemetry: metrics: %w", err)
		}
		options = append(options, sdkmetric.WithReader(exporter))
	}
	provider := sdkmetric.NewMeterProvider(options...)
	t.meters, t.stops = provider, append(t.stops, provider.Shutdown)
	return nil
}

func metricExporter(ctx context.Context, protocol string) (sdkmetric.Exporter, error) {
	if protocol == "grpc" {
		return otlpmetricgrpc.New(ctx)
	}
	return otlpmetrichttp.New(ctx)
}

// views drop unused metrics and labels, and limit the method label to known methods.
func views() []sdkmetric.View {
	drop := func(name string) sdkmetric.View {
		return sdkmetric.NewView(sdkmetric.Instrument{Name: name}, sdkmetric.Stream{Aggregation: sdkmetric.AggregationDrop{}})
	}
	keep := func(name string, keys ...attribute.Key) sdkmetric.View {
		return sdkmetric.NewView(sdkmetric.Instrument{Name: name}, sdkmetric.Stream{AttributeFilter: attribute.NewAllowKeysFilter(keys...)})
	}
	return []sdkmetric.View{
		drop("http.server.request.body.size"), drop("http.server.response.body.size"),
		keep("http.server.request.duration", semconv.HTTPRequestMethodKey, semconv.HTTPRouteKey, semconv.HTTPResponseStatusCodeKey),
	}
}

// Metrics serves the metrics in the Prometheus format. Config.Prometheus must be set.
func (t *Telemetry) Metrics() http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{EnableOpenMetrics: true, ErrorLog: slog.NewLogLogger(t.cfg.Logger.Handler(), slog.LevelWarn)})
}

// Stop exports the remaining data and stops.
func (t *Telemetry) Stop(ctx context.Context) error {
	if t == nil {
		return nil
	}
	var errs []error
	for _, stop := range slices.Backward(t.stops) {
		errs = append(errs, stop(ctx))
	}
	t.stops = nil
	return errors.Join(errs...)
}
