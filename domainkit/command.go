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

// Command does the work of a process until ctx ends. It takes the environment and
// the standard streams as arguments, so that a test can give its own.
type Command func(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error

// Main runs a command with the process's own arguments, environment and
// streams until an interrupt or SIGTERM, and returns the status to exit with.
// Asking for help is no failure.
func Main(name string, run Command) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return status(name, run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr), os.Stderr)
}

func status(name string, err error, stderr io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	_, _ = fmt.Fprintf(stderr, "%s: %v\n", name, err) // there is nobody left to tell
	return 1
}

// TextLogger writes lines for people.
func TextLogger(stderr io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(stderr, nil)) }
