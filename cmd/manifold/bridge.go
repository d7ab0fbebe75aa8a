package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/cmd/manifold/internal/bridges"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/bridge"
)

func bridgeCommand(c *cli) *cobra.Command {
	return group("bridge", "Serve an MCP server, or an API with an OpenAPI document, as a domain", mcpBridge(c), openapiBridge(c))
}

func mcpBridge(c *cli) *cobra.Command {
	var m contracts.MCPServer
	var people bridges.People
	cmd := bridgeKind(c, "mcp URL | -- COMMAND…", "Serve an MCP server as a domain", &m.OverlayFile, &people, func(args []string) (contracts.Bridge, error) {
		switch {
		case len(args) == 0:
			return contracts.Bridge{}, usagef("name the URL of an MCP server, or behind -- the command that starts one")
		case bridge.IsURL(args[0]):
			m.URL = args[0]
		default:
			m.Command = args
		}
		return contracts.Bridge{MCP: &m}, nil
	})
	flags := cmd.PersistentFlags()
	flags.StringVar(&m.Authorization, "authorization", "", "env:NAME: the variable with the value of the header Authorization")
	flags.StringVar(&m.TokenFile, "token-file", "", "file with the tokens of a login, see login; in the place of --authorization")
	flags.StringVar(&people.TokenKey, "token-key", "", "env:NAME: the variable with a key of at least 32 bytes, which encrypts token files [they are not encrypted]")
	flags.StringSliceVar(&m.Env, "env", nil, "variables of the environment that the command gets besides PATH and HOME")
	flags.StringVar(&m.Protocol, "protocol", "", "version of the protocol to begin with [the newest]")
	people.Flags(cmd)
	cmd.AddCommand(bridges.LoginCommand(&m.TokenFile, func(ctx context.Context, l bridges.Login) error {
		return l.Run(ctx, c.getenv, people.TokenKey, c.out.w)
	}))
	return cmd
}

func openapiBridge(c *cli) *cobra.Command {
	var o contracts.OpenAPIService
	var auth string
	cmd := bridgeKind(c, "openapi DOCUMENT", "Serve an API as a domain, by its OpenAPI document", &o.OverlayFile, nil, func(args []string) (contracts.Bridge, error) {
		if len(args) != 1 {
			return contracts.Bridge{}, usagef("name one OpenAPI document, a file or a URL")
		}
		o.Document = args[0]
		if scheme, variable, ok := strings.Cut(auth, "="); ok {
			o.Scheme, o.Secret = scheme, variable
		} else if auth != "" {
			return contracts.Bridge{}, usagef("--auth must be SCHEME=env:NAME")
		}
		return contracts.Bridge{OpenAPI: &o}, nil
	})
	flags := cmd.PersistentFlags()
	flags.StringVar(&o.Base, "base", "", "address of the API [the first server of the document]")
	flags.StringVar(&auth, "auth", "", "SCHEME=env:NAME: the credential of a security scheme of the document")
	return cmd
}

// bridgeKind returns the command for one kind of bridge, with its subcommands; named builds the bridge
// from the arguments.
func bridgeKind(c *cli, use, short string, overlay *string, people *bridges.People, named func(args []string) (contracts.Bridge, error)) *cobra.Command {
	var o bridges.Options
	does := func(do func(context.Context, bridges.Options) error) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, args []string) (err error) {
			if o.Bridge, err = named(args); err != nil {
				return err
			}
			if people != nil {
				o.People.TokenKey = people.TokenKey
			}
			o.Getenv, o.Stdout, o.Stderr = c.getenv, c.out.w, c.errs.w
			return do(cmd.Context(), o)
		}
	}
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: does(func(ctx context.Context, o bridges.Options) error {
		if people != nil {
			o.People = *people
		}
		return bridges.Serve(ctx, o)
	})}
	var tools []string
	confirm := &cobra.Command{
		Use: "confirm " + use, Short: "Take over into the overlay what has changed, after it is shown", Args: cobra.ArbitraryArgs,
		RunE: does(func(ctx context.Context, o bridges.Options) error { return bridges.Confirm(ctx, o, tools) }),
	}
	confirm.Flags().StringSliceVar(&tools, "operation", nil, "the operations to take over [all]")
	cmd.AddCommand(
		&cobra.Command{Use: "init " + use, Short: "Write a first overlay, and show what each operation counts as", Args: cobra.ArbitraryArgs, RunE: does(bridges.Init)},
		&cobra.Command{Use: "check " + use, Short: "Show what each operation counts as", Args: cobra.ArbitraryArgs, RunE: does(bridges.Check)},
		confirm,
	)
	flags := cmd.PersistentFlags()
	flags.StringVar(overlay, "overlay", "", "file that says what the operations are")
	flags.StringVar(&o.Domain, "domain", "bridge", "name of the domain")
	flags.StringVar(&o.Listen, "listen", "127.0.0.1:8096", "address to serve the domain at")
	flags.StringVar(&o.Keys, "keys", "", "file that keeps the idempotency keys of writes, beside it a file of how operations were seen first [in memory]")
	flags.StringVar(&o.TokenEnv, "token-env", "", "the variable with the token that callers of the domain must send")
	return cmd
}
