// Command instruments-domain serves the instruments example.
package main

import (
	"context"
	"io"
	"os"

	"github.com/manifold-run/manifold/domainkit/command"
	"github.com/manifold-run/manifold/examples/instruments"
)

func main() { os.Exit(command.Main("instruments-domain", run)) }

func run(ctx context.Context, args []string, getenv func(string) string, _, stderr io.Writer) error {
	flags := command.NewFlags("instruments-domain", getenv, stderr)
	addr := flags.String("addr", "127.0.0.1:8097", "address to serve on")
	var token command.Secret
	flags.Secret(&token, "token", "DOMAIN_TOKEN", "the bearer token that callers send")
	if err := flags.Parse(args); err != nil {
		return err
	}
	tokens, err := token.Tokens()
	if err != nil {
		return err
	}
	svc, err := instruments.New(instruments.Config{Tokens: tokens, Logger: command.Logger(stderr)})
	if err != nil {
		return err
	}
	return svc.Run(ctx, *addr)
}
