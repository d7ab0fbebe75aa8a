// Command workday-sandbox serves a sandbox tenant over HTTP and prints how a client reaches it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

func main() { os.Exit(domainkit.Main("workday-sandbox", run)) }

type options struct {
	sandbox.Config
	addr, now, approvals string
	quiet                bool
}

func parse(args []string, getenv func(string) string, stderr io.Writer) (options, error) {
	var o options
	flags := domainkit.NewFlags("workday-sandbox", getenv, stderr)
	flags.StringVar(&o.addr, "addr", "127.0.0.1:8090", "address to listen on")
	flags.Uint64Var(&o.Seed, "seed", 42, "seed of the company")
	flags.IntVar(&o.Workers, "workers", 300, "number of workers")
	flags.StringVar(&o.Tenant, "tenant", "manifold_dpt1", "name of the tenant")
	flags.StringVar(&o.now, "now", "", "date at which the tenant's clock starts, such as 2026-11-02 [today]")
	flags.DurationVar(&o.TokenTTL, "token-ttl", time.Hour, "life of an access token")
	flags.BoolVar(&o.KeepRefreshToken, "keep-refresh-token", false, "let refresh tokens be used again")
	flags.Float64Var(&o.RequestsPerSecond, "rps", 0, "requests a second, 0 for no limit")
	flags.IntVar(&o.Burst, "burst", 10, "burst above the rate")
	flags.StringVar(&o.approvals, "approvals", string(sandbox.RequestTimeOff)+","+string(sandbox.ChangeJob), "processes that need a manager's approval, comma separated; none for no process")
	flags.BoolVar(&o.quiet, "quiet", false, "do not log requests")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	err := o.resolve()
	return o, err
}

func (o *options) resolve() error {
	o.NeedsApproval = []sandbox.Process{}
	if o.approvals != "none" {
		for name := range strings.SplitSeq(o.approvals, ",") {
			o.NeedsApproval = append(o.NeedsApproval, sandbox.Process(strings.TrimSpace(name)))
		}
	}
	if o.now == "" {
		return nil
	}
	start, err := time.Parse(time.DateOnly, o.now)
	if err != nil {
		return fmt.Errorf("clock %q: %w", o.now, err)
	}
	begun := time.Now()
	o.Now = func() time.Time { return start.Add(time.Since(begun)) }
	return nil
}

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	o, err := parse(args, getenv, stderr)
	if err != nil {
		return err
	}
	if !o.quiet {
		o.Logger = domainkit.TextLogger(stderr)
	}
	tenant, err := sandbox.New(o.Config)
	if err != nil {
		return err
	}
	return sandboxkit.Serve(ctx, o.addr, tenant, stdout, func(url string) any {
		return map[string]any{"url": url, "credentials": tenant.Credentials()}
	})
}
