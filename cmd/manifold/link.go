package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/internal/app"
)

// linkOptions is the configuration of approval links.
type linkOptions struct {
	URL string        `json:"url,omitempty"`
	Key string        `json:"key,omitempty"`
	TTL time.Duration `json:"ttl_ns,omitempty"`
}

func (o *linkOptions) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.URL, "approval-links", "", "show links to approval pages in chats; the URL that people reach this server at")
	flags.StringVar(&o.Key, "approval-link-key", "", "secret that signs approval links, as env:NAME; else one is made")
	flags.DurationVar(&o.TTL, "approval-link-ttl", time.Hour, "how long an approval link counts")
}

func (o *linkOptions) config(lookup func(string) (string, bool)) (app.ApprovalLinks, error) {
	out := app.ApprovalLinks{PublicURL: o.URL, TTL: o.TTL}
	switch {
	case o.TTL <= 0:
		return out, usagef("--approval-link-ttl must be longer than nothing")
	case o.URL == "" && o.Key != "":
		return out, usagef("--approval-link-key needs --approval-links")
	case o.Key == "":
		return out, nil
	}
	name, ok := strings.CutPrefix(o.Key, "env:")
	key, found := lookup(name)
	if !ok || !found {
		return out, usagef("--approval-link-key must be env:NAME, and the variable must be set")
	}
	out.Key = []byte(key)
	return out, nil
}
