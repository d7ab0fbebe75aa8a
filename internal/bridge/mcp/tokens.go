package mcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"golang.org/x/oauth2"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/login"
	"github.com/manifold-run/manifold/internal/bridge"
)

// renewTime bounds a token refresh.
const renewTime = 30 * time.Second

// TokensConfig configures the tokens of one login.
type TokensConfig struct {
	// File is the token file that Login has written, Server the URL that it was written for.
	File, Server string
	// Keys decrypt the file, and the first one encrypts it; without keys it is left as Login has
	// written it.
	Keys [][]byte
	// HTTP configures the connection to the authorization server.
	HTTP   bridge.HTTP
	Now    func() time.Time // [time.Now]
	Logger *slog.Logger
	// Ended returns the error of calls after the login has ended [it names the login command].
	Ended func() *contracts.ToolError
}

// Tokens are the tokens of one login, stored in a file. They are renewed when they expire and when the
// server rejects them.
type Tokens struct {
	cfg    TokensConfig
	client *http.Client
	held   *login.Tokens
}

// OpenTokens reads a token file, and encrypts it if there is a key.
func OpenTokens(ctx context.Context, cfg TokensConfig) (*Tokens, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.HTTP.Timeout = renewTime
	keys, err := login.NewVault(cfg.Keys, forTokens)
	if err != nil {
		return nil, err
	}
	t := &Tokens{cfg: cfg, client: cfg.HTTP.Client()}
	file := &login.File{Path: cfg.File, Vault: keys}
	g, err := file.Load(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || contracts.CodeOf(err) == contracts.CodeUnauthorized:
		return nil, contracts.Errorf(contracts.CodeUnauthorized, "the token file cannot be read: %w; \"manifold bridge mcp login\" writes one", err)
	case err != nil:
		return nil, contracts.Errorf(contracts.CodeInvalid, "the token file is not what \"manifold bridge mcp login\" writes")
	}
	if err := t.check(g); err != nil {
		return nil, err
	}
	file.Check = t.check
	if err := file.Encrypt(ctx); err != nil {
		cfg.Logger.ErrorContext(ctx, "the token file cannot be written", slog.Any("error", err))
	}
	t.held = login.NewTokens(login.TokensConfig{Store: file, Renew: t.redeem, Now: cfg.Now, Logger: cfg.Logger})
	return t, nil
}

// check rejects tokens of another server, and URLs that would expose the tokens.
func (t *Tokens) check(g login.Grant) error {
	if g.Server != t.cfg.Server {
		return contracts.Errorf(contracts.CodeInvalid, "the token file is that of another server, %s", contracts.CleanSummary(g.Server))
	}
	return errors.Join(secure(g.Server), secure(g.TokenURL))
}

// secure rejects a URL that would expose a token.
func secure(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return contracts.Errorf(contracts.CodeInvalid, "this is no URL for a token")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if local := u.Hostname() == "localhost" || err == nil && ip.IsLoopback(); u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return contracts.Errorf(contracts.CodeInvalid, "%s is not https; a token is sent without only to this machine", contracts.CleanSummary(u.Scheme+"://"+u.Host))
	}
	return nil
}

// access returns a valid access token other than the refused one.
func (t *Tokens) access(ctx context.Context, refused string) (string, *contracts.ToolError) {
	token, err := t.held.Access(ctx, refused)
	switch {
	case errors.Is(err, login.ErrEnded):
		return "", t.ended(ctx)
	case err != nil:
		return "", domainkit.Retryf(contracts.ErrUpstream, "the access token to %s could not be renewed: %s", t.cfg.Server, words(err))
	}
	return token, nil
}

// redeem exchanges the refresh token. The library's own method cannot name the resource (RFC 8707).
func (t *Tokens) redeem(ctx context.Context, g login.Grant) (*oauth2.Token, error) {
	ctx, _ = bridge.WithStatusRecorder(ctx) // a recorder of its own: its status is not that of the call
	conf := oauth2.Config{ClientID: g.ClientID, ClientSecret: g.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: g.AuthStyle}}
	fresh, err := conf.Exchange(context.WithValue(ctx, oauth2.HTTPClient, t.client), "",
		oauth2.SetAuthURLParam("grant_type", "refresh_token"), oauth2.SetAuthURLParam("refresh_token", g.RefreshToken),
		oauth2.SetAuthURLParam("resource", g.Resource))
	if refusal(err) {
		return nil, fmt.Errorf("%w: %w", login.ErrEnded, err)
	}
	return fresh, err
}

// refusal reports whether the authorization server has rejected the refresh token for good.
func refusal(err error) bool {
	r, ok := errors.AsType[*oauth2.RetrieveError](err)
	return ok && (r.ErrorCode == "invalid_grant" || r.Response.StatusCode == http.StatusBadRequest || r.Response.StatusCode == http.StatusUnauthorized)
}

// words describes an error without the text of a response, which may contain a token.
func words(err error) string {
	r, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return contracts.CleanSummary(err.Error())
	}
	said := fmt.Sprintf("the authorisation server answered %d", r.Response.StatusCode)
	switch r.ErrorCode {
	case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "invalid_target":
		said += " " + r.ErrorCode
	}
	return said
}

// ended returns the error that asks for a new login.
func (t *Tokens) ended(ctx context.Context) *contracts.ToolError {
	t.cfg.Logger.WarnContext(ctx, "a person must log in again", slog.String("server", t.cfg.Server), slog.String("token_file", t.cfg.File))
	if t.cfg.Ended != nil {
		return t.cfg.Ended()
	}
	return domainkit.Refusef(contracts.ErrUnauthorized, "the login at %s has ended; a person must log in again: manifold bridge mcp login %s --token-file FILE", t.cfg.Server, t.cfg.Server)
}

// bearer adds the access token to every request. A rejected token is renewed once.
type bearer struct {
	tokens *Tokens
	next   http.RoundTripper
}

// RoundTrip sends a request, a second time after a 401.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	res, err := login.Send(r, func(ctx context.Context, refused string) (string, error) {
		token, fault := b.tokens.access(ctx, refused)
		if fault != nil {
			return "", noted(ctx, fault)
		}
		return token, nil
	}, b.next.RoundTrip)
	if err == nil && res.StatusCode == http.StatusUnauthorized {
		_ = noted(ctx, b.tokens.ended(ctx))
	}
	return res, err
}

func noted(ctx context.Context, fault *contracts.ToolError) error {
	bridge.RecordStatus(ctx, bridge.Status{Refused: fault})
	return fault
}
