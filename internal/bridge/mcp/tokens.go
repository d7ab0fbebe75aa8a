package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/internal/bridge"
)

const (
	// renewTime bounds a refresh.
	renewTime = 30 * time.Second
	// earlyRenewal is how long before its end an access token is renewed.
	earlyRenewal = time.Minute
)

// TokensConfig says whose tokens they are.
type TokensConfig struct {
	// File is what Login has written, Server the URL that it was written for.
	File, Server string
	// Keys encrypt the file, the first of them; without any it is as Login has written it.
	Keys [][]byte
	// HTTP is how the authorisation server is reached.
	HTTP   bridge.HTTP
	Now    func() time.Time // [time.Now]
	Logger *slog.Logger
	// Ended is the error of calls when a person must log in again [it names the command].
	Ended func() *contracts.ToolError
}

// Tokens are those of one login, kept in a file. They are renewed when they end, and
// when the server refuses them.
type Tokens struct {
	cfg    TokensConfig
	client *http.Client
	vault  vault

	mu      sync.Mutex // held while they are renewed; guards the fields below
	held    grant
	unsaved bool   // the file does not have what is held
	spent   string // a refresh token that was refused
}

// grant is what a token file holds.
type grant struct {
	Server       string           `json:"server"`
	Resource     string           `json:"resource"`
	AuthURL      string           `json:"authorization_endpoint"`
	TokenURL     string           `json:"token_endpoint"`
	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"client_secret,omitempty"`
	AuthStyle    oauth2.AuthStyle `json:"auth_style"`
	Scopes       []string         `json:"scopes,omitempty"`
	AccessToken  string           `json:"access_token"`
	RefreshToken string           `json:"refresh_token,omitempty"`
	// RenewAt is a little before the access token ends; zero if nobody says when.
	RenewAt time.Time `json:"renew_at,omitzero"`
}

// OpenTokens reads a token file.
func OpenTokens(ctx context.Context, cfg TokensConfig) (*Tokens, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.HTTP.Timeout = renewTime
	keys, err := newVault(cfg.Keys, forTokens)
	if err != nil {
		return nil, err
	}
	t := &Tokens{cfg: cfg, client: cfg.HTTP.Client(), vault: keys}
	var plain bool
	if t.held, plain, err = readGrant(keys, cfg.File, cfg.Server); err != nil {
		return nil, err
	}
	if plain && len(cfg.Keys) > 0 { // from now on it is the holder's of these keys
		t.save(ctx)
	}
	return t, nil
}

func readGrant(v vault, file, server string) (g grant, plain bool, err error) {
	plain, err = v.load(file, &g)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || contracts.CodeOf(err) == contracts.CodeUnauthorized {
		return g, plain, contracts.Errorf(contracts.CodeUnauthorized, "the token file cannot be read: %w; \"manifold bridge mcp login\" writes one", err)
	}
	if err != nil {
		return g, plain, contracts.Errorf(contracts.CodeInvalid, "the token file is not what \"manifold bridge mcp login\" writes")
	}
	if g.Server != server {
		return g, plain, contracts.Errorf(contracts.CodeInvalid, "the token file is that of another server, %s", contracts.CleanSummary(g.Server))
	}
	return g, plain, errors.Join(secure(g.Server), secure(g.TokenURL))
}

// take keeps what the authorisation server has answered.
func (g *grant) take(t *oauth2.Token, now time.Time) {
	g.AccessToken, g.RefreshToken = t.AccessToken, cmp.Or(t.RefreshToken, g.RefreshToken)
	g.RenewAt = time.Time{}
	if life := time.Duration(t.ExpiresIn) * time.Second; life > 0 {
		g.RenewAt = now.Add(life - min(earlyRenewal, life/2))
	}
}

// secure refuses a URL over which a token could be read by others.
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

// access gives an access token that is valid, other than the one that was refused.
func (t *Tokens) access(ctx context.Context, refused string) (string, *contracts.ToolError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.valid(refused) {
		return t.held.AccessToken, nil
	}
	// A refresh ends even if the caller gives up, since its answer may have the only
	// refresh token that is left. Its status is not that of the call.
	ctx, _ = bridge.Noting(context.WithoutCancel(ctx))
	ctx, cancel := context.WithTimeout(ctx, renewTime)
	defer cancel()
	for range 2 { // another process may have used the refresh token
		t.reload(ctx)
		if t.valid(refused) {
			return t.held.AccessToken, nil
		}
		if t.held.RefreshToken == "" || t.held.RefreshToken == t.spent {
			break
		}
		fresh, err := t.redeem(ctx)
		if err == nil {
			t.held.take(fresh, t.cfg.Now())
			t.unsaved = true
			t.save(ctx)
			return t.held.AccessToken, nil
		}
		if !refusal(err) {
			return "", domainkit.Retryf(contracts.ErrUpstream, "the access token to %s could not be renewed: %s", t.cfg.Server, words(err))
		}
		t.spent = t.held.RefreshToken
	}
	return "", t.ended(ctx)
}

func (t *Tokens) valid(refused string) bool {
	g := &t.held
	return g.AccessToken != "" && g.AccessToken != refused && (g.RenewAt.IsZero() || t.cfg.Now().Before(g.RenewAt))
}

// reload takes over what a login, or another process, has written since.
func (t *Tokens) reload(ctx context.Context) {
	if t.unsaved {
		t.save(ctx)
		return
	}
	g, _, err := readGrant(t.vault, t.cfg.File, t.cfg.Server)
	if err != nil {
		t.cfg.Logger.WarnContext(ctx, "the tokens in memory are used", slog.Any("error", err))
		return
	}
	t.held = g
}

func (t *Tokens) save(ctx context.Context) {
	if err := t.vault.save(t.cfg.File, t.held); err != nil {
		t.cfg.Logger.ErrorContext(ctx, "the token file cannot be written; the tokens are lost when the bridge ends", slog.Any("error", err))
		return
	}
	t.unsaved = false
}

// redeem exchanges the refresh token. The library's own way of doing so cannot name the
// resource (RFC 8707).
func (t *Tokens) redeem(ctx context.Context) (*oauth2.Token, error) {
	g := &t.held
	conf := oauth2.Config{ClientID: g.ClientID, ClientSecret: g.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: g.AuthStyle}}
	return conf.Exchange(context.WithValue(ctx, oauth2.HTTPClient, t.client), "",
		oauth2.SetAuthURLParam("grant_type", "refresh_token"), oauth2.SetAuthURLParam("refresh_token", g.RefreshToken),
		oauth2.SetAuthURLParam("resource", g.Resource))
}

// refusal tells whether the authorisation server will not take the refresh token again.
func refusal(err error) bool {
	r, ok := errors.AsType[*oauth2.RetrieveError](err)
	return ok && (r.ErrorCode == "invalid_grant" || r.Response.StatusCode == http.StatusBadRequest || r.Response.StatusCode == http.StatusUnauthorized)
}

// words tells what went wrong, without the text of an answer: a token may stand there.
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

// ended says that a person is needed.
func (t *Tokens) ended(ctx context.Context) *contracts.ToolError {
	t.cfg.Logger.WarnContext(ctx, "a person must log in again", slog.String("server", t.cfg.Server), slog.String("token_file", t.cfg.File))
	if t.cfg.Ended != nil {
		return t.cfg.Ended()
	}
	return domainkit.Refusef(contracts.ErrUnauthorized, "the login at %s has ended; a person must log in again: manifold bridge mcp login %s --token-file FILE", t.cfg.Server, t.cfg.Server)
}

// bearer sends the access token with every request; one that is refused is renewed, once.
type bearer struct {
	tokens *Tokens
	next   http.RoundTripper
}

// RoundTrip sends a request, a second time if it was refused with status 401.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	token, fault := b.tokens.access(ctx, "")
	if fault != nil {
		if r.Body != nil {
			_ = r.Body.Close() // as a RoundTripper must
		}
		return nil, noted(ctx, fault)
	}
	first := r.Clone(ctx)
	first.Header.Set("Authorization", "Bearer "+token)
	res, err := b.next.RoundTrip(first)
	if err != nil || res.StatusCode != http.StatusUnauthorized || r.Body != nil && r.GetBody == nil {
		return res, err
	}
	_ = res.Body.Close() // it says no more than the status
	token, fault = b.tokens.access(ctx, token)
	if fault != nil {
		return nil, noted(ctx, fault)
	}
	second := r.Clone(ctx)
	second.Header.Set("Authorization", "Bearer "+token)
	if r.Body != nil {
		if second.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	res, err = b.next.RoundTrip(second)
	if err == nil && res.StatusCode == http.StatusUnauthorized {
		_ = noted(ctx, b.tokens.ended(ctx))
	}
	return res, err
}

func noted(ctx context.Context, fault *contracts.ToolError) error {
	bridge.Note(ctx, bridge.Status{Refused: fault})
	return fault
}
