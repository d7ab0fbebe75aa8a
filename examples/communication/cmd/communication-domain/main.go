// Command communication-domain serves the communication example.
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

	"github.com/manifold-run/manifold/examples/communication"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "communication-domain:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, stderr io.Writer) error {
	flags := flag.NewFlagSet("communication-domain", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:8092", "address to serve on")
	dir := flags.String("data", "", "folder of the outbox and of the keys; empty: in memory")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config := communication.Config{Dir: *dir, Logger: slog.New(slog.NewTextHandler(stderr, nil))}
	if token := getenv("DOMAIN_TOKEN"); token != "" {
		config.Tokens = []string{token}
	}
	domain, err := communication.New(ctx, config)
	if err != nil {
		return err
	}
	return errors.Join(domain.Run(ctx, *addr), domain.Close())
}
