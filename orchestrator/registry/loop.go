package registry

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"
)

// watcher fetches the manifest and checks the health of each domain in a loop. It has no state: the
// results are stored in the domain.
type watcher struct {
	cfg     Config
	fetcher packFetcher
	intake  *activator
}

// loop watches one domain until the registry stops or the domain is dropped.
func (w *watcher) loop(ctx context.Context, d *domain) {
	pause := w.cfg.RetryFirst
	fetch := time.NewTimer(w.nextFetch(ctx, d, &pause))
	defer fetch.Stop()
	w.check(ctx, d)
	health := time.NewTimer(jitter(w.cfg.HealthEvery))
	defer health.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.kick:
			w.check(ctx, d)
		case <-health.C:
			w.check(ctx, d)
			health.Reset(jitter(w.cfg.HealthEvery))
		case <-fetch.C:
			fetch.Reset(w.nextFetch(ctx, d, &pause))
		}
	}
}

// nextFetch fetches the manifest and returns the pause before the next fetch, which is short while
// none is active.
func (w *watcher) nextFetch(ctx context.Context, d *domain, pause *time.Duration) time.Duration {
	_, err := w.intake.look(ctx, d, false)
	if err != nil && ctx.Err() == nil {
		w.cfg.Logger.DebugContext(ctx, "manifest could not be had", slog.String("domain", d.name), slog.Any("error", err))
	}
	poll := w.cfg.Poll
	if _, reg := d.state(); reg.PollS > 0 {
		poll = time.Duration(reg.PollS) * time.Second
	}
	if _, inUse := d.active(); inUse {
		*pause = w.cfg.RetryFirst
		return jitter(poll)
	}
	wait := min(*pause, poll)
	*pause = min(2**pause, poll)
	return jitter(wait)
}

// check checks the domain's health.
func (w *watcher) check(ctx context.Context, d *domain) {
	h, err := w.fetcher.Health(ctx, d.endpoint())
	if ctx.Err() != nil {
		return
	}
	if before, after := d.noteHealth(h, err); before != after {
		w.cfg.Logger.InfoContext(ctx, "domain health changed", slog.String("domain", d.name),
			slog.String("before", string(before)), slog.String("after", string(after)))
	}
}

// jitter varies a duration between 80 and 120 percent, so that domains and replicas do not send
// their requests at the same time.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return d
	}
	return d - d/5 + rand.N(2*d/5+1) //nolint:gosec // spreading load needs no secrecy
}
