// Command flowise-domain serves the Flowise domain, and refreshes, exports and watches the data of
// its servers. Only this package reads flags and the environment.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/pgstore"
	"github.com/manifold-run/manifold/domainkit/sqlitestore"
	"github.com/manifold-run/manifold/domains/flowise"
)

func main() { os.Exit(domainkit.Main("flowise-domain", run)) }

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	refreshing := len(args) > 0 && args[0] == "refresh"
	exporting := len(args) > 0 && args[0] == "export"
	if refreshing || exporting {
		args = args[1:]
	}
	o, err := parse(args, getenv, stderr, refreshing)
	if err != nil {
		return err
	}
	cfg, err := o.config(getenv, domainkit.TextLogger(stderr))
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
	if exporting {
		return errors.Join(export(ctx, cfg, o, stderr), data.Close())
	}
	return errors.Join(serve(ctx, cfg, o), data.Close())
}

// export writes the flows of all servers to a folder; if there are several servers, each gets a
// subfolder with its name.
func export(ctx context.Context, cfg flowise.Config, o options, stderr io.Writer) error {
	if o.folder == "" {
		return errors.New("export: say where to, by --folder")
	}
	for _, in := range cfg.Instances {
		folder := o.folder
		if len(cfg.Instances) > 1 {
			folder = filepath.Join(folder, in.ID)
		}
		names, err := flowise.Export(ctx, cfg, in.ID, folder)
		if err != nil {
			return fmt.Errorf("export %s: %w", in.ID, err)
		}
		if _, err := fmt.Fprintf(stderr, "%s: %d flows in %s\n", in.ID, len(names), folder); err != nil {
			return err
		}
	}
	return nil
}

// watch polls for edits in Flowise's UI until ctx ends.
func watch(ctx context.Context, cfg flowise.Config, every time.Duration) (stopped func() error) {
	if every <= 0 {
		return func() error { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- flowise.Watch(ctx, cfg, every) }()
	return func() error { cancel(); return <-done }
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
	stopped := watch(ctx, cfg, o.watch)
	return errors.Join(svc.Run(ctx, o.listen), stopped(), closeKeys())
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

// refresh reads from the server, or with --validate only validates the stored data. A dry run
// writes the snapshot to stdout; the report goes to stderr.
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
