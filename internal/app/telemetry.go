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

// Telemetry is what a server tells of its work.
type Telemetry struct {
	// MetricsAddr is where Prometheus reads metrics, on a listener of its own [none].
	MetricsAddr string
	// Getenv reads the OTEL_* variables that say whether traces and metrics are sent
	// [they are not].
	Getenv func(string) string
	// TraceURL is where people see the trace of a run, with {trace_id} in the place of its
	// id [nowhere].
	TraceURL string
}

// newTelemetry makes what a server tells of its work, nil if nobody listens.
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

// watched reports where metrics come from that are looked up, and not counted.
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

// domainTransport is what goes around the transports of domains, nil for nothing.
func domainTransport(t *telemetry.Telemetry) func(http.RoundTripper) http.RoundTripper {
	if t == nil {
		return nil
	}
	return t.Transport
}

// runContext puts runs into their traces; nil where none are sent.
func runContext(t *telemetry.Telemetry) func(context.Context, string) context.Context {
	if t == nil {
		return nil
	}
	return t.Context
}

// traceModel has each call of a model measured, and what it sends carry the trace.
func traceModel(t *telemetry.Telemetry, c *ModelConfig) {
	if t == nil {
		return
	}
	c.HTTP = &http.Client{Transport: t.Transport(http.DefaultTransport)}
	c.Around = t.Engine
}

// scrapes serves metrics to Prometheus, if an address is given.
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

// stop cuts a scrape off: it is made again.
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

// MetricsURL is where Prometheus reads the metrics of a server, once it is started;
// "" if there are none.
func MetricsURL(a *App) string { return a.scrapes.url() }
