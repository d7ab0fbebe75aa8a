package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/postgres"
)

// wakeups is the execution.Dispatcher of one of several servers. Changes by this server wake its
// runs at once. Wake-ups by other servers and due timers arrive as jobs at any server with
// capacity. A sweep finds the runs of servers that have ended.
type wakeups struct {
	*execution.Sweeper

	to atomic.Pointer[execution.Taker] // nil while nobody takes runs
}

func newWakeups(store execution.DueStore, logger *slog.Logger) *wakeups {
	return &wakeups{Sweeper: execution.NewSweeper(store, execution.SweeperConfig{NoTimers: true, Logger: logger})}
}

// dueOfAll also returns the due runs of servers that have ended.
type dueOfAll struct {
	execution.DueStore

	shared shared
}

// renewedLately is the remaining time of a lease below which its owner has missed a heartbeat.
const renewedLately = execution.LeaseTTL - execution.Heartbeat - time.Second

// DueRuns implements execution.DueStore.
func (d dueOfAll) DueRuns(ctx context.Context, formats []int, limit int) ([]string, error) {
	if err := d.shared.FreeRuns(ctx, renewedLately); err != nil {
		return nil, err
	}
	return d.DueStore.DueRuns(ctx, formats, limit)
}

// Run passes runs to the taker until ctx ends.
func (w *wakeups) Run(ctx context.Context, to execution.Taker) {
	w.to.Store(&to)
	defer w.to.Store(nil)
	w.Sweeper.Run(ctx, to)
}

// nearTimer is the time within which this server handles the timers of runs that it parked
// itself. The queue makes scheduled jobs ready only every few seconds, so it is precise only for
// later ones.
const nearTimer = 10 * time.Second

// RunParked schedules a check when the timer of a parked run is due soon.
func (w *wakeups) RunParked(until time.Time) {
	if wait := time.Until(until); !until.IsZero() && wait < nearTimer {
		time.AfterFunc(wait, w.Notify)
	}
}

// fullFor is how long a server without capacity holds a job before it returns it, so that it does
// not fetch others meanwhile.
const fullFor = 500 * time.Millisecond

// run processes the job of a run. If another server holds the run, nothing happens.
func (w *wakeups) run(ctx context.Context, id string) (again time.Duration, err error) {
	to := w.to.Load()
	if to != nil && (*to).Room() > 0 {
		(*to).Take(ctx, id)
		return 0, nil
	}
	select {
	case <-time.After(fullFor):
	case <-ctx.Done():
	}
	return time.Millisecond, nil
}

// leftEvery is the interval of the search for deliveries whose jobs were lost.
const leftEvery = 15 * time.Second

// queued returns the part that processes jobs. It starts after the parts that jobs need, and
// stops before them. It requires a shared store.
func (a *App) queued() part {
	var worker interface{ Stop(context.Context) error }
	start := func(ctx context.Context) (err error) {
		worker, err = a.store.shared.Work(ctx, postgres.Handlers{
			Run: a.wakeups.run,
			Delivery: func(ctx context.Context, id string) (time.Duration, error) {
				return 0, a.sender.Deliver(ctx, id)
			},
			Upkeep: []postgres.Upkeep{
				{Name: "retention", First: a.useCases.retention.FirstSweep(), Every: a.useCases.retention.Every(), Do: a.useCases.retention.Sweep},
				{Name: "deliveries", First: leftEvery, Every: leftEvery, Do: a.sender.DeliverLeft},
			},
			Logger: a.cfg.Logger,
		})
		return err
	}
	return part{"queue", start, func(ctx context.Context) error { return worker.Stop(ctx) }}
}
