package rest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

// LoginConfig says how people log in at the tenant with their own accounts.
type LoginConfig struct {
	// Dir keeps the refresh token of each person.
	Dir string
	// URL is where people reach the pages of Logins, such as https://manifold.example.com/workday.
	URL string
	// AuthorizeURL is the OAuth 2 authorization endpoint [BaseURL/ccx/oauth2/{tenant}/authorize].
	AuthorizeURL string
	// ClientID and ClientSecret are those of an API client with the grant type authorization
	// code [those of the tenant].
	ClientID, ClientSecret string
}

const (
	loginTime = 10 * time.Minute // for a person to log in
	maxLogins = 1000             // under way
	// loginCookie ties the answer of the tenant to the browser that was sent there.
	loginCookie = "workday_login"
)

// Logins are clients that act as a person, each with the token that the person has granted
// by logging in at the tenant: the authorization code with PKCE. A token is kept under the
// worker whom the tenant says it is of, so it serves nobody else, whoever opened the link.
type Logins struct {
	cfg   Config
	login LoginConfig
	oauth oauth2.Config

	mu       sync.Mutex // guards the fields below
	clients  map[string]*Client
	underWay map[string]loginFlow // by state
}

type loginFlow struct {
	verifier string
	until    time.Time
}

// NewLogins makes the folder of the tokens, if it is not there.
func NewLogins(cfg Config, login LoginConfig) (*Logins, error) {
	cfg.JWT, cfg.Tokens = nil, NewMemoryTokens("")
	if login.ClientID != "" {
		cfg.ClientID, cfg.ClientSecret = login.ClientID, login.ClientSecret
	}
	cfg.setDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Transport == nil {
		cfg.Transport = defaultTransport() // all share its connections
	}
	if login.AuthorizeURL == "" {
		login.AuthorizeURL = cfg.BaseURL + "/ccx/oauth2/" + url.PathEscape(cfg.Tenant) + "/authorize"
	}
	if err := cfg.checkHost(login.AuthorizeURL); err != nil {
		return nil, err
	}
	login.URL = strings.TrimSuffix(login.URL, "/")
	if at, err := url.Parse(login.URL); err != nil || at.Host == "" {
		return nil, fmt.Errorf("workday logins: %q is no address that browsers reach", login.URL)
	}
	if err := os.MkdirAll(login.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("workday logins: %w", err)
	}
	return &Logins{
		cfg: cfg, login: login, clients: map[string]*Client{}, underWay: map[string]loginFlow{},
		oauth: oauth2.Config{
			ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret, RedirectURL: login.URL + "/callback",
			Endpoint: oauth2.Endpoint{AuthURL: login.AuthorizeURL, TokenURL: cfg.TokenURL, AuthStyle: oauth2.AuthStyleInHeader},
		},
	}, nil
}

// Link is what a person opens to log in.
func (l *Logins) Link() string { return l.login.URL + "/login" }

var workerID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Client gives the client that acts as a worker, nil when they have not logged in.
func (l *Logins) Client(worker string) (*Client, error) {
	if !workerID.MatchString(worker) {
		return nil, nil //nolint:nilnil // nobody else can have logged in
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.clients[worker]; c != nil {
		return c, nil
	}
	if _, err := os.Stat(l.file(worker)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // they have not logged in
	} else if err != nil {
		return nil, fmt.Errorf("workday logins: %w", err)
	}
	c, err := l.client(NewFileTokens(l.file(worker), ""))
	if err == nil {
		l.clients[worker] = c
	}
	return c, err
}

// Forget drops a login that the tenant does not take any more.
func (l *Logins) Forget(worker string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.clients, worker)
	if err := os.Remove(l.file(worker)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.cfg.Logger.Warn("a login that has ended is still kept", slog.Any("error", err))
	}
}

func (l *Logins) file(worker string) string { return filepath.Join(l.login.Dir, worker+".json") }

func (l *Logins) client(tokens TokenStore) (*Client, error) {
	cfg := l.cfg
	cfg.Tokens = tokens
	return New(cfg)
}

