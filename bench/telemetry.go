package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/manifold-run/manifold/internal/app"
)

// observed measures what telemetry takes: processor time of runs of ten reads on a server
// that tells everything, beside one that tells nothing, in turns. The collector is a part of
// this process too, and throws away what it is sent.
func observed(ctx context.Context, p *page, dir string, e effort) error {
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	defer collector.Close()
	// The exporters of OpenTelemetry read the environment themselves.
	if err := os.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL); err != nil {
		return err
	}
	off, on := newWhole(), newWhole()
	on.telemetry = app.Telemetry{Getenv: os.Getenv, MetricsAddr: "127.0.0.1:0"}
	err := errors.Join(off.start(ctx, filepath.Join(dir, "off")), on.start(ctx, filepath.Join(dir, "on")))
	if err == nil {
		err = observedTable(ctx, p, []*whole{off, on}, e)
	}
	return errors.Join(err, closing(ctx, off.close), closing(ctx, on.close))
}

func observedTable(ctx context.Context, p *page, servers []*whole, e effort) error {
	var ops []func(context.Context) error
	for _, w := range servers {
		op, err := w.prepare(ctx, noop, 10)
		if err != nil {
			return err
		}
		ops = append(ops, op)
	}
	n := e.of(256)
	took := make([][]float64, len(ops)) // processor time of a run, in ms, by round
	for round := range e.rounds + 1 {
		for i, op := range ops {
			before := processorTime()
			if _, err := measure(ctx, n, 16, op); err != nil {
				return err
			}
			if round > 0 {
				took[i] = append(took[i], float64(processorTime()-before)/float64(n)/float64(time.Millisecond))
			}
		}
	}
	off, on := middle(took[0]), middle(took[1])
	p.printf("\n### Telemetry: processor time of a run of 10 reads, middle of %d rounds of %d runs in turns\n\n| off | on | more |\n|--:|--:|--:|\n", e.rounds, n)
	p.printf("| %.2f ms | %.2f ms | %+.1f %% |\n", off, on, 100*(on/off-1))
	return nil
}

func middle(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// processorTime is what this process has used, in user and system mode.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
