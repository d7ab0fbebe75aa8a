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

// Grant is the result of a login: tokens, and the endpoints and client with which further tokens
// are requested, where the service does not configure them.
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
	// RenewAt is shortly before the access token expires; zero if its expiry is unknown.
	RenewAt time.Time `json:"renew_at,omitzero"`
	// Initial is the hash of the refresh token of File.Initial from which this grant was renewed.
	Initial string `json:"initial,omitempty"`
}

// earlyRenewal is how long before its expiry an access token is renewed.
const earlyRenewal = time.Minute

// Take stores the token response of an authorization server in the grant.
func (g *Grant) Take(t *oauth2.Token, now time.Time) {
	g.AccessToken, g.RefreshToken = t.AccessToken, cmp.Or(t.RefreshToken, g.RefreshToken)
	g.RenewAt = time.Time{}
	life := time.Duration(t.ExpiresIn) * time.Second
	if life <= 0 && !t.Expiry.IsZero() {
		life = time.Until(t.Expiry) // x/oauth2 uses the system clock
	}
	if life > 0 {
		g.RenewAt = now.Add(life - min(earlyRenewal, life/2))
	}
}

// Store persists a grant. A refresh may invalidate the old refresh token, so losing a new one locks
// the client out.
type Store interface {
	Load(ctx context.Context) (Grant, error)
	Save(ctx context.Context, g Grant) error
}

// File stores a grant in a file of mode 0600, which is replaced atomically. Several processes on
// one machine may share it; they lock the file PATH.lock.
type File struct {
	Path string
	// Vault encrypts the file [no encryption].
	Vault Vault
	// Initial is a refresh token that an administrator created. It is used until the file holds a
	// grant renewed from it; a different Initial takes precedence over the file.
	Initial string
	// Check, if set, validates a loaded grant.
	Check func(Grant) error
}

var _ Store = (*File)(nil)

// Load returns the stored grant.
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

// Save replaces the stored grant.
func (f *File) Save(_ context.Context, g Grant) error {
	if f.Initial != "" {
		g.Initial = contracts.HashBytes([]byte(f.Initial))
	}
	return f.Vault.Save(f.Path, g)
}

// Encrypt checks the file, and encrypts it if it is not encrypted and the vault has a key.
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

// Memory is a Store in memory.
type Memory struct {
	mu    sync.Mutex // guards grant
	grant Grant
}

var _ Store = (*Memory)(nil)

// NewMemory returns a store that holds g.
func NewMemory(g Grant) *Memory { return &Memory{grant: g} }

// Load returns the stored grant.
func (m *Memory) Load(context.Context) (Grant, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.grant, nil
}

// Save replaces the stored grant.
func (m *Memory) Save(_ context.Context, g Grant) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.grant = g
	return nil
}
