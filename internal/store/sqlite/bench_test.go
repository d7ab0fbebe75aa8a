package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/sqlite"
)

func benchStore(b *testing.B, keys ...[]byte) *store {
	b.Helper()
	s, err := openAll(b.Context(), sqlite.Config{Path: filepath.Join(b.TempDir(), "manifold.db"), SealKeys: keys})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

// BenchmarkCommit measures durable commits of one node and one event, by one writer and by many,
// with and without seals. The relevant figure is commits/s.
func BenchmarkCommit(b *testing.B) {
	for _, c := range []struct {
		name    string
		writers int
		keys    [][]byte
	}{
		{"writers=1", 1, nil},
		{"writers=64", 64, nil},
		{"writers=1/sealed", 1, [][]byte{[]byte("key")}},
		{"writers=64/sealed", 64, [][]byte{[]byte("key")}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, writers := benchStore(b, c.keys...), c.writers
			var next atomic.Int64
			var leases []execution.Lease
			for w := range writers {
				leases = append(leases, create(b, s, fmt.Sprintf("r%d", w), execution.Transition{}))
			}
			b.ResetTimer()
			done := make(chan error)
			for _, lease := range leases {
				go func() { done <- commitAll(b.Context(), s, lease, &next, int64(b.N)) }()
			}
			for range leases {
				if err := <-done; err != nil {
					b.Error(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}

// commitAll commits until all writers together have made n commits.
func commitAll(ctx context.Context, s *store, lease execution.Lease, next *atomic.Int64, n int64) error {
	for i := next.Add(1); i <= n; i = next.Add(1) {
		_, err := s.Commit(ctx, execution.Transition{
			Lease: lease, Nodes: node(fmt.Sprintf("n%d", i%50)), Events: []contracts.Event{{Type: contracts.EventNodeEnd, NodeID: "n1"}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkRead measures reads of one row, alone and during writes.
func BenchmarkRead(b *testing.B) {
	b.Run("interrupt", func(b *testing.B) {
		s := benchStore(b)
		create(b, s, "r1", execution.Transition{Gates: []contracts.Interrupt{{InterruptID: "g1", Code: "AAA", Prompt: "?"}}})
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := s.InterruptAt(b.Context(), "g1"); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reads/s")
	})
	b.Run("signals", func(b *testing.B) {
		s := benchStore(b)
		create(b, s, "r1", execution.Transition{})
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := s.ReadSignals(b.Context(), "r1"); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reads/s")
	})
}