// ServeHTTP sends browsers to the tenant and takes them back.
func (l *Logins) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
	} {
		w.Header().Set(name, value)
	}
	switch {
	case r.Method != http.MethodGet:
		loginPage(w, http.StatusMethodNotAllowed, "This is no page", "")
	case strings.HasSuffix(r.URL.Path, "/login"):
		l.leave(w, r)
	case strings.HasSuffix(r.URL.Path, "/callback"):
		l.back(w, r)
	default:
		loginPage(w, http.StatusNotFound, "This is no page", "")
	}
}

// leave sends a browser to the tenant.
func (l *Logins) leave(w http.ResponseWriter, r *http.Request) {
	state, flow := rand.Text(), loginFlow{oauth2.GenerateVerifier(), l.cfg.Now().Add(loginTime)}
	if !l.begin(state, flow) {
		loginPage(w, http.StatusServiceUnavailable, "Too many people log in just now", "Try again in some minutes.")
		return
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // it is secure wherever the page is
		Name: loginCookie, Value: state, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(l.login.URL, "https://"), MaxAge: int(loginTime.Seconds()),
	})
	http.Redirect(w, r, l.oauth.AuthCodeURL(state, oauth2.S256ChallengeOption(flow.verifier)), http.StatusSeeOther)
}

func (l *Logins) begin(state string, flow loginFlow) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for of, other := range l.underWay {
		if l.cfg.Now().After(other.until) {
			delete(l.underWay, of)
		}
	}
	if len(l.underWay) >= maxLogins {
		return false
	}
	l.underWay[state] = flow
	return true
}

// end takes the login with a state, once.
func (l *Logins) end(state string) (loginFlow, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	flow, known := l.underWay[state]
	delete(l.underWay, state)
	return flow, known && !l.cfg.Now().After(flow.until)
}

// back takes a browser that the tenant has sent back, with a code or a refusal.
func (l *Logins) back(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	cookie, err := r.Cookie(loginCookie)
	if err != nil || cookie.Value != q.Get("state") {
		loginPage(w, http.StatusBadRequest, "This is not the login that is waited for", "Open the link once more.")
		return
	}
	flow, known := l.end(q.Get("state"))
	switch {
	case !known:
		loginPage(w, http.StatusBadRequest, "This login took too long", "Open the link once more.")
		return
	case q.Get("error") != "":
		loginPage(w, http.StatusForbidden, "Workday has refused the login", q.Get("error")+" "+q.Get("error_description"))
		return
	}
	who, err := l.keep(r.Context(), q.Get("code"), flow.verifier)
	if err != nil {
		l.cfg.Logger.WarnContext(r.Context(), "a login at Workday has failed", slog.Any("error", err))
		loginPage(w, http.StatusBadGateway, "The login has failed", reasonOf(err))
		return
	}
	loginPage(w, http.StatusOK, "You have logged in as "+who.Descriptor, "Manifold can do at Workday now what only you may do, when you ask for it and approve it. This page can be closed.")
}

func reasonOf(err error) string {
	if e, is := AsError(err); is {
		return e.Reason()
	}
	return "The log of the service says why."
}

// keep exchanges a code for tokens, asks the tenant whose they are, and keeps them as the
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
	fresh, err := l.client(NewMemoryTokens(granted.RefreshToken))
	if err != nil {
		return Worker{}, err
	}
	fresh.tokens.take(granted)
	who, err := fresh.Worker(ctx, "me")
	if err != nil {
		return Worker{}, err
	}
	if !workerID.MatchString(who.ID) {
		return Worker{}, &Error{Op: "login", Kind: KindInvalid, Message: "the account is no worker's"}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	tokens := NewFileTokens(l.file(who.ID), "")
	if err := tokens.Save(ctx, granted.RefreshToken); err != nil {
		return Worker{}, err
	}
	kept, err := l.client(tokens)
	if err != nil {
		return Worker{}, err
	}
	kept.tokens.take(granted)
	l.clients[who.ID] = kept
	return who, nil
}

func loginPage(w http.ResponseWriter, status int, title, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	layout := template.Must(template.New("page").Parse(`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>{{.Title}}</title><h1>{{.Title}}</h1><p>{{.Text}}</p></html>
`))
	_ = layout.Execute(w, struct{ Title, Text string }{title, text}) // who does not read has gone
}
