// Command flowise-sandbox serves an in-memory Flowise over HTTP and prints how a client reaches it.
package main

import (
	"context"
	"io"
	"os"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
)

func main() { os.Exit(domainkit.Main("flowise-sandbox", run)) }

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	var cfg sandbox.Config
	flags := domainkit.NewFlags("flowise-sandbox", getenv, stderr)
	addr := flags.String("addr", "127.0.0.1:3000", "address to listen on")
	quiet := flags.Bool("quiet", false, "do not log requests")
	flags.StringVar(&cfg.Key, "key", "sandbox-key", "the API key")
	flags.Uint64Var(&cfg.Seed, "seed", 42, "seed of ids and faults")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !*quiet {
		cfg.Logger = domainkit.TextLogger(stderr)
	}
	server, err := sandbox.New(cfg)
	if err != nil {
		return err
	}
	return sandboxkit.Serve(ctx, *addr, server, stdout, func(url string) any {
		return map[string]string{"endpoint": url, "api_key": server.Key()}
	})
}
