// Command workday-sandbox serves a sandbox tenant over HTTP and prints what a
// client needs to reach it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		_, _ = fmt.Fprintln(os.Stderr, "workday-sandbox:", err)
		os.Exit(1)
	}
}

type options struct {
	sandbox.Config
	addr, now, approvals string
	quiet                bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("workday-sandbox", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.addr, "addr", "127.0.0.1:8090", "address to listen on")
	flags.Uint64Var(&o.Seed, "seed", 42, "seed of the company")
	flags.IntVar(&o.Workers, "workers", 300, "number of workers")
	flags.StringVar(&o.Tenant, "tenant", "manifold_dpt1", "name of the tenant")
	flags.StringVar(&o.now, "now", "", "date at which the tenant's clock starts, such as 2026-11-02 [today]")
	flags.DurationVar(&o.TokenTTL, "token-ttl", time.Hour, "life of an access token")
	flags.BoolVar(&o.KeepRefreshToken, "keep-refresh-token", false, "let refresh tokens be used again")
	flags.Float64Var(&o.RequestsPerSecond, "rps", 0, "requests a second, 0 for no limit")
	flags.IntVar(&o.Burst, "burst", 10, "burst above the rate")
	flags.StringVar(&o.approvals, "approvals", string(sandbox.RequestTimeOff), "processes that need a manager's approval, comma separated; none for no process")
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

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if !o.quiet {
		o.Logger = slog.New(slog.NewTextHandler(stderr, nil))
	}
	tenant, err := sandbox.New(o.Config)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", o.addr, err)
	}
	out := json.NewEncoder(stdout)
	out.SetIndent("", "  ")
	if err := out.Encode(map[string]any{
		"url": "http://" + listener.Addr().String(), "credentials": tenant.Credentials(),
	}); err != nil {
		return fmt.Errorf("print credentials: %w", err)
	}
	return serve(ctx, listener, tenant)
}

func serve(ctx context.Context, listener net.Listener, tenant http.Handler) error {
	server := &http.Server{Handler: tenant, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // the requests under way may end
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		return fmt.Errorf("shut down: %w", err)
	}
	return nil
}
