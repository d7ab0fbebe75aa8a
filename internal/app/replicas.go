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

// replicas brings what other servers on the same database commit to those who
// wait for it here, from start to stop. Without others it does nothing.
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
	// It listens until it is stopped, not as long as the call that starts it.
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

// heard passes a change on to whom it concerns.
func (r *replicas) heard(c postgres.Change, domains chan<- struct{}) {
	if c.Domains || c == (postgres.Change{}) {
		select {
		case domains <- struct{}{}:
		default: // it will look anyway
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

// followAgain is the pause before domains are read again that could not be.
const followAgain = time.Second

// follow takes over what other servers change of the domains.
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

// singles are the parts that are done once for all servers: what polls somebody
// else and finishes what was interrupted, by the one that leads; what jobs ask
// for, by whoever gets the job.
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
	// leadFor is how long a server leads that says nothing more, leadEvery how
	// often it says so.
	leadFor   = 10 * time.Second
	leadEvery = 3 * time.Second
	// singleParts is the name under which one server leads.
	singleParts = "singles"
)

// leads asks whether this server is the one that leads; nil without others.
func (a *App) leads() func(context.Context) (bool, error) {
	if a.store.shared == nil {
		return nil
	}
	return func(ctx context.Context) (bool, error) { return a.store.shared.Acquire(ctx, singleParts, leadFor) }
}

// leader starts its parts while this server leads, and stops them when it no
// longer does. Only its own goroutine touches running.
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
	// It asks until it is stopped, not as long as the call that starts it.
	ctx, l.end = context.WithCancel(context.WithoutCancel(ctx))
	l.done = make(chan struct{})
	go l.run(ctx)
	return nil
}

// stop ends the parts and lets another server lead.
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
	var until time.Time // by this process's clock, from before it was asked for
	ticker := time.NewTicker(leadEvery)
	defer ticker.Stop()
	for {
		asked := time.Now()
		leads, err := l.store.Acquire(ctx, singleParts, leadFor)
		if leads {
			until = asked.Add(leadFor)
		}
		// Who cannot ask leads on until the others may think otherwise.
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

// startParts starts what does not run yet; what fails is tried again the next
// time.
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

// stopParts stops what runs, the last started first.
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
