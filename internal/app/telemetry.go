package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/internal/telemetry"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/runs"
)

// Telemetry configures traces and metrics.
type Telemetry struct {
	// MetricsAddr is the address of a separate listener for Prometheus [none].
	MetricsAddr string
	// Getenv reads the OTEL_* variables that configure the export of traces and metrics [no
	// export].
	Getenv func(string) string
	// TraceURL is the URL of a trace in the site's trace viewer, with {trace_id} as placeholder
	// [none].
	TraceURL string
}

// newTelemetry returns the telemetry of a server, nil if nothing is configured.
func newTelemetry(ctx context.Context, cfg Config) (*telemetry.Telemetry, error) {
	getenv := cfg.Telemetry.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	return telemetry.New(ctx, telemetry.Config{
		Getenv: getenv, Prometheus: cfg.Telemetry.MetricsAddr != "", Version: cfg.Version, Logger: cfg.Logger,
		PublicURL: strings.TrimRight(cfg.Links.PublicURL, "/"),
	})
}

// watched returns the sources of metrics that are queried instead of counted.
func watched(a *App) telemetry.Sources {
	who := access.Principal{Kind: access.KindService, ID: "telemetry", Roles: []access.Role{access.RoleOperator}}
	return telemetry.Sources{
		Counts: func(ctx context.Context) (contracts.RunCounts, error) {
			return a.useCases.runs.Counts(ctx, who, runs.Filter{All: true})
		},
		Stats: func(ctx context.Context) (metrics.Stats, error) {
			return a.useCases.runs.Stats(ctx, who, runs.StatsFilter{Filter: runs.Filter{All: true}})
		},
		Domains: a.registry.List,
	}
}

// domainTransport returns the wrapper for the transports of domains, nil for none.
func domainTransport(t *telemetry.Telemetry) func(http.RoundTripper) http.RoundTripper {
	if t == nil {
		return nil
	}
	return t.Transport
}

// runContext returns the function that adds the trace of a run to a context, nil without
// telemetry.
func runContext(t *telemetry.Telemetry) func(context.Context, string) context.Context {
	if t == nil {
		return nil
	}
	return t.Context
}

// traceModel adds metrics and trace propagation to the calls of a model.
func traceModel(t *telemetry.Telemetry, c *ModelConfig) {
	if t == nil {
		return
	}
	c.HTTP = &http.Client{Transport: t.Transport(http.DefaultTransport)}
	c.Around = t.Engine
}

// scrapes serves metrics to Prometheus, if an address is configured.
type scrapes struct {
	addr   string
	server http.Server
	logger *slog.Logger
	served sync.WaitGroup

	mu       sync.Mutex // guards listener
	listener net.Listener
}

func newScrapes(cfg Config, t *telemetry.Telemetry) *scrapes {
	s := &scrapes{addr: cfg.Telemetry.MetricsAddr, logger: cfg.Logger}
	if s.addr != "" {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", t.Metrics())
		s.server = http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: time.Minute, ErrorLog: slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelWarn)}
	}
	return s
}

func (s *scrapes) start(ctx context.Context) error {
	if s.addr == "" {
		return nil
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", s.addr)
	if err != nil {
		return fmt.Errorf("listen for metrics on %s: %w", s.addr, err)
	}
	s.mu.Lock()
	s.listener = listener
	s.mu.Unlock()
	s.served.Go(func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.logger.ErrorContext(ctx, "metrics are served no more", slog.Any("error", err))
		}
	})
	return nil
}

// stop closes open connections; Prometheus retries a scrape.
func (s *scrapes) stop(context.Context) error {
	err := s.server.Close()
	s.served.Wait()
	return err
}

func (s *scrapes) url() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		return ""
	}
	return "http://" + reachable(s.listener.Addr()) + "/metrics"
}

// MetricsURL returns the URL of the metrics after Start, or "" if there are none.
func MetricsURL(a *App) string { return a.scrapes.url() }
