// Command flowise-sandbox serves a Flowise in memory over HTTP and prints what a
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
	"syscall"
	"time"

	"github.com/manifold-run/manifold/domains/flowise/sandbox"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		_, _ = fmt.Fprintln(os.Stderr, "flowise-sandbox:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var cfg sandbox.Config
	flags := flag.NewFlagSet("flowise-sandbox", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:3000", "address to listen on")
	quiet := flags.Bool("quiet", false, "do not log requests")
	flags.StringVar(&cfg.Key, "key", "sandbox-key", "the API key")
	flags.Uint64Var(&cfg.Seed, "seed", 42, "seed of ids and faults")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !*quiet {
		cfg.Logger = slog.New(slog.NewTextHandler(stderr, nil))
	}
	server, err := sandbox.New(cfg)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", *addr, err)
	}
	out := json.NewEncoder(stdout)
	out.SetIndent("", "  ")
	if err := out.Encode(map[string]string{"endpoint": "http://" + listener.Addr().String(), "api_key": server.Key()}); err != nil {
		return fmt.Errorf("print the address: %w", err)
	}
	return serve(ctx, listener, server)
}

func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
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
