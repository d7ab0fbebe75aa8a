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
	"strconv"
	"syscall"
	"time"

	"github.com/manifold-run/manifold/internal/app"
)

// observed measures what telemetry takes: processor time of runs of ten reads on servers
// that tell more and more, beside one that tells nothing, in turns. The collector is a part
// of this process too, and throws away what it is sent.
func observed(ctx context.Context, p *page, dir string, e effort) error {
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	defer collector.Close()
	var servers []*whole
	var err error
	for i, told := range tellings() {
		w := newWhole()
		if told.env != nil {
			told.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.URL
			w.telemetry = app.Telemetry{Getenv: os.Getenv, MetricsAddr: "127.0.0.1:0"}
		}
		servers = append(servers, w)
		err = errors.Join(err, startedWith(told.env, func() error { return w.start(ctx, filepath.Join(dir, strconv.Itoa(i))) }))
	}
	if err == nil {
		err = observedTable(ctx, p, servers, e)
	}
	for _, w := range servers {
		err = errors.Join(err, closing(ctx, w.close))
	}
	return err
}

// telling is how much a server tells.
type telling struct {
	name string
	env  map[string]string
}

func tellings() []telling {
	return []telling{
		{"nothing", nil},
		{"metrics", map[string]string{"OTEL_TRACES_EXPORTER": "none"}},
		{"metrics and one trace of ten", map[string]string{"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.1"}},
		{"metrics and all traces", map[string]string{}},
	}
}

// startedWith starts something with variables in the environment, which the exporters of
// OpenTelemetry read themselves.
func startedWith(env map[string]string, start func() error) error {
	for name, value := range env {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	err := start()
	for name := range env {
		err = errors.Join(err, os.Unsetenv(name))
	}
	return err
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
	off := middle(took[0])
	p.printf("\n### Telemetry: processor time of a run of 10 reads, middle of %d rounds of %d runs in turns\n\n| told | processor time | more |\n|---|--:|--:|\n", e.rounds, n)
	for i, told := range tellings() {
		p.printf("| %s | %.2f ms | %+.1f %% |\n", told.name, middle(took[i]), 100*(middle(took[i])/off-1))
	}
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
