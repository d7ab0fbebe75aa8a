package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

func keyCommand(c *cli) *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List the API keys, without their secrets", Args: exactly(0),
		RunE: c.connected(func(ctx context.Context, server *client.Client, _ []string) error {
			keys, err := server.Keys(ctx)
			if err != nil {
				return err
			}
			return c.show(keys, func() { c.out.keys(keys) })
		}),
	}
	revoke := &cobra.Command{
		Use: "revoke ID", Short: "End a key at once", Args: exactly(1),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			if err := server.RevokeKey(ctx, args[0]); err != nil {
				return err
			}
			return c.show(map[string]string{"id": args[0]}, func() { c.out.printf("%s is revoked\n", args[0]) })
		}),
	}
	webhook := &cobra.Command{
		Use: "webhook", Short: "Show the key that receivers check the signatures of webhooks with", Args: exactly(0),
		RunE: c.connected(func(ctx context.Context, server *client.Client, _ []string) error {
			key, err := server.WebhookKey(ctx)
			if err != nil {
				return err
			}
			return c.show(key, func() { c.out.printf("id   %s\nkey  %s  (base64)\n", key.KeyID, key.Key) })
		}),
	}
	return group("key", "Manage API keys", keyCreateCommand(c), list, revoke, webhook)
}

func keyCreateCommand(c *cli) *cobra.Command {
	var spec contracts.KeySpec
	var classes []string
	var expires time.Duration
	cmd := &cobra.Command{
		Use: "create PRINCIPAL", Short: "Make an API key; its text is shown once", Args: exactly(1),
		Example: `  manifold key create otto --role approver
  manifold key create nightly --kind service --role viewer --domain finance`,
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			if expires < 0 {
				return usagef("--expires must not be negative")
			}
			spec.Principal = args[0]
			for _, class := range classes {
				spec.Scopes.Classes = append(spec.Scopes.Classes, contracts.SideEffectClass(class))
			}
			if expires > 0 {
				spec.ExpiresAt = new(time.Now().Add(expires).UTC())
			}
			key, err := server.CreateKey(ctx, spec)
			if err != nil {
				return err
			}
			return c.show(key, func() { c.out.printf("%s\n", key.Text) })
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&spec.Name, "name", "", "label for people")
	flags.StringVar(&spec.Kind, "kind", "user", "user (one person), service (a program) or frontend (forwards who is asking)")
	flags.StringSliceVar(&spec.Roles, "role", []string{"viewer"}, "viewer, requester, operator, approver, auditor, admin, a word of a policy, or a domain's own role as domain:role")
	flags.StringSliceVar(&spec.Scopes.Domains, "domain", nil, "only these domains")
	flags.StringSliceVar(&classes, "class", nil, "only these side-effect classes, such as read")
	flags.DurationVar(&expires, "expires", 0, "how long it is valid (0: until it is revoked)")
	return cmd
}

func (p printer) keys(keys []contracts.KeyView) {
	rows := make([][]string, len(keys))
	for i, k := range keys {
		state := "valid"
		switch {
		case k.RevokedAt != nil:
			state = "revoked " + whenPtr(k.RevokedAt)
		case k.ExpiresAt != nil:
			state = "until " + whenPtr(k.ExpiresAt)
		}
		rows[i] = []string{k.ID, k.Principal, k.Kind, strings.Join(k.Roles, ","), strings.Join(k.Scopes.Domains, ","), state, k.Name}
	}
	p.table("", []string{"ID", "PRINCIPAL", "KIND", "ROLES", "DOMAINS", "STATE", "NAME"}, rows)
}
