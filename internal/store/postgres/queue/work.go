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

// Handlers do what jobs ask for. They return soon: a long work is handed over.
type Handlers struct {
	// Run is asked to advance a run, Delivery to send a delivery. A time tells
	// that the job is to come again, to whoever has room then.
	Run, Delivery func(ctx context.Context, id string) (again time.Duration, err error)
	// Upkeep is what one server of all does periodically.
	Upkeep []Upkeep
	Logger *slog.Logger
}

// Upkeep is done by one server of all, First after one of them has begun to lead
// and then every so often.
type Upkeep struct {
	Name         string
	First, Every time.Duration
	Do           func(ctx context.Context) error
}

const (
	// cooldown is the least time between two fetches of jobs, poll the most. New jobs
	// arrive by NOTIFY; polling only finds scheduled jobs, which start late by poll/2
	// on average.
	cooldown = 20 * time.Millisecond
	poll     = 250 * time.Millisecond
	// upkeepMayTake bounds one piece of upkeep, jobMayTake any other job.
	upkeepMayTake = 30 * time.Minute
	jobMayTake    = time.Minute
	// keepDone and keepFailed are for how long jobs stay that were worked on.
	keepDone   = 10 * time.Minute
	keepFailed = 24 * time.Hour
)

// Workers works on jobs, from Work to Stop.
type Workers struct{ client *river.Client[pgx.Tx] }

// Work begins to work on jobs with connections of the pool, until Stop.
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
		JobTimeout: jobMayTake, RescueStuckJobsAfter: 2 * jobMayTake, // upkeep's own timeout holds the rescuer off
		CompletedJobRetentionPeriod: keepDone, CancelledJobRetentionPeriod: keepDone, DiscardedJobRetentionPeriod: keepFailed,
	})
	if err != nil {
		return nil, fmt.Errorf("make the workers: %w", err)
	}
	// It works until it is stopped, not as long as the call that starts it.
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, fmt.Errorf("start the workers: %w", err)
	}
	return &Workers{client}, nil
}

// Stop ends the work: what is under way is told so, and comes again elsewhere.
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

// upkeep does one piece of upkeep; one that fails is due again at its next time.
func (h Handlers) upkeep(ctx context.Context, name string) (time.Duration, error) {
	for _, u := range h.Upkeep {
		if u.Name == name {
			return 0, u.Do(ctx)
		}
	}
	return 0, nil // of another release
}

// schedule is first once, and then every so often. Only the server that leads
// asks it, one call at a time.
type schedule struct {
	first, every time.Duration
	begun        bool
}

// Next is the time after now.
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

// worker does the jobs of one kind.
type worker[A args] struct {
	river.WorkerDefaults[A]

	do      func(context.Context, string) (time.Duration, error)
	timeout time.Duration
}

// Timeout bounds one job.
func (w *worker[A]) Timeout(*river.Job[A]) time.Duration { return w.timeout }

// Work does a job; one that is to come again does not count as tried.
func (w *worker[A]) Work(ctx context.Context, job *river.Job[A]) error {
	again, err := w.do(ctx, job.Args.id())
	if err == nil && again > 0 {
		return river.JobSnooze(again)
	}
	return err
}

// quiet passes on what River warns of; what it does all day long stays with it.
func quiet(to *slog.Logger) *slog.Logger {
	if to == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(warnings{to.Handler()})
}

type warnings struct{ slog.Handler }

// Enabled reports whether somebody wants to know.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}
