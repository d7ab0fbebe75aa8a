package host

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/bridge"
	"github.com/manifold-run/manifold/internal/bridge/mcp"
	"github.com/manifold-run/manifold/internal/bridge/openapi"
)

// Reach is what a bridge needs to reach its service.
type Reach struct {
	// Lookup returns the value of the variable of an "env:NAME".
	Lookup func(name string) (value string, found bool)
	// Control is called before every dial; nil allows all.
	Control Control
	// Keys encrypt token files [not encrypted].
	Keys [][]byte
	// Changed is called when the service reports that its operations have changed.
	Changed func()
	Logger  *slog.Logger
	// Logins, if not nil, makes calls of an MCP server with the account of the requester.
	Logins *mcp.LoginsConfig
}

// Overlay reads and parses the overlay of a bridge.
func Overlay(b contracts.Bridge) (text []byte, parsed bridge.Overlay, err error) {
	if !b.Given() {
		return nil, parsed, contracts.Errorf(contracts.CodeInvalid, "a bridge needs an MCP server, or an OpenAPI document")
	}
	said := overlayOf(b)
	text = said.Overlay
	if said.OverlayFile != "" {
		if text, err = os.ReadFile(said.OverlayFile); err != nil {
			return nil, parsed, contracts.Errorf(contracts.CodeInvalid, "the overlay: %w", err)
		}
	}
	parsed, err = bridge.ParseOverlay(text)
	return text, parsed, err
}

func overlayOf(b contracts.Bridge) contracts.BridgeOverlay {
	if b.MCP != nil {
		return b.MCP.BridgeOverlay
	}
	return b.OpenAPI.BridgeOverlay
}

// Source opens the service behind a bridge. It reads an OpenAPI document, but does not connect to an
// MCP server yet.
func Source(ctx context.Context, b contracts.Bridge, o bridge.Overlay, r Reach) (bridge.Source, error) {
	way := bridge.HTTP{Control: r.Control}
	if b.OpenAPI != nil {
		cfg := openapi.Config{Document: b.OpenAPI.Document, Base: b.OpenAPI.Base, Scheme: b.OpenAPI.Scheme, Remote: o.Remote, Select: o.Select, HTTP: way}
		var err error
		if cfg.Secret, err = r.secret(b.OpenAPI.Secret); err != nil {
			return nil, err
		}
		return openapi.New(ctx, cfg)
	}
	if m := b.MCP; len(m.Command) > 0 {
		return mcp.New(mcp.Config{Command: m.Command, Env: mcp.Environment(m.Env...), Protocol: m.Protocol, Changed: r.Changed, Logger: r.Logger})
	}
	value, err := r.secret(b.MCP.Authorization)
	if err != nil {
		return nil, err
	}
	if value != "" {
		way.Authorize = func(req *http.Request) error {
			req.Header.Set("Authorization", value)
			return nil
		}
	}
	var tokens *mcp.Tokens
	if b.MCP.TokenFile != "" {
		if value != "" {
			return nil, contracts.Errorf(contracts.CodeInvalid, "a token file stands in the place of an authorization")
		}
		if tokens, err = mcp.OpenTokens(ctx, mcp.TokensConfig{File: b.MCP.TokenFile, Server: b.MCP.URL, Keys: r.Keys, HTTP: bridge.HTTP{Control: r.Control}, Logger: r.Logger}); err != nil {
			return nil, err
		}
	}
	cfg := mcp.Config{URL: b.MCP.URL, HTTP: way, Tokens: tokens, Protocol: b.MCP.Protocol, Changed: r.Changed, Logger: r.Logger}
	if r.Logins != nil {
		logins := *r.Logins
		logins.Server = cfg
		return mcp.NewLogins(logins)
	}
	return mcp.New(cfg)
}

// secret returns the value of the variable of an "env:NAME", "" for "".
func (r Reach) secret(said string) (string, error) {
	if said == "" {
		return "", nil
	}
	name, ok := strings.CutPrefix(said, "env:")
	if !ok {
		return "", contracts.Errorf(contracts.CodeInvalid, "a credential must be env:NAME; the secret itself stays in the environment")
	}
	var value string
	if r.Lookup != nil {
		value, _ = r.Lookup(name)
	}
	if value == "" {
		return "", contracts.Errorf(contracts.CodeUnauthorized, "the variable %s is not set", cmp.Or(name, "NAME"))
	}
	return value, nil
}
