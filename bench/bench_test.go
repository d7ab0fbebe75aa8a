package main

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// makers are who runs the same shapes: the engine, and what one would use
// instead.
func makers() []struct {
	name string
	make func(context.Context, string) (subject, error)
} {
	return []struct {
		name string
		make func(context.Context, string) (subject, error)
	}{{"manifold", newEngine}, {"stepwise", newStepwise}, {"errgroup", newPlain}}
}

func open(b *testing.B, make func(context.Context, string) (subject, error)) subject {
	b.Helper()
	s, err := make(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(b.Context()), 10*time.Second)
		defer cancel()
		if err := s.close(ctx); err != nil {
			b.Error(err)
		}
	})
	return s
}

// repeat measures an operation with its tail, after one to warm up.
func repeat(b *testing.B, inFlight int, operation func(context.Context) error) {
	b.Helper()
	if err := operation(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	took, err := measure(b.Context(), b.N, inFlight, operation)
	b.StopTimer()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(milliseconds(took.at(0.5)), "p50-ms")
	b.ReportMetric(milliseconds(took.at(0.99)), "p99-ms")
	b.ReportMetric(took.perSecond(), "runs/s")
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// BenchmarkRun runs ten no-op nodes.
func BenchmarkRun(b *testing.B) {
	for _, s := range []shape{{nodes: 10}, {nodes: 10, parallel: true}} {
		for _, inFlight := range []int{1, 64} {
			for _, m := range makers() {
				b.Run(fmt.Sprintf("parallel=%t/in-flight=%d/%s", s.parallel, inFlight, m.name), func(b *testing.B) {
					subject := open(b, m.make)
					repeat(b, inFlight, func(ctx context.Context) error { return subject.run(ctx, s) })
				})
			}
		}
	}
}

// BenchmarkChain runs chains of no-op nodes; the time for each node must not
// grow with the chain.
func BenchmarkChain(b *testing.B) {
	for _, n := range []int{250, 500, 1000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			subject := open(b, newEngine)
			repeat(b, 1, func(ctx context.Context) error { return subject.run(ctx, shape{nodes: n}) })
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/node")
		})
	}
}

// BenchmarkAPI runs reads of a domain over HTTP, asked for over HTTP.
func BenchmarkAPI(b *testing.B) {
	w, err := newWhole(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(b.Context()), 10*time.Second)
		defer cancel()
		if err := w.close(ctx); err != nil {
			b.Error(err)
		}
	})
	for _, c := range []struct {
		name, capability string
		reads, inFlight  int
	}{
		{"8-reads-of-50ms-at-once", napping, 8, 1},
		{"8-reads-of-50ms-in-turn", nappingOne, 8, 1},
		{"10-noop-at-once/in-flight=1", noop, 10, 1},
		{"10-noop-at-once/in-flight=64", noop, 10, 64},
	} {
		b.Run(c.name, func(b *testing.B) {
			operation, err := w.prepare(b.Context(), c.capability, c.reads)
			if err != nil {
				b.Fatal(err)
			}
			repeat(b, c.inFlight, operation)
		})
	}
}
