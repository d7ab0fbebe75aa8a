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
	// presentFor is how long a server counts as live without a heartbeat, presentEvery the
	// interval of heartbeats.
	presentFor   = 10 * time.Second
	presentEvery = 3 * time.Second
)

// quota returns how capability limits are shared with other servers.
func (a *App) quota() admission.Quota {
	if a.store.quota == nil {
		return admission.Quota{}
	}
	return admission.Quota{Share: &a.share, Places: a.store.quota}
}

// presence returns the part that sends heartbeats and updates this server's share of the limits.
// It must start before the limits are used.
func (a *App) presence() part {
	if a.store.quota == nil {
		return part{"presence", func(context.Context) error { return nil }, func(context.Context) error { return nil }}
	}
	p := &presence{store: a.store.quota, share: &a.share, logger: a.cfg.Logger}
	return part{"presence", p.start, p.stop}
}

// presence updates a share. After start, only its goroutine accesses servers.
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
	// The goroutine outlives the call that starts it.
	ctx, p.end = context.WithCancel(context.WithoutCancel(ctx))
	p.work.Go(func() {
		ticker := time.NewTicker(presentEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				_ = p.tell(ctx) // after an error the current share is kept
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
