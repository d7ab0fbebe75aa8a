package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/postgres"
)

// wakeups is the dispatch.Dispatcher of a server that is one of several: what
// is written for a run here is looked at here at once; runs that anybody wakes
// and timers that are due come as jobs to whoever has room; and a sweep finds
// those whose server died.
type wakeups struct {
	*execution.Sweeper

	to atomic.Pointer[execution.Taker] // nil while nobody takes runs
}

func newWakeups(store execution.DueStore, logger *slog.Logger) *wakeups {
	return &wakeups{Sweeper: execution.NewSweeper(store, execution.SweeperConfig{NoTimers: true, Logger: logger})}
}

// dueOfAll are runs that can go on, those of servers that are gone included.
type dueOfAll struct {
	execution.DueStore

	shared shared
}

// renewedLately is how long a lease lasts still that was renewed in time.
const renewedLately = execution.LeaseTTL - execution.Heartbeat - time.Second

// DueRuns implements dispatch.Due.
func (d dueOfAll) DueRuns(ctx context.Context, formats []int, limit int) ([]string, error) {
	if err := d.shared.FreeRuns(ctx, renewedLately); err != nil {
		return nil, err
	}
	return d.DueStore.DueRuns(ctx, formats, limit)
}

// Run brings runs until ctx ends.
func (w *wakeups) Run(ctx context.Context, to execution.Taker) {
	w.to.Store(&to)
	defer w.to.Store(nil)
	w.Sweeper.Run(ctx, to)
}

// nearTimer is how soon a timer is due that the server looks after itself which
// let the run rest: the queue makes jobs ready every few seconds, and is exact only
// for those that are due later.
const nearTimer = 10 * time.Second

// RunParked looks at a run again when its timer is due, if that is soon.
func (w *wakeups) RunParked(until time.Time) {
	if wait := time.Until(until); !until.IsZero() && wait < nearTimer {
		time.AfterFunc(wait, w.Notify)
	}
}

// fullFor is for how long a server that is full holds a job, so that it does not
// fetch others meanwhile; then it gives the job to whoever fetches next.
const fullFor = 500 * time.Millisecond

// run takes the run of a job. One that somebody else holds needs nobody.
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

// leftEvery is how often somebody looks for deliveries whose job was lost.
const leftEvery = 15 * time.Second

// queued is the part that works on jobs; what they ask for is started before it
// and stopped after it. Without other servers there is none.
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
