package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// holdBack quarantines the unfinished runs of a restored database.
func (a *App) holdBack(ctx context.Context) error {
	if !a.cfg.Quarantine {
		return nil
	}
	act := execution.AdminAction{Kind: contracts.ActQuarantine, Actor: "system", Subject: "database"}
	held, err := a.store.held.Hold(execution.WithAdminAction(ctx, act), a.cfg.Now())
	if err != nil {
		return err
	}
	a.cfg.Logger.WarnContext(ctx, "runs that were open are in quarantine; release or cancel each: manifold runs --all --held", slog.Int("runs", held))
	return nil
}

// restoredAt returns the time of the start if the database is quarantined, otherwise the zero
// time.
func (c Config) restoredAt() time.Time {
	if c.Quarantine {
		return c.Now()
	}
	return time.Time{}
}
