package bridges

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/bridge"
	"github.com/manifold-run/manifold/internal/bridge/mcp"
	"github.com/manifold-run/manifold/internal/webhook"
)

// Login is a login at an MCP server; its ClientSecret is env:NAME.
type Login mcp.Login

// LoginCommand is the command that logs in, and writes the file.
func LoginCommand(file *string, run func(context.Context, Login) error) *cobra.Command {
	var l Login
	cmd := &cobra.Command{
		Use: "login URL", Short: "Log in at an MCP server by OAuth, and write the tokens into the file of --token-file", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if l.Server, l.File = args[0], *file; !bridge.IsURL(l.Server) || l.File == "" {
				return contracts.Errorf(contracts.CodeInvalid, "name the URL of an MCP server, and the file of the tokens with --token-file")
			}
			return run(cmd.Context(), l)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&l.ClientID, "client-id", "", "a client that the authorisation server knows [one is registered]")
	flags.StringVar(&l.ClientSecret, "client-secret", "", "env:NAME: the variable with the secret of that client [it has none]")
	flags.StringSliceVar(&l.Scopes, "scope", nil, "what to ask for [what the server asks for]")
	return cmd
}

// Run shows the link, and waits.
func (l Login) Run(ctx context.Context, getenv func(string) string, out io.Writer) error {
	if l.ClientSecret != "" {
		name, ok := strings.CutPrefix(l.ClientSecret, "env:")
		if l.ClientSecret = getenv(name); !ok || l.ClientSecret == "" {
			return contracts.Errorf(contracts.CodeInvalid, "--client-secret must be env:NAME, and the variable must be set")
		}
	}
	guard, err := guarding(ctx, l.Server)
	if err != nil {
		return err
	}
	l.HTTP.Control = guard.Control
	l.Show = func(link string) {
		fmt.Fprintf(out, "Open this link on this machine, and log in:\n\n%s\n\nWaiting for the answer; Ctrl-C gives up.\n", link)
	}
	renewable, err := mcp.Login(l).Run(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The tokens are in %s.\n", l.File)
	if !renewable {
		fmt.Fprintln(out, "The server gave no refresh token: when the access token ends, somebody must log in again.")
	}
	return nil
}

// guarding keeps a public server from naming an authorisation server in a private
// network. A server that is inside itself may.
func guarding(ctx context.Context, server string) (*webhook.Guard, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "this is no URL")
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeUnavailable, "the MCP server cannot be found: %w", err)
	}
	guard, err := webhook.NewGuard(webhook.GuardConfig{})
	for _, addr := range addrs {
		if err == nil && guard.Check(addr) != nil {
			return webhook.NewGuard(webhook.GuardConfig{AllowLoopback: true, AllowPrivate: true})
		}
	}
	return guard, err
}
