package execution

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/manifold-run/manifold/execution/runstate"
)

// Dispatcher delivers runs that can be advanced to a Taker. A delivery is only a hint: the lease
// decides who advances a run, so a run may be delivered twice or to several replicas. No run may be
// missed for longer than one sweep.
type Dispatcher interface {
	// Run passes runs that can be advanced to the taker until ctx ends.
	Run(ctx context.Context, to Taker)
	// Notify reports that a run without an owner here has changed, or that there is a free slot. It
	// does not block.
	Notify()
	// RunParked reports that a run is parked here until its timer is due; the zero time means
	// that it has no timer. It does not block.
	RunParked(until time.Time)
}

// Taker takes runs.
type Taker interface {
	// Room returns how many more runs it can take.
	Room() int
	// Take acquires the lease of a run, starts an owner for it and returns. It reports false for a
	// run that somebody else holds, and if there is no free slot.
	Take(ctx context.Context, runID string) bool
}

// DueStore returns runs that can be advanced; see Leases.
type DueStore interface {
	DueRuns(ctx context.Context, formats []int, limit int) ([]string, error)
	NextWake(ctx context.Context) (time.Time, error)
}

// SweeperConfig configures a Sweeper; zero values take the defaults in brackets.
type SweeperConfig struct {
	// Every is the sweep interval; up to a third is added at random [3 s].
	Every time.Duration
	// NoTimers means that another source delivers runs whose timer is due. If it fails, the next
	// sweep finds them.
	NoTimers bool
	Logger   *slog.Logger
}

// Sweeper is the Dispatcher of a single process. It asks the store for runs that can be advanced
// and have no owner: when it is notified, when the next timer is due, and periodically, because a
// process that died notifies nobody.
type Sweeper struct {
	cfg   SweeperConfig
	store DueStore
	poke  chan struct{}
}

// NewSweeper returns a Sweeper.
func NewSweeper(store DueStore, cfg SweeperConfig) *Sweeper {
	if cfg.Every == 0 {
		cfg.Every = SweepEvery
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Sweeper{cfg: cfg, store: store, poke: make(chan struct{}, 1)}
}

// SweepEvery is the default sweep interval.
const SweepEvery = 3 * time.Second

// Notify starts a sweep now.
func (s *Sweeper) Notify() {
	select {
	case s.poke <- struct{}{}:
	default:
	}
}

// RunParked is a no-op: the next sweep reads the earliest timer.
func (s *Sweeper) RunParked(time.Time) {}

// Run sweeps until ctx ends.
func (s *Sweeper) Run(ctx context.Context, to Taker) {
	for {
		s.takeDue(ctx, to)
		timer := time.NewTimer(s.untilNextLook(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.poke:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (s *Sweeper) takeDue(ctx context.Context, to Taker) {
	for ctx.Err() == nil {
		room := to.Room()
		if room <= 0 {
			return
		}
		due, err := s.store.DueRuns(ctx, runstate.Formats(), min(room, 64))
		if err != nil {
			if ctx.Err() == nil {
				s.cfg.Logger.WarnContext(ctx, "runner is held up", slog.String("doing", "list due runs"), slog.Any("error", err))
			}
			return
		}
		taken := 0
		for _, id := range due {
			if to.Take(ctx, id) {
				taken++
			}
		}
		if taken == 0 {
			return
		}
	}
}

// maxImpatience is the interval of sweeps for a run that is due by the local clock and was not
// taken.
const maxImpatience = 250 * time.Millisecond

// untilNextLook returns the time to the next timer of a parked run, at most one jittered interval.
func (s *Sweeper) untilNextLook(ctx context.Context) time.Duration {
	wait := s.cfg.Every + rand.N(s.cfg.Every/3+1) //nolint:gosec // jitter, not a secret
	if s.cfg.NoTimers {
		return wait
	}
	next, err := s.store.NextWake(ctx)
	if err != nil || next.IsZero() {
		return wait
	}
	until := time.Until(next)
	if until <= 0 { // due, but not taken: no free slot, or the store's clock is behind
		until = maxImpatience
	}
	return min(wait, until)
}
