package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/postgres"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// replicas passes commits of other servers on the same database to local waiters, between start
// and stop. With a single server it does nothing.
type replicas struct {
	store    shared // nil without others
	notifier orchestrator.Notifier
	runner   *execution.Runner
	registry *registry.Registry
	logger   *slog.Logger

	end  context.CancelFunc
	work *sync.WaitGroup
}

func (r *replicas) start(ctx context.Context) error {
	if r.store == nil || r.end != nil {
		return nil
	}
	// The goroutines outlive the call that starts them.
	ctx, r.end = context.WithCancel(context.WithoutCancel(ctx))
	r.work = &sync.WaitGroup{}
	domains := make(chan struct{}, 1)
	r.work.Go(func() { r.store.Listen(ctx, func(c postgres.Change) { r.heard(c, domains) }) })
	r.work.Go(func() { r.follow(ctx, domains) })
	return nil
}

func (r *replicas) stop(context.Context) error {
	if r.end == nil {
		return nil
	}
	r.end()
	r.work.Wait()
	r.end = nil
	return nil
}

// heard passes a change to the affected components.
func (r *replicas) heard(c postgres.Change, domains chan<- struct{}) {
	if c.Domains || c == (postgres.Change{}) {
		select {
		case domains <- struct{}{}:
		default: // a check is already pending
		}
	}
	if c.Domains {
		return
	}
	r.notifier.Committed(c.SessionID, c.RunID)
	if c.RunID != "" {
		r.runner.WakeLocal(c.RunID)
	}
}

// followAgain is the pause before domains are read again after an error.
const followAgain = time.Second

// follow reads the domains after changes by other servers.
func (r *replicas) follow(ctx context.Context, domains <-chan struct{}) {
	for {
		select {
		case <-domains:
		case <-ctx.Done():
			return
		}
		for {
			err := r.registry.Follow(ctx)
			if err == nil || ctx.Err() != nil {
				break
			}
			r.logger.WarnContext(ctx, "the domains of other servers cannot be read yet", slog.Any("error", err))
			select {
			case <-time.After(followAgain):
			case <-ctx.Done():
			}
		}
	}
}

// singles returns the parts that exist once for all servers: the leader runs those that poll
// external services and finish interrupted work; any server processes jobs.
func (a *App) singles() []part {
	parts := []part{
		{"conversations", a.useCases.conversation.Start, a.useCases.conversation.Stop},
		{"telegram", a.startTelegram, a.stopTelegram},
	}
	if a.store.shared == nil {
		return append(parts, part{"retention", a.useCases.retention.Start, a.useCases.retention.Stop}, part{"webhooks", a.sender.Start, a.sender.Stop})
	}
	parts = append([]part{{"signed roots", a.useCases.publisher.Start, a.useCases.publisher.Stop}}, parts...)
	l := &leader{store: a.store.shared, parts: parts, logger: a.cfg.Logger}
	return []part{a.queued(), {"leader", l.start, l.stop}}
}

const (
	// leadFor is the duration of the leader's lease, leadEvery the interval of renewals.
	leadFor   = 10 * time.Second
	leadEvery = 3 * time.Second
	// singleParts is the name of the leader's lease.
	singleParts = "singles"
)

// leads returns a function that reports whether this server is the leader, or nil for a single
// server.
func (a *App) leads() func(context.Context) (bool, error) {
	if a.store.shared == nil {
		return nil
	}
	return func(ctx context.Context) (bool, error) { return a.store.shared.Acquire(ctx, singleParts, leadFor) }
}

// leader starts its parts when this server becomes the leader and stops them when it no longer
// is. Only its goroutine accesses running.
type leader struct {
	store  shared
	parts  []part
	logger *slog.Logger

	running []part

	end  context.CancelFunc
	done chan struct{}
}

func (l *leader) start(ctx context.Context) error {
	if l.end != nil {
		return nil
	}
	// The goroutine outlives the call that starts it.
	ctx, l.end = context.WithCancel(context.WithoutCancel(ctx))
	l.done = make(chan struct{})
	go l.run(ctx)
	return nil
}

// stop stops the parts and releases the lease.
func (l *leader) stop(ctx context.Context) error {
	if l.end == nil {
		return nil
	}
	l.end()
	select {
	case <-l.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	led := len(l.running) > 0
	err := l.stopParts(ctx)
	if led {
		err = errors.Join(err, l.store.Release(ctx, singleParts))
	}
	return err
}

func (l *leader) run(ctx context.Context) {
	defer close(l.done)
	var until time.Time // by the clock of this process, measured from before the request
	ticker := time.NewTicker(leadEvery)
	defer ticker.Stop()
	for {
		asked := time.Now()
		leads, err := l.store.Acquire(ctx, singleParts, leadFor)
		if leads {
			until = asked.Add(leadFor)
		}
		// If the database does not answer, this server leads until its lease may have expired.
		if leads || err != nil && time.Now().Before(until.Add(-leadEvery)) {
			l.startParts(ctx)
		} else if err := l.stopParts(ctx); err != nil && ctx.Err() == nil {
			l.logger.WarnContext(ctx, "what only one server does could not be stopped yet", slog.Any("error", err))
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// startParts starts the parts that are not running. After an error it is retried at the next
// renewal.
func (l *leader) startParts(ctx context.Context) {
	if len(l.running) == len(l.parts) || ctx.Err() != nil {
		return
	}
	for _, p := range l.parts[len(l.running):] {
		if err := p.start(ctx); err != nil {
			l.logger.WarnContext(ctx, "a part does not start", slog.String("part", p.name), slog.Any("error", err))
			return
		}
		l.running = append(l.running, p)
	}
	l.logger.InfoContext(ctx, "this server leads: it polls, signs and finishes what was interrupted for all")
}

// stopParts stops the running parts in reverse order.
func (l *leader) stopParts(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leadEvery)
	defer cancel()
	for _, p := range slices.Backward(slices.Clone(l.running)) {
		if err := p.stop(ctx); err != nil {
			return err
		}
		l.running = l.running[:len(l.running)-1]
	}
	return nil
}
