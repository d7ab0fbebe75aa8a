// Command example-domain serves one of the example domains:
//
//	go run ./examples/cmd/example-domain finance -addr 127.0.0.1:8091
//
// With -h after its name, an example lists its flags.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/examples/communication"
	"github.com/manifold-run/manifold/examples/finance"
	"github.com/manifold-run/manifold/examples/instruments"
	"github.com/manifold-run/manifold/examples/logistics"
)

func main() { os.Exit(domainkit.Main("example-domain", run)) }

// service is a domain that can be served.
type service interface {
	Run(ctx context.Context, addr string) error
}

// settings are common to all examples.
type settings struct {
	tokens []string
	logger *slog.Logger
}

// example is a domain that this command serves.
type example struct {
	addr string
	// flags declares the flags of this example, and returns the function that creates the domain
	// after they are parsed.
	flags func(f *domainkit.Flags) func(context.Context, settings) (service, error)
}

func examples() map[string]example {
	return map[string]example{
		"communication": {"127.0.0.1:8092", communicationFlags},
		"finance":       {"127.0.0.1:8091", financeFlags},
		"instruments":   {"127.0.0.1:8097", instrumentsFlags},
		"logistics":     {"127.0.0.1:8095", logisticsFlags},
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, _, stderr io.Writer) (err error) {
	known := examples()
	names := strings.Join(slices.Sorted(maps.Keys(known)), ", ")
	if len(args) == 0 {
		return fmt.Errorf("name an example: %s", names)
	}
	chosen, ok := known[args[0]]
	if !ok {
		return fmt.Errorf("there is no example %q; name one of %s", args[0], names)
	}
	flags := domainkit.NewFlags("example-domain "+args[0], getenv, stderr)
	addr := flags.String("addr", chosen.addr, "address to serve on")
	var token domainkit.Secret
	flags.Secret(&token, "token", "DOMAIN_TOKEN", "the bearer token that callers send")
	open := chosen.flags(flags)
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	tokens, err := token.Tokens()
	if err != nil {
		return err
	}
	domain, err := open(ctx, settings{tokens, domainkit.TextLogger(stderr)})
	if err != nil {
		return err
	}
	if c, ok := domain.(io.Closer); ok {
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	return domain.Run(ctx, *addr)
}

func communicationFlags(f *domainkit.Flags) func(context.Context, settings) (service, error) {
	dir := f.String("data", "", "folder of the outbox and of the keys; empty: in memory")
	return func(ctx context.Context, s settings) (service, error) {
		return communication.New(ctx, communication.Config{Dir: *dir, Tokens: s.tokens, Logger: s.logger})
	}
}

func financeFlags(f *domainkit.Flags) func(context.Context, settings) (service, error) {
	seed := f.Uint64("seed", 1, "seed of the market")
	return func(_ context.Context, s settings) (service, error) {
		return finance.New(finance.Config{Seed: *seed, Tokens: s.tokens, Logger: s.logger})
	}
}

func instrumentsFlags(*domainkit.Flags) func(context.Context, settings) (service, error) {
	return func(_ context.Context, s settings) (service, error) {
		return instruments.New(instruments.Config{Tokens: s.tokens, Logger: s.logger})
	}
}

func logisticsFlags(f *domainkit.Flags) func(context.Context, settings) (service, error) {
	seed := f.Uint64("seed", 1, "seed of the world")
	delay := f.Duration("delay", 0, "about how long each answer takes, as if a slow system stood behind it")
	return func(_ context.Context, s settings) (service, error) {
		return logistics.New(logistics.Config{Seed: *seed, Delay: *delay, Tokens: s.tokens, Logger: s.logger})
	}
}
