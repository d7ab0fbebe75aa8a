package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// Catalogs provides the current catalog and the health of its domains.
type Catalogs interface {
	Catalog() *contracts.Catalog
	Health() map[string]contracts.HealthStatus
}

// RetentionConfig configures Retention; the zero value is valid.
type RetentionConfig struct {
	// Retention is how long finished runs and the turns of idle sessions are kept [720 h].
	// SweepEvery is the time between sweeps [1 h]. The first sweep is a minute after the start at
	// the latest, so that a server that restarts often sweeps too.
	Retention, SweepEvery time.Duration
	Now                   func() time.Time
	Logger                *slog.Logger
}

// Retention periodically deletes expired data, between Start and Stop, in its own goroutine. Start
// and Stop must not be called concurrently.
type Retention struct {
	cfg      RetentionConfig
	runs     execution.Journal
	sessions Sessions
	previews Previews
	inbox    Inbox

	stop context.CancelFunc
	done chan struct{}
}

// NewRetention returns the retention of a store; inbox may be nil.
func NewRetention(cfg RetentionConfig, runs execution.Journal, sessions Sessions, previews Previews, inbox Inbox) (*Retention, error) {
	if runs == nil || sessions == nil || previews == nil {
		return nil, errors.New("orchestrator: retention needs runs, sessions and previews")
	}
	cfg.Retention = cmp.Or(cfg.Retention, 30*24*time.Hour)
	cfg.SweepEvery = cmp.Or(cfg.SweepEvery, time.Hour)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Retention{cfg: cfg, runs: runs, sessions: sessions, previews: previews, inbox: inbox}, nil
}

// Start starts the periodic sweeps.
func (r *Retention) Start(ctx context.Context) error {
	if r.stop != nil {
		return nil
	}
	// The sweeps outlive the context of this call.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.stop, r.done = stop, make(chan struct{})
	go r.sweep(work)
	return nil
}

// Stop ends the sweeps and waits for the last one; a second call is harmless.
func (r *Retention) Stop(ctx context.Context) error {
	if r.stop == nil {
		return nil
	}
	r.stop()
	select {
	case <-r.done:
		r.stop = nil // Start may be called again
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Retention) sweep(ctx context.Context) {
	defer close(r.done)
	timer := time.NewTimer(r.FirstSweep())
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			_ = r.Sweep(ctx) // it is logged, and the next sweep tries again
			timer.Reset(r.cfg.SweepEvery)
		}
	}
}

// firstSweep is the maximum delay between the start and the first sweep.
const firstSweep = time.Minute

// rememberReceived is how long ended inbox items are kept. Channels that deliver at least once
// repeat a delivery within a day.
const rememberReceived = 48 * time.Hour

// FirstSweep returns the delay between the start and the first sweep.
func (r *Retention) FirstSweep() time.Duration { return min(r.cfg.SweepEvery, firstSweep) }

// Every returns the time between two sweeps.
func (r *Retention) Every() time.Duration { return r.cfg.SweepEvery }

// Sweep deletes expired data once. It is for callers with their own schedule, and needs no Start.
func (r *Retention) Sweep(ctx context.Context) error {
	now := r.cfg.Now()
	before := now.Add(-r.cfg.Retention)
	swept, err := r.runs.Sweep(ctx, before)
	var talk SweptSessions
	if err == nil {
		talk, err = r.sessions.SweepSessions(ctx, before)
	}
	if err == nil {
		err = r.previews.DropPreviews(ctx, now)
	}
	if err == nil && r.inbox != nil {
		err = r.inbox.ForgetReceived(ctx, now.Add(-rememberReceived), before)
	}
	if err != nil {
		if ctx.Err() == nil {
			r.cfg.Logger.WarnContext(ctx, "retention is held up", slog.Any("error", err))
		}
		return err
	}
	r.cfg.Logger.InfoContext(ctx, "retention has swept", slog.Int("runs", swept.Runs), slog.Int("blobs", swept.Blobs), slog.Int("data", swept.Data),
		slog.Int("sessions", talk.Sessions), slog.Int("turns", talk.Turns), slog.Int("questions", talk.Questions))
	return nil
}
