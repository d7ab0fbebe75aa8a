package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/manifold-run/manifold/execution/admission"
	"github.com/manifold-run/manifold/internal/ratelimit"
)

const (
	// presentFor is how long a server counts that says nothing more, presentEvery
	// how often it says so.
	presentFor   = 10 * time.Second
	presentEvery = 3 * time.Second
)

// quota is how the limits of capabilities are kept with other servers.
func (a *App) quota() admission.Quota {
	if a.store.quota == nil {
		return admission.Quota{}
	}
	return admission.Quota{Share: &a.share, Places: a.store.quota}
}

// presence is the part that says that this server lives, and learns what part of
// the limits is its own. It runs before any of them is used.
func (a *App) presence() part {
	if a.store.quota == nil {
		return part{"presence", func(context.Context) error { return nil }, func(context.Context) error { return nil }}
	}
	p := &presence{store: a.store.quota, share: &a.share, logger: a.cfg.Logger}
	return part{"presence", p.start, p.stop}
}

// presence keeps a share true. Only its own goroutine touches servers once it is
// started.
type presence struct {
	store  quota
	share  *ratelimit.Share
	logger *slog.Logger

	servers int

	end  context.CancelFunc
	work sync.WaitGroup
}

func (p *presence) start(ctx context.Context) error {
	if err := p.tell(ctx); err != nil {
		return err
	}
	// It says so until it is stopped, not as long as the call that starts it.
	ctx, p.end = context.WithCancel(context.WithoutCancel(ctx))
	p.work.Go(func() {
		ticker := time.NewTicker(presentEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				_ = p.tell(ctx) // who cannot ask keeps the share that it has
			case <-ctx.Done():
				return
			}
		}
	})
	return nil
}

func (p *presence) tell(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, presentEvery)
	defer cancel()
	place, servers, err := p.store.Present(ctx, presentFor)
	if err != nil {
		return err
	}
	p.share.Set(place, servers)
	if p.servers != servers {
		p.servers = servers
		p.logger.InfoContext(ctx, "limits are shared by the servers that live", slog.Int("servers", servers))
	}
	return nil
}

func (p *presence) stop(ctx context.Context) error {
	p.end()
	p.work.Wait()
	return p.store.Absent(ctx)
}
