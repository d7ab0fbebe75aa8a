package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/cmd/manifold/internal/bridges"
)

// bridgeOptions are the flags of bridges.
type bridgeOptions struct {
	bridges.Options

	env      []string
	protocol string
	base     string
	auth     string
}

func bridgeCommand(c *cli) *cobra.Command {
	return group(
		"bridge", "Serve an MCP server, or an API with an OpenAPI document, as a domain",
		bridgeKind(c, "mcp URL | -- COMMAND…", "Serve an MCP server as a domain", mcpBridge),
		bridgeKind(c, "openapi DOCUMENT", "Serve an API as a domain, by its OpenAPI document", openapiBridge),
	)
}

// opener makes of arguments and flags what opens a service.
type opener func(o *bridgeOptions, cmd *cobra.Command, args []string) (bridges.Open, error)

// bridgeKind is the command of one kind of bridge, and those below it.
func bridgeKind(c *cli, use, short string, open opener) *cobra.Command {
	o := &bridgeOptions{}
	does := func(do func(context.Context, bridges.Options, bridges.Open) error) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, args []string) error {
			how, err := open(o, cmd, args)
			if err != nil {
				return usageError{err}
			}
			o.Getenv, o.Stdout, o.Stderr = c.getenv, c.out.w, c.errs.w
			return do(cmd.Context(), o.Options, how)
		}
	}
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: does(bridges.Serve)}
	var tools []string
	confirm := &cobra.Command{
		Use: "confirm " + use, Short: "Take over into the overlay what has changed, after it is shown", Args: cobra.ArbitraryArgs,
		RunE: does(func(ctx context.Context, o bridges.Options, open bridges.Open) error {
			return bridges.Confirm(ctx, o, open, tools)
		}),
	}
	confirm.Flags().StringSliceVar(&tools, "operation", nil, "the operations to take over [all]")
	cmd.AddCommand(
		&cobra.Command{Use: "init " + use, Short: "Write a first overlay, and show what each operation counts as", Args: cobra.ArbitraryArgs, RunE: does(bridges.Init)},
		&cobra.Command{Use: "check " + use, Short: "Show what each operation counts as", Args: cobra.ArbitraryArgs, RunE: does(bridges.Check)},
		confirm,
	)
	flags := cmd.PersistentFlags()
	flags.StringVar(&o.Domain, "domain", "bridge", "name of the domain")
	flags.StringVar(&o.Overlay, "overlay", "", "file that says what the operations are")
	flags.StringVar(&o.Listen, "listen", "127.0.0.1:8096", "address to serve the domain at")
	flags.StringVar(&o.Keys, "keys", "", "file that keeps the idempotency keys of writes [in memory]")
	flags.StringVar(&o.Authorization, "authorization", "", "env:NAME: the variable with the value of the header Authorization")
	flags.StringVar(&o.TokenEnv, "token-env", "", "the variable with the token that callers of the domain must send")
	flags.StringSliceVar(&o.env, "env", nil, "variables of the environment that the command gets besides PATH and HOME")
	flags.StringVar(&o.protocol, "protocol", "", "version of the protocol to begin with [the newest]")
	flags.StringVar(&o.base, "base", "", "address of the API [the first server of the document]")
	flags.StringVar(&o.auth, "auth", "", "NAME=env:VARIABLE: the credential of a security scheme of the document")
	return cmd
}

func mcpBridge(o *bridgeOptions, _ *cobra.Command, args []string) (bridges.Open, error) {
	return bridges.MCP(args, o.env, o.protocol)
}

func openapiBridge(o *bridgeOptions, _ *cobra.Command, args []string) (bridges.Open, error) {
	return bridges.OpenAPI(args, o.base, o.auth)
}
