// Command workday-domain serves the Workday domain for one tenant. Flags and
// environment are read here and nowhere else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/manifold-run/manifold/domainkit/command"
	"github.com/manifold-run/manifold/domainkit/sqlitestore"
	"github.com/manifold-run/manifold/domains/workday"
)

func main() { os.Exit(command.Main("workday-domain", run)) }

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	checks := len(args) > 0 && args[0] == "check"
	if checks {
		args = args[1:]
	}
	o, err := parse(args, getenv, stderr)
	if err != nil {
		return err
	}
	cfg, err := o.config(command.Logger(stderr))
	if err != nil {
		return err
	}
	if checks {
		return check(ctx, cfg, stdout)
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

// check tells which permissions the integration user has in the tenant. It fails when one
// is missing.
func check(ctx context.Context, cfg workday.Config, stdout io.Writer) error {
	all, err := workday.Check(ctx, cfg)
	if err != nil {
		return err
	}
	missing := 0
	for _, p := range all {
		if p.State == workday.PermissionMissing {
			missing++
		}
		if _, err := fmt.Fprintln(stdout, p); err != nil {
			return err
		}
	}
	if missing > 0 {
		return fmt.Errorf("%d of %d permissions are missing", missing, len(all))
	}
	return nil
}
