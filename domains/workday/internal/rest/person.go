package rest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/oauth2"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/login"
)

// LoginConfig configures how people log in at the tenant with their own accounts.
type LoginConfig struct {
	// Dir is the folder with the tokens of each person.
	Dir string
	// Keys encrypt the tokens. The first key encrypts; all of them decrypt. Without keys, one is
	// created beside Dir.
	Keys [][]byte
	// URL is the public URL of the pages of Logins, for example
	// https://manifold.example.com/workday.
	URL string
	// AuthorizeURL is the OAuth 2 authorization endpoint [BaseURL/ccx/oauth2/{tenant}/authorize].
	AuthorizeURL string
	// ClientID and ClientSecret identify an API client with the grant type authorization code [the
	// tenant's].
	ClientID, ClientSecret string
}

// Logins returns clients that act as a person, with the token that the person granted by logging in
// at the tenant (authorization code with PKCE). A token is stored under the worker that the tenant
// reports for it, so it is never used for another person, whoever opened the link. Logins is safe
// for concurrent use.
type Logins struct {
	cfg   Config
	login LoginConfig
	oauth oauth2.Config

	vault login.Vault
	// pages stores the PKCE verifier of each pending login.
	pages login.Pages[string]

	mu      sync.Mutex // guards clients
	clients map[string]*Client
}

// NewLogins creates the folder of the tokens and the key of its files if they do not exist.
func NewLogins(cfg Config, how LoginConfig) (*Logins, error) {
	cfg.JWT, cfg.Tokens = nil, login.NewMemory(login.Grant{})
	if how.ClientID != "" {
		cfg.ClientID, cfg.ClientSecret = how.ClientID, how.ClientSecret
	}
	cfg.setDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Transport == nil {
		cfg.Transport = defaultTransport() // shared by all clients
	}
	if how.AuthorizeURL == "" {
		how.AuthorizeURL = cfg.BaseURL + "/ccx/oauth2/" + url.PathEscape(cfg.Tenant) + "/authorize"
	}
	if err := cfg.checkHost(how.AuthorizeURL); err != nil {
		return nil, err
	}
	how.URL = strings.TrimSuffix(how.URL, "/")
	if at, err := url.Parse(how.URL); err != nil || at.Host == "" {
		return nil, fmt.Errorf("workday logins: %q is no address that browsers reach", how.URL)
	}
	vault, err := how.open(cfg.Logger)
	if err != nil {
		return nil, fmt.Errorf("workday logins: %w", err)
	}
	l := &Logins{
		cfg: cfg, login: how, vault: vault, clients: map[string]*Client{},
		oauth: oauth2.Config{
			ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret, RedirectURL: how.URL + "/callback",
			Endpoint: oauth2.Endpoint{AuthURL: how.AuthorizeURL, TokenURL: cfg.TokenURL, AuthStyle: oauth2.AuthStyleInHeader},
		},
	}
	l.pages.URL, l.pages.Path, l.pages.Now = how.URL, "/", cfg.Now
	return l, nil
}

// open creates the folder and, if no key is configured, a key beside it, which it logs.
func (c *LoginConfig) open(logger *slog.Logger) (login.Vault, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return login.Vault{}, err
	}
	if len(c.Keys) == 0 {
		file := filepath.Clean(c.Dir) + ".key"
		key, made, err := login.KeyIn(file)
		if err != nil {
			return login.Vault{}, err
		}
		c.Keys = [][]byte{key}
		logger.Warn("the logins of people are encrypted with the key in a file, since none is given", slog.String("file", file), slog.Bool("made_now", made))
	}
	return login.NewVault(c.Keys, "logins at Workday")
}

// Link returns the URL that a person opens to log in.
func (l *Logins) Link() string { return l.login.URL + "/login" }

