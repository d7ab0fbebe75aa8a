package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// part is something that works from its start to its stop.
type part struct {
	name        string
	start, stop func(context.Context) error
}

// cleanup ends one part.
type cleanup struct {
	name string
	stop func(context.Context) error
}

// Stop ends all parts, the last started first, under one bounded time. Writes
// that are under way finish and are recorded. A second Stop is no error.
func (a *App) Stop(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
	cleanups := a.cleanups
	a.cleanups = nil
	ctx, cancel := context.WithTimeout(ctx, a.cfg.StopTimeout)
	defer cancel()
	var errs []error
	for _, c := range slices.Backward(cleanups) {
		if err := c.stop(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", c.name, err))
		}
	}
	return errors.Join(errs...)
}
