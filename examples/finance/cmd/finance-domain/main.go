// Command finance-domain serves the finance example.
package main

import (
	"context"
	"io"
	"os"

	"github.com/manifold-run/manifold/domainkit/command"
	"github.com/manifold-run/manifold/examples/finance"
)

func main() { os.Exit(command.Main("finance-domain", run)) }

func run(ctx context.Context, args []string, getenv func(string) string, _, stderr io.Writer) error {
	flags := command.NewFlags("finance-domain", getenv, stderr)
	addr := flags.String("addr", "127.0.0.1:8091", "address to serve on")
	seed := flags.Uint64("seed", 1, "seed of the market")
	var token command.Secret
	flags.Secret(&token, "token", "DOMAIN_TOKEN", "the bearer token that callers send")
	if err := flags.Parse(args); err != nil {
		return err
	}
	tokens, err := token.Tokens()
	if err != nil {
		return err
	}
	svc, err := finance.New(finance.Config{Seed: *seed, Tokens: tokens, Logger: command.Logger(stderr)})
	if err != nil {
		return err
	}
	return svc.Run(ctx, *addr)
}
