// Command workday-domain serves the Workday domain for one tenant. Flags and
// environment are read here and nowhere else.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/sqlitestore"
	"github.com/manifold-run/manifold/domains/workday"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		_, _ = fmt.Fprintln(os.Stderr, "workday-domain:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, stderr io.Writer) error {
	o, err := parse(args, getenv, stderr)
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(stderr, nil))
	cfg, err := o.config(logger)
	if err != nil {
		return err
	}
	store, closeStore, err := openKeys(ctx, o.keys)
	if err != nil {
		return err
	}
	cfg.Store = store
	svc, err := workday.New(cfg)
	if err != nil {
		return errors.Join(err, closeStore())
	}
	return errors.Join(svc.Run(ctx, o.listen), closeStore())
}

// openKeys opens the file of idempotency keys; without one they are kept in
// memory.
func openKeys(ctx context.Context, path string) (domainkit.Store, func() error, error) {
	if path == "" {
		return nil, func() error { return nil }, nil
	}
	store, err := sqlitestore.Open(ctx, path)
	if err != nil {
		return nil, nil, fmt.Errorf("open idempotency keys %s: %w", path, err)
	}
	return store, store.Close, nil
}