var workerID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Client returns the client that acts as a worker, or nil if the worker has not logged in.
func (l *Logins) Client(ctx context.Context, worker string) (*Client, error) {
	if !workerID.MatchString(worker) {
		return nil, nil //nolint:nilnil // nobody else can have logged in
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.clients[worker]; c != nil {
		return c, nil
	}
	file := l.file(worker)
	switch err := file.Encrypt(ctx); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // they have not logged in
	case contracts.CodeOf(err) == contracts.CodeUnauthorized: // encrypted with a removed key
		l.cfg.Logger.WarnContext(ctx, "a login cannot be opened", slog.Any("error", err))
		return nil, nil //nolint:nilnil // they have to log in again
	case err != nil:
		return nil, fmt.Errorf("workday logins: %w", err)
	}
	c, err := l.client(file)
	if err == nil {
		l.clients[worker] = c
	}
	return c, err
}

// Forget removes a login that the tenant no longer accepts.
func (l *Logins) Forget(worker string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.clients, worker)
	if err := os.Remove(l.file(worker).Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.cfg.Logger.Warn("a login that has ended is still kept", slog.Any("error", err))
	}
}

func (l *Logins) file(worker string) *login.File {
	return &login.File{Path: filepath.Join(l.login.Dir, worker+".json"), Vault: l.vault}
}

func (l *Logins) client(tokens login.Store) (*Client, error) {
	cfg := l.cfg
	cfg.Tokens = tokens
	return New(cfg)
}

// ServeHTTP redirects browsers to the tenant and handles their return.
func (l *Logins) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodGet:
		login.Page{Title: "This is no page"}.Show(w, http.StatusMethodNotAllowed)
	case strings.HasSuffix(r.URL.Path, "/login"):
		state, verifier := rand.Text(), oauth2.GenerateVerifier()
		if err := l.pages.Leave(w, r, l.oauth.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)), state, verifier); err != nil {
			login.Page{Title: "You cannot log in just now", Text: err.Error()}.Show(w, http.StatusServiceUnavailable)
		}
	case strings.HasSuffix(r.URL.Path, "/callback"):
		l.back(w, r)
	default:
		login.Page{Title: "This is no page"}.Show(w, http.StatusNotFound)
	}
}

// back handles a browser that returns with a code or a refusal.
func (l *Logins) back(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	verifier, ok := l.pages.Back(r)
	switch {
	case !ok:
		login.Page{Title: "This is not the login that is waited for", Text: "Or it took too long. Open the link once more."}.Show(w, http.StatusBadRequest)
		return
	case q.Get("error") != "":
		login.Page{Title: "Workday has refused the login", Text: q.Get("error") + " " + q.Get("error_description")}.Show(w, http.StatusForbidden)
		return
	}
	who, err := l.keep(r.Context(), q.Get("code"), verifier)
	if err != nil {
		l.cfg.Logger.WarnContext(r.Context(), "a login at Workday has failed", slog.Any("error", err))
		login.Page{Title: "The login has failed", Text: reasonOf(err)}.Show(w, http.StatusBadGateway)
		return
	}
	login.Page{Title: "You have logged in as " + who.Descriptor, Text: "Manifold can do at Workday now what only you may do, when you ask for it and approve it. This page can be closed."}.Show(w, http.StatusOK)
}

func reasonOf(err error) string {
	if e, is := AsError(err); is {
		return e.Reason()
	}
	return "The log of the service says why."
}

// keep exchanges a code for tokens, reads from the tenant whose they are, and stores them as the
// login of that worker.
func (l *Logins) keep(ctx context.Context, code, verifier string) (Worker, error) {
	ctx = context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, &http.Client{Transport: l.cfg.Transport, Timeout: refreshTimeout, CheckRedirect: noRedirect})
	granted, err := l.oauth.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		return Worker{}, refused(err)
	}
	if granted.RefreshToken == "" {
		return Worker{}, &Error{Op: "login", Kind: KindInternal, Message: "the API client gives no refresh tokens"}
	}
	var g login.Grant
	g.Take(granted, l.cfg.Now())
	fresh, err := l.client(login.NewMemory(g))
	if err != nil {
		return Worker{}, err
	}
	who, err := fresh.Worker(ctx, "me")
	if err != nil {
		return Worker{}, err
	}
	if !workerID.MatchString(who.ID) {
		return Worker{}, &Error{Op: "login", Kind: KindInvalid, Message: "the account is no worker's"}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.clients, who.ID) // it holds the old tokens
	return who, l.file(who.ID).Save(ctx, g)
}
