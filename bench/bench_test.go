package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestMain lets the test program also be the process of listeners, and that of a server.
func TestMain(m *testing.M) {
	if os.Getenv(apartEnv) != "" {
		exit(serveApart(context.Background(), os.Stdin, os.Stdout))
	}
	if os.Getenv(hallEnv) != "" {
		exit(listenAll(context.Background(), os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func open(b *testing.B, make func(context.Context, string) (subject, error)) subject {
	b.Helper()
	s, err := make(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := closing(b.Context(), s.close); err != nil {
			b.Error(err)
		}
	})
	return s
}

// repeat measures an operation with its tail latency, after one warm-up.
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
	b.ReportMetric(milliseconds(took.cpuEach()), "cpu-ms/run")
}

// BenchmarkRun runs ten no-op nodes.
func BenchmarkRun(b *testing.B) {
	for _, s := range []shape{{nodes: 10}, {nodes: 10, parallel: true}} {
		for _, inFlight := range []int{1, 64} {
			for _, m := range contenders() {
				b.Run(fmt.Sprintf("parallel=%t/in-flight=%d/%s", s.parallel, inFlight, m.name), func(b *testing.B) {
					subject := open(b, m.make)
					repeat(b, inFlight, func(ctx context.Context) error { return subject.run(ctx, s) })
				})
			}
		}
	}
}

// BenchmarkChain runs chains of no-op nodes; the time per node must not grow with the chain.
func BenchmarkChain(b *testing.B) {
	for _, n := range []int{250, 500, 1000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			subject := open(b, newEngine)
			repeat(b, 1, func(ctx context.Context) error { return subject.run(ctx, shape{nodes: n}) })
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/node")
		})
	}
}

// startedWhole starts the server, and stops it at the end.
func startedWhole(b *testing.B) *whole {
	b.Helper()
	w, err := startWhole(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := closing(b.Context(), w.close); err != nil {
			b.Error(err)
		}
	})
	return w
}

// BenchmarkAPI runs reads of a domain over HTTP, requested over HTTP.
func BenchmarkAPI(b *testing.B) {
	w := startedWhole(b)
	for _, c := range []struct {
		name, capability string
		reads, inFlight  int
	}{
		{"8-reads-of-50ms-at-once", napping, 8, 1},
		{"8-reads-of-50ms-in-turn", nappingOne, 8, 1},
		{"10-noop-at-once/in-flight=1", noop, 10, 1},
		{"10-noop-at-once/in-flight=8", noop, 10, 8},
		{"10-noop-at-once/in-flight=64", noop, 10, 64},
	} {
		b.Run(c.name, func(b *testing.B) {
			operation, err := w.prepare(b.Context(), c.capability, c.reads)
			if err != nil {
				b.Fatal(err)
			}
			repeat(b, c.inFlight, operation)
		})
		b.Run(c.name+"/direct", func(b *testing.B) { repeat(b, c.inFlight, w.direct(c.capability, c.reads)) })
	}
}

// TestReport runs a little of everything: the measurements must work wherever the tests do. Their
// speed is not checked.
func TestReport(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it measures engines")
	}
	var out strings.Builder
	if err := report(t.Context(), &out, effort{rounds: 1, part: 1000}, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"### 8 reads of 50ms", "### Runs of ten no-op nodes", "| 1000 |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T){
		"every operation is counted once, and no more than asked for are in flight": func(t *testing.T) {
			var now, most, calls atomic.Int64
			took, err := measure(t.Context(), 100, 4, func(context.Context) error {
				calls.Add(1)
				n := now.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				now.Add(-1)
				return nil
			})
			if err != nil || len(took.each) != 100 || calls.Load() != 100 || most.Load() > 4 {
				t.Errorf("%d durations of %d calls, at most %d in flight, %v", len(took.each), calls.Load(), most.Load(), err)
			}
		},
		"an operation that fails ends the measurement": func(t *testing.T) {
			broken := errors.New("broken")
			if _, err := compete(t.Context(), 1, 10, 2, func(context.Context) error { return broken }); !errors.Is(err, broken) {
				t.Errorf("got %v", err)
			}
		},
		"the round that warms up does not count": func(t *testing.T) {
			calls := 0
			took, err := compete(t.Context(), 3, 5, 1, func(context.Context) error { calls++; return nil })
			if err != nil || calls != 20 || len(took[0].each) != 15 {
				t.Errorf("%d calls, %d counted, %v", calls, len(took[0].each), err)
			}
		},
		"quantiles are taken from the sorted durations": func(t *testing.T) {
			s := sample{each: []time.Duration{4, 1, 3, 2, 5}, total: time.Second}
			if s.at(0.5) != 3 || s.at(0.99) != 5 || s.perSecond() != 5 {
				t.Errorf("got %v, %v, %v", s.at(0.5), s.at(0.99), s.perSecond())
			}
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// BenchmarkMCP is one read as a tool of /mcp.
func BenchmarkMCP(b *testing.B) {
	w := startedWhole(b)
	session, err := connected(b.Context(), w.app.URL()+"/mcp", &http.Client{Transport: bearer{w.key}})
	if err != nil {
		b.Fatal(err)
	}
	for _, inFlight := range []int{1, 16} {
		b.Run(fmt.Sprintf("in-flight=%d", inFlight), func(b *testing.B) {
			repeat(b, inFlight, asked(session, domainName+"__"+noop))
		})
	}
}
