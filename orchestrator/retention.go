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

// Catalogs returns the current catalog and the health of its domains.
type Catalogs interface {
	Catalog() *contracts.Catalog
	Health() map[string]contracts.HealthStatus
}

// RetentionConfig is for how long what has ended is kept; the zero value is a
// sound default.
type RetentionConfig struct {
	// Retention is for how long finished runs are kept, and what was said in
	// sessions where nothing goes on [720 h]; SweepEvery is how often what is older
	// goes [1 h]. The first time is a minute after the start, so that a server that
	// is often started again sweeps too.
	Retention, SweepEvery time.Duration
	Now                   func() time.Time
	Logger                *slog.Logger
}

// Retention deletes what is no longer kept, from Start to Stop, in a goroutine
// of its own; its caller calls the two in turn.
type Retention struct {
	cfg      RetentionConfig
	runs     execution.Journal
	sessions Sessions
	previews Previews
	inbox    Inbox

	stop context.CancelFunc
	done chan struct{}
}

// NewRetention makes the retention of a store; inbox may be nil.
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

// Start begins to delete what retention no longer keeps.
func (r *Retention) Start(ctx context.Context) error {
	if r.stop != nil {
		return nil
	}
	// Retention outlives the context of the call that started it.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.stop, r.done = stop, make(chan struct{})
	go r.sweep(work)
	return nil
}

// Stop ends the retention; a second call is harmless.
func (r *Retention) Stop(ctx context.Context) error {
	if r.stop == nil {
		return nil
	}
	r.stop()
	select {
	case <-r.done:
		r.stop = nil // it may be started again
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
			_ = r.Sweep(ctx) // it is logged, and tried again the next time
			timer.Reset(r.cfg.SweepEvery)
		}
	}
}

// firstSweep is how long after the start the first sweep comes.
const firstSweep = time.Minute

// rememberReceived is for how long what came in and was ended is known; what
// brings messages at least once brings them again within a day.
const rememberReceived = 48 * time.Hour

// FirstSweep is how long after the start the first sweep comes.
func (r *Retention) FirstSweep() time.Duration { return min(r.cfg.SweepEvery, firstSweep) }

// Every is the time between two sweeps.
func (r *Retention) Every() time.Duration { return r.cfg.SweepEvery }

// Sweep deletes what is no longer kept, once. It is for those whom somebody else
// tells when to, and needs no Start.
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
