package telemetry_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/telemetry"
)

// silent is a store that accepts commits and blocks reads.
type silent struct{ telemetry.Runs }

func (silent) Commit(context.Context, execution.Transition) (execution.Committed, error) {
	return execution.Committed{}, nil
}

func (silent) LoadRun(ctx context.Context, _ string) (execution.Snapshot, error) {
	<-ctx.Done()
	return execution.Snapshot{}, ctx.Err()
}

// TestAStopDoesNotWaitForAStoreThatDoesNotAnswer checks this with many unreported runs.
func TestAStopDoesNotWaitForAStoreThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	tell, err := telemetry.New(t.Context(), telemetry.Config{Getenv: func(string) string { return "" }, Prometheus: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	store := tell.Store(silent{})
	if err := tell.Watch(telemetry.Sources{}, time.Now); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := store.Commit(t.Context(), execution.Transition{Lease: execution.Lease{RunID: "r1"}, Finished: true}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := tell.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
		t.Errorf("it stopped after %v, %v", time.Since(began), err)
	}
}
