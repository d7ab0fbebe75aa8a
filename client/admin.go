package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Domains lists all domains by name.
func (c *Client) Domains(ctx context.Context) ([]contracts.DomainView, error) {
	return list[contracts.DomainView](ctx, c.wire, "/v1/domains", nil, 0)
}

// Domain returns the registration, manifests and state of one domain.
func (c *Client) Domain(ctx context.Context, name string) (contracts.DomainDetail, error) {
	var out contracts.DomainDetail
	err := c.wire.do(ctx, request{method: http.MethodGet, path: path("v1", "domains", name)}, &out)
	return out, err
}

// manifestWait bounds a call for which the server may fetch the manifest of a domain.
const manifestWait = time.Minute

// report makes a call that validates a manifest. It extends the timeout, but sends no Prefer
// header: the server answers when the validation is done.
func (c *Client) report(ctx context.Context, r request) (contracts.DomainReport, error) {
	var out contracts.DomainReport
	r.opt.Wait = manifestWait
	err := c.wire.do(ctx, r, &out)
	return out, err
}

// RegisterDomain registers a domain or changes its registration.
func (c *Client) RegisterDomain(ctx context.Context, reg contracts.Registration) (contracts.DomainReport, error) {
	return c.report(ctx, request{method: http.MethodPost, path: "/v1/domains", body: reg})
}

// UnregisterDomain removes the registration of a domain.
func (c *Client) UnregisterDomain(ctx context.Context, name string) error {
	return c.wire.do(ctx, request{method: http.MethodDelete, path: path("v1", "domains", name)}, nil)
}

// RefreshDomain fetches and validates the manifest now.
func (c *Client) RefreshDomain(ctx context.Context, name string) (contracts.DomainReport, error) {
	return c.report(ctx, request{method: http.MethodPost, path: path("v1", "domains", name, "refresh")})
}

// ConfirmDomain activates the pending manifest with exactly this digest.
func (c *Client) ConfirmDomain(ctx context.Context, name, digest string) (contracts.DomainReport, error) {
	return c.report(ctx, request{
		method: http.MethodPost, path: path("v1", "domains", name, "confirm"), body: contracts.ConfirmDomain{Digest: digest},
	})
}

// DiffDomain compares the active manifest with the pending or current one.
func (c *Client) DiffDomain(ctx context.Context, name string) (contracts.DomainDiff, error) {
	var out contracts.DomainDiff
	err := c.wire.do(ctx, request{method: http.MethodGet, path: path("v1", "domains", name, "diff")}, &out)
	return out, err
}

// Capabilities lists the usable capabilities of one domain, or of all domains if domain is "".
func (c *Client) Capabilities(ctx context.Context, domain string) ([]contracts.CapabilityView, error) {
	q := url.Values{}
	setText(q, "domain", domain)
	return list[contracts.CapabilityView](ctx, c.wire, "/v1/capabilities", q, 0)
}

// Instances lists the instances of all domains.
func (c *Client) Instances(ctx context.Context) ([]contracts.InstanceView, error) {
	return list[contracts.InstanceView](ctx, c.wire, "/v1/instances", nil, 0)
}

// Keys lists the API keys, without their secrets.
func (c *Client) Keys(ctx context.Context) ([]contracts.KeyView, error) {
	return list[contracts.KeyView](ctx, c.wire, "/v1/keys", nil, 0)
}

// CreateKey creates an API key. Its secret is only in this response.
func (c *Client) CreateKey(ctx context.Context, spec contracts.KeySpec) (contracts.KeyCreated, error) {
	var out contracts.KeyCreated
	err := c.wire.do(ctx, request{method: http.MethodPost, path: "/v1/keys", body: spec}, &out)
	return out, err
}

// RevokeKey revokes a key at once.
func (c *Client) RevokeKey(ctx context.Context, id string) error {
	return c.wire.do(ctx, request{method: http.MethodDelete, path: path("v1", "keys", id)}, nil)
}

// SignInLink returns a single-use link that signs the caller in to the server's web page until
// the given time.
func (c *Client) SignInLink(ctx context.Context) (link string, until time.Time, err error) {
	var out contracts.SignInLink
	err = c.wire.do(ctx, request{method: http.MethodPost, path: "/v1/session/link"}, &out)
	at := *c.wire.base
	at.Path, at.Fragment = strings.TrimRight(at.Path, "/")+"/sign-in", out.Token
	return at.String(), out.ExpiresAt, err
}

// WebhookKey returns the key that receivers verify webhook signatures with.
func (c *Client) WebhookKey(ctx context.Context) (contracts.WebhookKey, error) {
	var out contracts.WebhookKey
	err := c.wire.do(ctx, request{method: http.MethodGet, path: "/v1/webhooks/key"}, &out)
	return out, err
}

// Whoami returns the identity that the server derives from the credentials.
func (c *Client) Whoami(ctx context.Context) (contracts.Caller, error) {
	var out contracts.Caller
	err := c.wire.do(ctx, request{method: http.MethodGet, path: "/v1/whoami"}, &out)
	return out, err
}

// Ready reports whether the server can take requests.
func (c *Client) Ready(ctx context.Context) (contracts.Readiness, error) {
	var out contracts.Readiness
	err := c.wire.do(ctx, request{method: http.MethodGet, path: "/ready"}, &out)
	return out, err
}
