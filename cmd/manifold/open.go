package main

import (
	"context"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// openOptions specify the user that is signed in to the page.
type openOptions struct {
	user    string
	roles   []string
	expires time.Duration
	browser bool
}

func openCommand(c *cli) *cobra.Command {
	var o openOptions
	cmd := &cobra.Command{
		Use: "open", Short: "Make a link that signs you in to the web page, once", Args: exactly(0),
		Long: `Makes a link that signs a browser in to the web page of the server. It counts
once, for ten minutes, and stands for your key: the page may what the key may,
and ends with it.

With --user an admin makes a key for somebody else, which ends by itself, and a
link for it. Such a key is no second person for what the admin asked for.`,
		Example: `  manifold open
  manifold open --user otto --role approver`,
		RunE: c.connected(func(ctx context.Context, server *client.Client, _ []string) error {
			return c.open(ctx, server, o)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.user, "user", "", "sign somebody else in, with a new key")
	flags.StringSliceVar(&o.roles, "role", []string{"viewer"}, "roles of the new key")
	flags.DurationVar(&o.expires, "expires", 12*time.Hour, "when the new key ends")
	flags.BoolVar(&o.browser, "browser", false, "open the link in the browser of this machine, too")
	return cmd
}

func (c *cli) open(ctx context.Context, server *client.Client, o openOptions) error {
	if o.user != "" {
		other, err := c.newUser(ctx, server, o)
		if err != nil {
			return err
		}
		server = other
	}
	link, until, err := server.SignInLink(ctx)
	if err != nil {
		return err
	}
	if err := c.show(map[string]any{"url": link, "expires_at": until}, func() {
		c.out.printf("%s\n\nIt counts once, until %s.\n", link, when(until))
	}); err != nil || !o.browser {
		return err
	}
	return browse(ctx, link)
}

// newUser connects with a new key that expires.
func (c *cli) newUser(ctx context.Context, admin *client.Client, o openOptions) (*client.Client, error) {
	if o.expires <= 0 {
		return nil, usagef("--expires must be longer than nothing")
	}
	key, err := admin.CreateKey(ctx, contracts.KeySpec{
		Name: "web page", Kind: "user", Principal: o.user, Roles: o.roles, ExpiresAt: new(time.Now().Add(o.expires).UTC()),
	})
	if err != nil {
		return nil, err
	}
	as := c.connection
	as.key = key.Text
	return as.client()
}

// browse opens a URL in the local browser.
func browse(ctx context.Context, link string) error {
	name, args := "xdg-open", []string{link}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", link}
	}
	return exec.CommandContext(ctx, name, args...).Run() //nolint:gosec // the link is of the server that was asked
}
