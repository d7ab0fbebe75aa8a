// Command workday-domain serves the Workday domain for one tenant. Only this package reads flags
// and the environment.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/sqlitestore"
	"github.com/manifold-run/manifold/domains/workday"
)

func main() { os.Exit(domainkit.Main("workday-domain", run)) }

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	task := ""
	if len(args) > 0 && (args[0] == "check" || args[0] == "blueprint") {
		task, args = args[0], args[1:]
	}
	o, err := parse(args, getenv, stderr)
	if err != nil {
		return err
	}
	cfg, err := o.config(domainkit.TextLogger(stderr))
	if err != nil {
		return err
	}
	switch task {
	case "check":
		return check(ctx, cfg, stdout)
	case "blueprint":
		return refresh(ctx, cfg, o, stdout)
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
	return errors.Join(serve(ctx, o, cfg, svc), closeKeys())
}

// serve serves the domain and, on an address of their own, the login pages, until one of them ends.
func serve(ctx context.Context, o options, cfg workday.Config, svc *domainkit.Service) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return svc.Run(ctx, o.listen) })
	if cfg.Logins != nil {
		pages := &http.Server{Addr: o.loginListen, Handler: cfg.Logins, ReadHeaderTimeout: 10 * time.Second}
		defer context.AfterFunc(ctx, func() { _ = pages.Close() })() // people who are logging in must start again
		group.Go(func() error {
			if err := pages.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("pages of logins: %w", err)
			}
			return nil
		})
	}
	return group.Wait()
}

// refresh updates the snapshot of the MCP server, or reports what would change.
func refresh(ctx context.Context, cfg workday.Config, o options, stdout io.Writer) error {
	if o.blueprint == "" {
		return errors.New("--blueprint is required: the file to write")
	}
	changes, err := workday.RefreshBlueprint(ctx, cfg, o.blueprint, o.dryRun)
	if err != nil {
		return err
	}
	switch {
	case len(changes) == 0:
		changes = []string{"nothing has changed"}
	case o.dryRun:
		changes = append(changes, "nothing was written")
	default:
		changes = append(changes, o.blueprint+" was written")
	}
	_, err = fmt.Fprintln(stdout, strings.Join(changes, "\n"))
	return err
}

// check reports which permissions the integration user has in the tenant. It returns an error if
// one is missing.
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
