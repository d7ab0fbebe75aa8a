// Command finance-domain serves the finance example.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/manifold-run/manifold/examples/finance"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "finance-domain:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, stderr io.Writer) error {
	flags := flag.NewFlagSet("finance-domain", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:8091", "address to serve on")
	seed := flags.Uint64("seed", 1, "seed of the market")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config := finance.Config{Seed: *seed, Logger: slog.New(slog.NewTextHandler(stderr, nil))}
	if token := getenv("DOMAIN_TOKEN"); token != "" {
		config.Tokens = []string{token}
	}
	svc, err := finance.New(config)
	if err != nil {
		return err
	}
	return svc.Run(ctx, *addr)
}
