// Command communication-domain serves the communication example.
package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/manifold-run/manifold/domainkit/command"
	"github.com/manifold-run/manifold/examples/communication"
)

func main() { os.Exit(command.Main("communication-domain", run)) }

func run(ctx context.Context, args []string, getenv func(string) string, _, stderr io.Writer) error {
	flags := command.NewFlags("communication-domain", getenv, stderr)
	addr := flags.String("addr", "127.0.0.1:8092", "address to serve on")
	dir := flags.String("data", "", "folder of the outbox and of the keys; empty: in memory")
	var token command.Secret
	flags.Secret(&token, "token", "DOMAIN_TOKEN", "the bearer token that callers send")
	if err := flags.Parse(args); err != nil {
		return err
	}
	tokens, err := token.Tokens()
	if err != nil {
		return err
	}
	domain, err := communication.New(ctx, communication.Config{Dir: *dir, Tokens: tokens, Logger: command.Logger(stderr)})
	if err != nil {
		return err
	}
	return errors.Join(domain.Run(ctx, *addr), domain.Close())
}
