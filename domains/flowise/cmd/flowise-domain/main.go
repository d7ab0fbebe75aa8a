// Command flowise-domain serves the Flowise domain, and refreshes what it knows
// of a server. Flags and environment are read here and nowhere else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/command"
	"github.com/manifold-run/manifold/domainkit/pgstore"
	"github.com/manifold-run/manifold/domainkit/sqlitestore"
	"github.com/manifold-run/manifold/domains/flowise"
)

func main() { os.Exit(command.Main("flowise-domain", run)) }

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	refreshing := len(args) > 0 && args[0] == "refresh"
	if refreshing {
		args = args[1:]
	}
	o, err := parse(args, getenv, stderr, refreshing)
	if err != nil {
		return err
	}
	cfg, err := o.config(getenv, command.Logger(stderr))
	if err != nil {
		return err
	}
	data, err := flowise.OpenData(ctx, o.data)
	if err != nil {
		return err
	}
	cfg.Data = data
	if refreshing {
		return errors.Join(refresh(ctx, cfg, o, stdout, stderr), data.Close())
	}
	return errors.Join(serve(ctx, cfg, o), data.Close())
}

func serve(ctx context.Context, cfg flowise.Config, o options) error {
	keys, closeKeys, err := openKeys(ctx, o.keys)
	if err != nil {
		return err
	}
	cfg.Keys = keys
	svc, err := flowise.New(cfg)
	if err != nil {
		return errors.Join(err, closeKeys())
	}
	return errors.Join(svc.Run(ctx, o.listen), closeKeys())
}

// openKeys opens the store of idempotency keys: a database, a file, or none.
func openKeys(ctx context.Context, source string) (domainkit.Store, func() error, error) {
	if !pgstore.IsURL(source) {
		return sqlitestore.OpenOptional(ctx, source)
	}
	keys, err := pgstore.Open(ctx, source)
	if err != nil {
		return nil, nil, err
	}
	return keys, keys.Close, nil
}

// refresh asks the server, or only checks what is kept. A dry run writes the
// snapshot to stdout, the report goes to stderr.
func refresh(ctx context.Context, cfg flowise.Config, o options, stdout, stderr io.Writer) error {
	wish := flowise.Refreshing{What: o.what, Instance: o.instance, DryRun: o.dryRun}
	if o.validate {
		return flowise.ValidateSnapshot(ctx, cfg, wish)
	}
	got, err := flowise.Refresh(ctx, cfg, wish)
	if err != nil {
		return err
	}
	if o.dryRun {
		if _, err := stdout.Write(got.Snapshot); err != nil {
			return fmt.Errorf("write the snapshot: %w", err)
		}
	}
	_, err = fmt.Fprint(stderr, got)
	return err
}
