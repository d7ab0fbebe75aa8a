// Package login lets a service act with the accounts of people who logged in to another system by
// OAuth 2. It has the browser pages, access tokens that are renewed (also by several processes that
// share a file), and encrypted files.
//
// The protocol itself is implemented by golang.org/x/oauth2.
package login

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
)

// ErrEnded means that a grant gives no more tokens: the person must log in again. Renew wraps it if
// the authorization server refused permanently.
var ErrEnded = errors.New("the login has ended")

// renewTime is the timeout of a renewal.
const renewTime = 30 * time.Second

// TokensConfig configures Tokens. Store and Renew are required.
type TokensConfig struct {
	Store Store
	// Renew exchanges the refresh token of a grant for new tokens.
	Renew func(ctx context.Context, g Grant) (*oauth2.Token, error)
	// Now is the clock [time.Now].
	Now func() time.Time
	// Logger logs failures to load or store a grant that are worked around [none].
	Logger *slog.Logger
}

// Tokens returns the access tokens of one login. It renews them when they expire or are rejected,
// one renewal at a time. It is safe for concurrent use.
type Tokens struct {
	cfg TokensConfig
	// turn is a lock held by the caller that renews; others wait for it or for their context.
	turn chan struct{}
	// spent is a refresh token that was refused, and refused the error. Both are guarded by turn.
	spent   string
	refused error

	held atomic.Pointer[held] // written only while holding turn
}

type held struct {
	Grant
	unsaved bool   // not saved in the store
	dead    string // a rejected access token that could not be replaced
}

// NewTokens returns the tokens of a login. It does no I/O.
func NewTokens(cfg TokensConfig) *Tokens {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	t := &Tokens{cfg: cfg, turn: make(chan struct{}, 1)}
	t.held.Store(&held{})
	return t
}

// Access returns a valid access token. Pass a token that the system has just rejected to get
// another one, else "". It returns ErrEnded if a person must log in again.
func (t *Tokens) Access(ctx context.Context, rejected string) (string, error) {
	if token := t.current(rejected); token != "" {
		return token, nil
	}
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if token := t.current(rejected); token != "" {
		return token, nil // another caller renewed it
	}
	// A renewal is not cancelled with the caller: once the refresh token has changed, the new one
	// must be stored.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewTime)
	defer cancel()
	shared, isShared := t.cfg.Store.(interface {
		Lock(ctx context.Context) (unlock func() error, err error)
	})
	if !isShared {
		return t.renew(ctx, rejected)
	}
	unlock, err := shared.Lock(ctx)
	if err != nil {
		return "", err
	}
	token, err := t.renew(ctx, rejected)
	return token, errors.Join(err, unlock())
}

func (t *Tokens) current(rejected string) string {
	g := t.held.Load()
	if g.unsaved || g.AccessToken == rejected || g.AccessToken == g.dead || !g.RenewAt.IsZero() && !t.cfg.Now().Before(g.RenewAt) {
		return ""
	}
	return g.AccessToken
}

// renew loads a grant that a login or another process has stored, or exchanges the refresh token.
// The caller holds turn. A process that shares the login without a lock may have used the refresh
// token, so a refusal is followed by one more load.
func (t *Tokens) renew(ctx context.Context, rejected string) (string, error) {
	for range 2 {
		if err := t.reload(ctx); err != nil {
			return "", err
		}
		if token := t.current(rejected); token != "" {
			return token, nil
		}
		g := t.held.Load().Grant
		if g.RefreshToken == "" || g.RefreshToken == t.spent {
			break
		}
		fresh, err := t.cfg.Renew(ctx, g)
		if err == nil {
			g.Take(fresh, t.cfg.Now())
			return t.keep(ctx, g)
		}
		if !errors.Is(err, ErrEnded) {
			return "", err
		}
		t.spent, t.refused = g.RefreshToken, err
	}
	last := t.held.Load()
	t.held.Store(&held{Grant: last.Grant, dead: cmp.Or(rejected, last.dead)})
	if t.refused != nil {
		return "", t.refused
	}
	return "", ErrEnded
}

func (t *Tokens) reload(ctx context.Context) error {
	before := t.held.Load()
	if before.unsaved {
		_, err := t.keep(ctx, before.Grant)
		return err
	}
	g, err := t.cfg.Store.Load(ctx)
	switch {
	case err == nil:
		t.held.Store(&held{Grant: g, dead: before.dead})
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: its file is gone", ErrEnded)
	case before.RefreshToken == "":
		return fmt.Errorf("the login cannot be read: %w", err)
	default:
		t.cfg.Logger.WarnContext(ctx, "the tokens in memory are used", slog.Any("error", err))
	}
	return nil
}

// keep stores a grant before it is used. A refresh token that cannot be stored stays in memory;
// storing is retried before the next call.
func (t *Tokens) keep(ctx context.Context, g Grant) (access string, err error) {
	before := t.held.Load()
	err = t.cfg.Store.Save(ctx, g)
	lost := err != nil && (before.unsaved || before.RefreshToken != g.RefreshToken)
	t.held.Store(&held{Grant: g, unsaved: lost})
	if lost {
		return "", fmt.Errorf("the new refresh token cannot be stored: %w", err)
	}
	if err != nil {
		t.cfg.Logger.WarnContext(ctx, "the access token cannot be stored", slog.Any("error", err))
	}
	return g.AccessToken, nil
}

// Send sends a request with an access token. If it is answered with 401, Send retries it once with
// another token. A body without GetBody is not resent.
func Send(r *http.Request, access func(ctx context.Context, rejected string) (string, error), send func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	for rejected := ""; ; {
		token, err := access(r.Context(), rejected)
		if err != nil {
			if r.Body != nil && rejected == "" {
				_ = r.Body.Close() // as a RoundTripper must
			}
			return nil, err
		}
		one := r.Clone(r.Context())
		one.Header.Set("Authorization", "Bearer "+token)
		if rejected != "" && r.GetBody != nil {
			if one.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		res, err := send(one)
		if err != nil || res.StatusCode != http.StatusUnauthorized || rejected != "" || r.Body != nil && r.GetBody == nil {
			return res, err
		}
		_ = res.Body.Close() // only the status matters
		rejected = token
	}
}
