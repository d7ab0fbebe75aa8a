package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

// TokenStore keeps the refresh token. A refresh replaces the token on the
// tenant's side, so a new one that is lost locks the client out.
type TokenStore interface {
	Load(ctx context.Context) (string, error)
	Save(ctx context.Context, token string) error
}

// sharedStore is a TokenStore that several processes use: whoever holds its lock is the
// only one to load the token, use it and save its successor.
type sharedStore interface {
	Lock(ctx context.Context) (unlock func() error, err error)
}

const (
	refreshTimeout = 20 * time.Second
	earlyExpiry    = 2 * time.Minute
)

// holder hands out access tokens and renews them, one renewal at a time.
type holder struct {
	conf   oauth2.Config
	jwt    *JWT
	store  TokenStore
	client *http.Client
	now    func() time.Time

	// turn is held by the one caller that renews; the others wait for it or
	// for their own context.
	turn chan struct{}

	// mu guards the fields below.
	mu      sync.Mutex
	access  string
	expires time.Time
	unsaved string // a rotated refresh token that the store has not taken yet
	dead    error  // the refresh token was refused: nothing works until a person acts
}

func newHolder(cfg Config) *holder {
	return &holder{
		conf: oauth2.Config{
			ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret,
			Endpoint: oauth2.Endpoint{TokenURL: cfg.TokenURL, AuthStyle: oauth2.AuthStyleInHeader},
		},
		jwt:    cfg.JWT,
		store:  cfg.Tokens,
		client: &http.Client{Transport: cfg.Transport, Timeout: refreshTimeout, CheckRedirect: noRedirect},
		now:    cfg.Now,
		turn:   make(chan struct{}, 1),
	}
}

// token gives an access token other than the rejected one, which is empty
// unless the tenant has just refused it.
func (h *holder) token(ctx context.Context, rejected string) (string, error) {
	if token, err := h.current(rejected); token != "" || err != nil {
		return token, err
	}
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return "", &Error{Op: "token", Kind: KindTimeout, Cause: ctx.Err()}
	}
	if token, err := h.current(rejected); token != "" || err != nil {
		return token, err // somebody renewed it while we waited
	}
	return h.renew(ctx)
}

func (h *holder) current(rejected string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dead != nil {
		return "", h.dead
	}
	if h.unsaved != "" || h.access == rejected || !h.now().Before(h.expires) {
		return "", nil
	}
	return h.access, nil
}

// renew exchanges the refresh token. It ends even if the caller gives up:
// once the tenant has rotated the token, the new one must be kept.
func (h *holder) renew(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTimeout)
	defer cancel()
	if h.jwt != nil {
		return h.assert(ctx)
	}
	shared, isShared := h.store.(sharedStore)
	if !isShared {
		return h.exchange(ctx)
	}
	unlock, err := shared.Lock(ctx)
	if err != nil {
		return "", &Error{Op: "token", Kind: KindInternal, Message: "the refresh token cannot be locked", Cause: err}
	}
	access, err := h.exchange(ctx)
	return access, errors.Join(err, unlock())
}

// exchange makes an access token of the refresh token, and keeps its successor.
func (h *holder) exchange(ctx context.Context) (string, error) {
	refresh, err := h.refreshToken(ctx)
	if err != nil {
		return "", err
	}
	fresh, err := h.redeem(ctx, refresh)
	if IsKind(err, KindReauth) {
		// Another process may have used the token and stored its successor.
		if stored, loadErr := h.store.Load(ctx); loadErr == nil && stored != refresh {
			refresh = stored
			fresh, err = h.redeem(ctx, refresh)
		}
	}
	if err != nil {
		h.bury(err)
		return "", err
	}
	if fresh.RefreshToken != "" && fresh.RefreshToken != refresh {
		h.setUnsaved(fresh.RefreshToken)
		if err := h.save(ctx, fresh.RefreshToken); err != nil {
			return "", err
		}
	}
	return h.take(fresh), nil
}

// take keeps an access token.
func (h *holder) take(fresh *oauth2.Token) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.access, h.expires = fresh.AccessToken, h.expiry(fresh)
	return h.access
}

func (h *holder) redeem(ctx context.Context, refresh string) (*oauth2.Token, error) {
	fresh, err := h.conf.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, h.client),
		&oauth2.Token{RefreshToken: refresh}).Token()
	if err != nil {
		return nil, refused(err)
	}
	return fresh, nil
}

// bury remembers that the credentials are refused; asking again would only
// lock the account.
func (h *holder) bury(err error) {
	if !IsKind(err, KindReauth) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dead = err
}

// expiry is a little before the tenant's, but never so early that a
// short-lived token is useless.
func (h *holder) expiry(t *oauth2.Token) time.Time {
	now := h.now()
	if t.ExpiresIn <= 0 && t.Expiry.IsZero() {
		return now.Add(earlyExpiry)
	}
	life := time.Duration(t.ExpiresIn) * time.Second
	if life <= 0 {
		life = time.Until(t.Expiry) // x/oauth2 reads the machine's clock
	}
	return now.Add(life - min(earlyExpiry, life/2))
}

func (h *holder) refreshToken(ctx context.Context) (string, error) {
	h.mu.Lock()
	unsaved := h.unsaved
	h.mu.Unlock()
	if unsaved != "" {
		return unsaved, h.save(ctx, unsaved)
	}
	token, err := h.store.Load(ctx)
	if err != nil {
		return "", &Error{Op: "token", Kind: KindInternal, Message: "the refresh token cannot be read", Cause: err}
	}
	return token, nil
}

func (h *holder) setUnsaved(token string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unsaved = token
}

// save keeps the rotated token before anything else is done with it.
func (h *holder) save(ctx context.Context, token string) error {
	if err := h.store.Save(ctx, token); err != nil {
		return &Error{Op: "token", Kind: KindInternal, Message: "the new refresh token cannot be stored", Cause: err}
	}
	h.setUnsaved("")
	return nil
}

// refused turns a failed exchange into an Error.
func refused(err error) error {
	answer, isAnswer := errors.AsType[*oauth2.RetrieveError](err)
	if !isAnswer || answer.Response == nil {
		return &Error{Op: "token", Kind: KindUnavailable, Message: "the token endpoint does not answer", Cause: err}
	}
	out := &Error{Op: "token", Kind: kindOf(answer.Response.StatusCode), Status: answer.Response.StatusCode, Cause: err}
	switch answer.ErrorCode {
	case "invalid_grant", "invalid_client", "unauthorized_client":
		out.Kind = KindReauth
		out.Message = fmt.Sprintf("the tenant refuses the credentials (%s); renew the refresh token or the API client", answer.ErrorCode)
	}
	return out
}

// GrantEnded tells whether the tenant does not take a refresh token any more. A client that
// it refuses says nothing of the tokens.
func GrantEnded(err error) bool {
	answer, isAnswer := errors.AsType[*oauth2.RetrieveError](err)
	return isAnswer && IsKind(err, KindReauth) && answer.ErrorCode == "invalid_grant"
}
