package domainkit

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
)

// Command runs a process until ctx ends. Environment and standard streams are arguments, so that
// tests can replace them.
type Command func(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error

// Main runs a command with the arguments, environment and streams of the process until SIGINT or
// SIGTERM. It returns the exit status: 0 on success and for -help, else 1.
func Main(name string, run Command) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return status(name, run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr), os.Stderr)
}

func status(name string, err error, stderr io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	_, _ = fmt.Fprintf(stderr, "%s: %v\n", name, err) // nowhere to report it
	return 1
}

// TextLogger returns a logger that writes human-readable lines.
func TextLogger(stderr io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(stderr, nil)) }
