package login

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/manifold-run/manifold/contracts"
)

// Grant is what a login gives: tokens, and where and as which client further ones are
// to be had, as far as the service does not know that anyway.
type Grant struct {
	Server       string           `json:"server,omitempty"`
	Resource     string           `json:"resource,omitempty"`
	AuthURL      string           `json:"authorization_endpoint,omitempty"`
	TokenURL     string           `json:"token_endpoint,omitempty"`
	ClientID     string           `json:"client_id,omitempty"`
	ClientSecret string           `json:"client_secret,omitempty"`
	AuthStyle    oauth2.AuthStyle `json:"auth_style,omitempty"`
	Scopes       []string         `json:"scopes,omitempty"`
	AccessToken  string           `json:"access_token,omitempty"`
	RefreshToken string           `json:"refresh_token,omitempty"`
	// RenewAt is a little before the access token ends; zero if nobody says when.
	RenewAt time.Time `json:"renew_at,omitzero"`
	// Initial is the hash of the token of an administrator from which these descend.
	Initial string `json:"initial,omitempty"`
}

// earlyRenewal is how long before its end an access token is renewed.
const earlyRenewal = time.Minute

// Take keeps what an authorization server has answered.
func (g *Grant) Take(t *oauth2.Token, now time.Time) {
	g.AccessToken, g.RefreshToken = t.AccessToken, cmp.Or(t.RefreshToken, g.RefreshToken)
	g.RenewAt = time.Time{}
	life := time.Duration(t.ExpiresIn) * time.Second
	if life <= 0 && !t.Expiry.IsZero() {
		life = time.Until(t.Expiry) // x/oauth2 reads the machine's clock
	}
	if life > 0 {
		g.RenewAt = now.Add(life - min(earlyRenewal, life/2))
	}
}

// Store keeps a grant. A refresh replaces the refresh token on the other side, so a new
// one that is lost locks the client out.
type Store interface {
	Load(ctx context.Context) (Grant, error)
	Save(ctx context.Context, g Grant) error
}

// File keeps a grant in a file of mode 0600 that a crash leaves whole. Processes of one
// machine may share it: they lock the one beside it.
type File struct {
	Path string
	// Vault encrypts the file [it is not encrypted].
	Vault Vault
	// Initial is a refresh token that an administrator has made. It is used until the file
	// holds a later one; another one wins over what the file holds.
	Initial string
	// Check, if given, reports whether the file is what it should be.
	Check func(Grant) error
}

var _ Store = (*File)(nil)

// Load returns the newest grant.
func (f *File) Load(context.Context) (Grant, error) {
	g, _, err := f.load()
	return g, err
}

func (f *File) load() (g Grant, plain bool, err error) {
	plain, err = f.Vault.Load(f.Path, &g)
	if f.Initial != "" && (errors.Is(err, fs.ErrNotExist) || err == nil && g.Initial != contracts.HashBytes([]byte(f.Initial))) {
		return Grant{RefreshToken: f.Initial}, false, nil
	}
	if err == nil && f.Check != nil {
		err = f.Check(g)
	}
	return g, plain, err
}

// Save replaces the grant.
func (f *File) Save(_ context.Context, g Grant) error {
	if f.Initial != "" {
		g.Initial = contracts.HashBytes([]byte(f.Initial))
	}
	return f.Vault.Save(f.Path, g)
}

// Encrypt checks a file, and encrypts one that was not encrypted yet.
func (f *File) Encrypt(ctx context.Context) (err error) {
	if _, plain, err := f.load(); err != nil || !plain || len(f.Vault.aeads) == 0 {
		return err
	}
	unlock, err := f.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	g, plain, err := f.load()
	if err != nil || !plain {
		return err
	}
	return f.Save(ctx, g)
}

// Memory keeps a grant in memory.
type Memory struct {
	mu    sync.Mutex // guards grant
	grant Grant
}

var _ Store = (*Memory)(nil)

// NewMemory makes a store that holds a grant.
func NewMemory(g Grant) *Memory { return &Memory{grant: g} }

// Load returns the newest grant.
func (m *Memory) Load(context.Context) (Grant, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.grant, nil
}

// Save replaces the grant.
func (m *Memory) Save(_ context.Context, g Grant) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.grant = g
	return nil
}
