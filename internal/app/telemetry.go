package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/figure"
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
}

// wireTelemetry makes what the server tells of its work, if anybody listens.
func (a *App) wireTelemetry(ctx context.Context) (err error) {
	getenv := a.cfg.Telemetry.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	a.telemetry, err = telemetry.New(ctx, telemetry.Config{
		Getenv: getenv, Prometheus: a.cfg.Telemetry.MetricsAddr != "", Version: a.cfg.Version, Logger: a.cfg.Logger,
		PublicURL: strings.TrimRight(a.cfg.Links.PublicURL, "/"),
	})
	if err != nil {
		return err
	}
	a.cfg.Logger = a.telemetry.Logger(a.cfg.Logger)
	return nil
}

// watch says where metrics come from that are read, and not counted.
func (a *App) watch() error {
	who := access.Principal{Kind: access.KindService, ID: "telemetry", Roles: []access.Role{access.RoleOperator}}
	return a.telemetry.Watch(telemetry.Sources{
		Counts: func(ctx context.Context) (contracts.RunCounts, error) {
			return a.rooms.runs.Counts(ctx, who, runs.Filter{All: true})
		},
		Stats: func(ctx context.Context) (figure.Stats, error) {
			return a.rooms.runs.Stats(ctx, who, runs.StatsFilter{Filter: runs.Filter{All: true}})
		},
		Figures: func(ctx context.Context, runID string) (figure.RunFigures, error) {
			return a.rooms.runs.Figures(ctx, who, runID)
		},
		Domains: a.registry.List,
	}, a.cfg.Now)
}

// MetricsURL is where Prometheus reads metrics, once the server is started; "" if
// there are none.
func (a *App) MetricsURL() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.metricsAt == nil {
		return ""
	}
	return "http://" + reachable(a.metricsAt.Addr()) + "/metrics"
}

// metrics is the part that serves them. Its caller holds mu.
func (a *App) metrics() part {
	var srv *http.Server
	served := make(chan struct{})
	start := func(ctx context.Context) error {
		if a.cfg.Telemetry.MetricsAddr == "" {
			close(served)
			return nil
		}
		var lc net.ListenConfig
		listener, err := lc.Listen(ctx, "tcp", a.cfg.Telemetry.MetricsAddr)
		if err != nil {
			return fmt.Errorf("listen for metrics on %s: %w", a.cfg.Telemetry.MetricsAddr, err)
		}
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", a.telemetry.Metrics())
		srv = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: time.Minute, ErrorLog: slog.NewLogLogger(a.cfg.Logger.Handler(), slog.LevelWarn)}
		a.metricsAt = listener
		go func() {
			defer close(served)
			if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				a.cfg.Logger.Error("metrics are served no more", slog.Any("error", err))
			}
		}()
		return nil
	}
	return part{"metrics", start, func(context.Context) error {
		var err error
		if srv != nil {
			err = srv.Close() // a scrape that is cut off is made again
		}
		<-served
		return err
	}}
}

// domainTransport is what goes around the transports of domains, nil for nothing.
func (a *App) domainTransport() func(http.RoundTripper) http.RoundTripper {
	if a.telemetry == nil {
		return nil
	}
	return a.telemetry.Transport
}

// runContext puts runs into their traces; nil where none are sent.
func (a *App) runContext() func(context.Context, string) context.Context {
	if a.telemetry == nil {
		return nil
	}
	return a.telemetry.Context
}

// traceModel has each call of a model measured, and what it sends carry the trace.
func (a *App) traceModel(c *ModelConfig) {
	if a.telemetry == nil {
		return
	}
	c.HTTP = &http.Client{Transport: a.telemetry.Transport(http.DefaultTransport)}
	c.Around = a.telemetry.Engine
}
