package bridges

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/bridge"
	"github.com/manifold-run/manifold/internal/bridge/mcp"
	"github.com/manifold-run/manifold/internal/webhook"
)

// Login is a login at an MCP server; its ClientSecret is env:NAME.
type Login mcp.Login //nolint:recvcheck // a command fills it in, and a copy is run

// LoginCommand returns the command that logs in and writes the token file.
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
	l.flags(cmd)
	return cmd
}

// flags adds the flags of every login.
func (l *Login) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&l.ClientID, "client-id", "", "a client that the authorisation server knows [one is registered]")
	flags.StringVar(&l.ClientSecret, "client-secret", "", "env:NAME: the variable with the secret of that client [it has none]")
	flags.StringSliceVar(&l.Scopes, "scope", nil, "what to ask for [what the server asks for]")
}

// People configures logins at an MCP server with personal accounts.
type People struct { //nolint:recvcheck // as Login
	Login

	Dir, PublicURL string
	// TokenKey is env:NAME: the variable with the key that encrypts token files.
	TokenKey string
}

// Flags adds the flags of the command that serves a bridge.
func (p *People) Flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&p.Dir, "logins", "", "folder for the tokens of people: each call is made with the account of whoever asks, who logs in by a link [one account for all]")
	flags.StringVar(&p.PublicURL, "public-url", "", "with --logins, the address at which browsers reach this bridge [that of --listen]")
	p.flags(cmd)
}

// config returns the configuration of logins, nil if all share one account.
func (p People) config(ctx context.Context, o Options, keys [][]byte) (*mcp.LoginsConfig, error) {
	switch {
	case p.Dir == "":
		return nil, nil //nolint:nilnil // there is none
	case o.MCP == nil || o.MCP.URL == "":
		return nil, contracts.Errorf(contracts.CodeInvalid, "--logins is for MCP servers with a URL")
	case o.TokenEnv == "":
		return nil, contracts.Errorf(contracts.CodeInvalid, "--logins needs --token-env: only Manifold may say who asks")
	}
	p.Server = o.MCP.URL
	login, err := p.ready(ctx, o.Getenv)
	return &mcp.LoginsConfig{Dir: p.Dir, Keys: keys, PublicURL: cmp.Or(p.PublicURL, "http://"+o.Listen), Login: login}, err
}

// ready resolves the secret, and sets the guard for the login's connections.
func (l Login) ready(ctx context.Context, getenv func(string) string) (mcp.Login, error) {
	if l.ClientSecret != "" {
		name, ok := strings.CutPrefix(l.ClientSecret, "env:")
		if l.ClientSecret = getenv(name); !ok || l.ClientSecret == "" {
			return mcp.Login{}, contracts.Errorf(contracts.CodeInvalid, "--client-secret must be env:NAME, and the variable must be set")
		}
	}
	guard, err := webhook.GuardBeside(ctx, l.Server)
	if err != nil {
		return mcp.Login{}, err
	}
	l.HTTP.Control = guard.Control
	return mcp.Login(l), nil
}

// keysOf returns the keys that encrypt token files, nil if none is configured.
func keysOf(said string, getenv func(string) string) ([][]byte, error) {
	if said == "" {
		return nil, nil
	}
	name, ok := strings.CutPrefix(said, "env:")
	key := getenv(name)
	if !ok || len(key) < 32 {
		return nil, contracts.Errorf(contracts.CodeInvalid, "--token-key must be env:NAME, and the variable must have at least 32 bytes")
	}
	return [][]byte{[]byte(key)}, nil
}

// Run shows the link and waits for the login. key encrypts the tokens.
func (l Login) Run(ctx context.Context, getenv func(string) string, key string, out io.Writer) error {
	login, err := l.ready(ctx, getenv)
	if err != nil {
		return err
	}
	if login.Keys, err = keysOf(key, getenv); err != nil {
		return err
	}
	login.Show = func(link string) {
		fmt.Fprintf(out, "Open this link on this machine, and log in:\n\n%s\n\nWaiting for the answer; Ctrl-C gives up.\n", link)
	}
	renewable, err := login.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The tokens are in %s.\n", l.File)
	if !renewable {
		fmt.Fprintln(out, "The server gave no refresh token: when the access token ends, somebody must log in again.")
	}
	return nil
}
