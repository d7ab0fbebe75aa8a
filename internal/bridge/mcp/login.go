package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/login"
	"github.com/manifold-run/manifold/internal/bridge"
)

// Login is a person's login at an MCP server by OAuth 2.1. The authorization code, with PKCE, is
// returned to a port of this machine.
type Login struct {
	// Server is the URL of the MCP server, File the file for the tokens.
	Server, File string
	// Keys encrypt the file [not encrypted].
	Keys [][]byte
	// ClientID and ClientSecret are those of a client that is registered at the authorization
	// server [one is registered dynamically].
	ClientID, ClientSecret string
	// Scopes are the requested scopes [those that the server asks for].
	Scopes []string
	HTTP   bridge.HTTP
	// Show is called with the link that the person must open.
	Show func(link string)
	// Wait bounds the whole login [5m].
	Wait time.Duration
	Now  func() time.Time // [time.Now]
}

// hello is a first request without a token: the response names the authorization server.
const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"manifold","version":"1"}}}`

// Run waits until the person has logged in, and writes the tokens. It reports whether they can be
// renewed.
func (l Login) Run(ctx context.Context) (renewable bool, err error) {
	if err := secure(l.Server); err != nil {
		return false, err
	}
	l.Wait = cmp.Or(l.Wait, 5*time.Minute)
	if l.Now == nil {
		l.Now = time.Now
	}
	ctx, cancel := context.WithTimeout(ctx, l.Wait)
	defer cancel()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return false, err
	}
	defer listener.Close()
	g, err := l.granted(ctx, "http://"+listener.Addr().String()+"/callback", func(ctx context.Context, link *url.URL) (*auth.AuthorizationResult, error) {
		return l.await(ctx, listener, link)
	})
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return false, contracts.Errorf(contracts.CodeUnauthorized, "nobody has logged in within %v", l.Wait)
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		return false, contracts.Errorf(contracts.CodeUnauthorized, "the login failed: %s", words(err))
	}
	keys, err := login.NewVault(l.Keys, forTokens)
	if err == nil {
		err = keys.Save(l.File, g)
	}
	if err != nil {
		return false, fmt.Errorf("the token file cannot be written: %w", err)
	}
	return g.RefreshToken != "", nil
}

// granted gets the tokens; the official library implements the protocol. await shows the person the
// link and waits for the redirect.
func (l Login) granted(ctx context.Context, redirect string, await func(ctx context.Context, link *url.URL) (*auth.AuthorizationResult, error)) (*login.Grant, error) {
	client := l.HTTP.Client()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.Server, strings.NewReader(hello))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		return nil, fmt.Errorf("the MCP server answers %d to a request without a token, where 401 asks for a login", res.StatusCode)
	}
	g := &login.Grant{Server: l.Server}
	cfg := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: redirect, Client: client, RequestRefreshToken: true, AcceptUnadvertisedIss: true,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			link, err := url.Parse(args.URL)
			if err != nil {
				return nil, err
			}
			g.Resource = link.Query().Get("resource")
			if err := secure(link.String()); err != nil {
				return nil, err
			}
			return await(ctx, link)
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			g.AuthURL, g.TokenURL, g.AuthStyle = c.Endpoint.AuthURL, c.Endpoint.TokenURL, c.Endpoint.AuthStyle
			g.ClientID, g.ClientSecret, g.Scopes = c.ClientID, c.ClientSecret, c.Scopes
			if g.ClientSecret == "" {
				g.AuthStyle = oauth2.AuthStyleInParams // a public client has nothing to say in a header
			}
			g.Take(t, l.Now())
			return oauth2.StaticTokenSource(t), nil
		},
	}
	l.identify(cfg)
	handler, err := auth.NewAuthorizationCodeHandler(cfg)
	if err != nil {
		return nil, err
	}
	if err := handler.Authorize(ctx, req, res); err != nil {
		return nil, err
	}
	return g, secure(g.TokenURL)
}

// identify sets the client and the scopes of the login.
func (l Login) identify(cfg *auth.AuthorizationCodeHandlerConfig) {
	if len(l.Scopes) > 0 {
		cfg.ScopeFilter = func([]string) []string { return l.Scopes }
	}
	if l.ClientID == "" {
		cfg.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Manifold", RedirectURIs: []string{cfg.RedirectURL}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"}, Scope: strings.Join(l.Scopes, " "),
		}}
		return
	}
	cfg.PreregisteredClient = &oauthex.ClientCredentials{ClientID: l.ClientID}
	if l.ClientSecret != "" {
		cfg.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: l.ClientSecret}
	}
}

// await shows the link and waits for the code. A callback with another state is rejected, and the wait
// continues.
func (l Login) await(ctx context.Context, listener net.Listener, link *url.URL) (*auth.AuthorizationResult, error) {
	state, came := link.Query().Get("state"), make(chan url.Values, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if state == "" || q.Get("state") != state {
			http.Error(w, "this is not the login that is waited for", http.StatusBadRequest)
			return
		}
		select {
		case came <- q:
		default: // it was called before
		}
		w.Header().Set("Referrer-Policy", "no-referrer")
		_, _ = io.WriteString(w, "Manifold has the answer; the terminal says what came of it. This page can be closed.\n")
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }() // it ends with this function
	defer func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = errors.Join(server.Shutdown(grace), server.Close()) // the page may have been read or not
	}()
	l.Show(link.String())
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case q := <-came:
		return authorized(q)
	}
}

// authorized parses the authorization server's redirect.
func authorized(q url.Values) (*auth.AuthorizationResult, error) {
	if why := q.Get("error"); why != "" {
		return nil, fmt.Errorf("the authorisation server refused: %s %s", why, q.Get("error_description"))
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}
