// Command logistics-domain serves the logistics example.
package main

import (
	"context"
	"io"
	"os"

	"github.com/manifold-run/manifold/domainkit/command"
	"github.com/manifold-run/manifold/examples/logistics"
)

func main() { os.Exit(command.Main("logistics-domain", run)) }

func run(ctx context.Context, args []string, getenv func(string) string, _, stderr io.Writer) error {
	flags := command.NewFlags("logistics-domain", getenv, stderr)
	addr := flags.String("addr", "127.0.0.1:8095", "address to serve on")
	seed := flags.Uint64("seed", 1, "seed of the world")
	delay := flags.Duration("delay", 0, "about how long each answer takes, as if a slow system stood behind it")
	var token command.Secret
	flags.Secret(&token, "token", "DOMAIN_TOKEN", "the bearer token that callers send")
	if err := flags.Parse(args); err != nil {
		return err
	}
	tokens, err := token.Tokens()
	if err != nil {
		return err
	}
	svc, err := logistics.New(logistics.Config{Seed: *seed, Delay: *delay, Tokens: tokens, Logger: command.Logger(stderr)})
	if err != nil {
		return err
	}
	return svc.Run(ctx, *addr)
}
