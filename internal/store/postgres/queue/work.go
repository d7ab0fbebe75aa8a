package queue

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// Handlers process jobs. They must return soon and hand long work over.
type Handlers struct {
	// Run advances a run, Delivery sends a delivery. If again is positive, the job is repeated
	// after that time by any server with capacity.
	Run, Delivery func(ctx context.Context, id string) (again time.Duration, err error)
	// Upkeep are periodic tasks that one of all servers executes.
	Upkeep []Upkeep
	Logger *slog.Logger
}

// Upkeep is a periodic task of one of all servers. It is executed First after a server has become
// the leader and then at the interval Every.
type Upkeep struct {
	Name         string
	First, Every time.Duration
	Do           func(ctx context.Context) error
}

const (
	// cooldown is the minimum interval between two fetches of jobs, poll the maximum. New jobs
	// arrive by NOTIFY. Polling only finds scheduled jobs, which start poll/2 late on average.
	cooldown = 20 * time.Millisecond
	poll     = 250 * time.Millisecond
	// upkeepMayTake is the time limit of one upkeep task, jobMayTake that of any other job.
	upkeepMayTake = 30 * time.Minute
	jobMayTake    = time.Minute
	// keepDone and keepFailed are how long finished and failed jobs are kept.
	keepDone   = 10 * time.Minute
	keepFailed = 24 * time.Hour
)

// Workers processes jobs until Stop.
type Workers struct{ client *river.Client[pgx.Tx] }

// Work starts processing jobs with connections of the pool, until Stop.
func Work(ctx context.Context, pool *pgxpool.Pool, h Handlers) (*Workers, error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker[runArgs]{do: h.Run, timeout: jobMayTake})
	river.AddWorker(workers, &worker[deliveryArgs]{do: h.Delivery, timeout: jobMayTake})
	river.AddWorker(workers, &worker[upkeepArgs]{do: h.upkeep, timeout: upkeepMayTake})
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Queues: map[string]river.QueueConfig{
			string(Run): {MaxWorkers: 64}, string(Delivery): {MaxWorkers: 8, FetchPollInterval: 4 * poll},
			string(upkeep): {MaxWorkers: 2, FetchPollInterval: 20 * poll},
		},
		Workers: workers, PeriodicJobs: h.periodic(), Logger: quiet(h.Logger),
		FetchCooldown: cooldown, FetchPollInterval: poll,
		JobTimeout: jobMayTake, RescueStuckJobsAfter: 2 * jobMayTake, // upkeep has a longer timeout of its own, which keeps the rescuer off
		CompletedJobRetentionPeriod: keepDone, CancelledJobRetentionPeriod: keepDone, DiscardedJobRetentionPeriod: keepFailed,
	})
	if err != nil {
		return nil, fmt.Errorf("make the workers: %w", err)
	}
	// The workers outlive the call that starts them.
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, fmt.Errorf("start the workers: %w", err)
	}
	return &Workers{client}, nil
}

// Stop stops the workers. It cancels the contexts of running jobs, which other servers repeat.
func (w *Workers) Stop(ctx context.Context) error {
	return w.client.StopAndCancel(ctx)
}

func (h Handlers) periodic() []*river.PeriodicJob {
	var jobs []*river.PeriodicJob
	for _, u := range h.Upkeep {
		jobs = append(jobs, river.NewPeriodicJob(&schedule{first: u.First, every: u.Every}, func() (river.JobArgs, *river.InsertOpts) {
			return upkeepArgs{u.Name}, &river.InsertOpts{Queue: string(upkeep), MaxAttempts: 1}
		}, &river.PeriodicJobOpts{ID: u.Name}))
	}
	return jobs
}

// upkeep executes one task. A failed one is repeated at its next time.
func (h Handlers) upkeep(ctx context.Context, name string) (time.Duration, error) {
	for _, u := range h.Upkeep {
		if u.Name == name {
			return 0, u.Do(ctx)
		}
	}
	return 0, nil // a task of another release
}

// schedule returns first once, then every. Only the leading server calls it, one call at a time.
type schedule struct {
	first, every time.Duration
	begun        bool
}

// Next returns the next time of the task.
func (s *schedule) Next(now time.Time) time.Time {
	if !s.begun {
		s.begun = true
		return now.Add(s.first)
	}
	return now.Add(s.every)
}

type args interface {
	river.JobArgs
	id() string
}

// worker processes the jobs of one kind.
type worker[A args] struct {
	river.WorkerDefaults[A]

	do      func(context.Context, string) (time.Duration, error)
	timeout time.Duration
}

// Timeout returns the time limit of one job.
func (w *worker[A]) Timeout(*river.Job[A]) time.Duration { return w.timeout }

// Work processes a job. A snoozed job does not count as an attempt.
func (w *worker[A]) Work(ctx context.Context, job *river.Job[A]) error {
	again, err := w.do(ctx, job.Args.id())
	if err == nil && again > 0 {
		return river.JobSnooze(again)
	}
	return err
}

// quiet passes warnings and errors of River to a logger and drops everything below.
func quiet(to *slog.Logger) *slog.Logger {
	if to == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(warnings{to.Handler()})
}

type warnings struct{ slog.Handler }

// Enabled reports whether a level is at least Warn and enabled in the wrapped handler.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}
