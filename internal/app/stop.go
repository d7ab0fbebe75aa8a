package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// part is a component with a start and a stop function.
type part struct {
	name        string
	start, stop func(context.Context) error
}

// cleanup stops one part.
type cleanup struct {
	name string
	stop func(context.Context) error
}

// Stop stops all parts in reverse order, within StopTimeout. Writes in progress finish and are
// recorded. It may be called twice.
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
