// Command workday-domain serves the Workday domain for one tenant. Flags and
// environment are read here and nowhere else.
package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/manifold-run/manifold/domainkit/command"
	"github.com/manifold-run/manifold/domainkit/sqlitestore"
	"github.com/manifold-run/manifold/domains/workday"
)

func main() { os.Exit(command.Main("workday-domain", run)) }

func run(ctx context.Context, args []string, getenv func(string) string, _, stderr io.Writer) error {
	o, err := parse(args, getenv, stderr)
	if err != nil {
		return err
	}
	cfg, err := o.config(command.Logger(stderr))
	if err != nil {
		return err
	}
	keys, closeKeys, err := sqlitestore.OpenOptional(ctx, o.keys)
	if err != nil {
		return err
	}
	cfg.Store = keys
	svc, err := workday.New(cfg)
	if err != nil {
		return errors.Join(err, closeKeys())
	}
	return errors.Join(svc.Run(ctx, o.listen), closeKeys())
}
