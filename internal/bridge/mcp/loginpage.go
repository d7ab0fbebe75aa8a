package mcp

import (
	"context"
	"encoding/base32"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/login"
)

const (
	loginPath    = "/login/"
	callbackPath = loginPath + "callback"
)

// linkText encodes without characters that Markdown interprets.
var linkText = base32.StdEncoding.WithPadding(base32.NoPadding) //nolint:gochecknoglobals // a constant that Go cannot spell

// link returns a token that names a person and cannot be forged.
func (l *Logins) link(who string) (string, error) {
	if len(who) > 200 {
		return "", contracts.Errorf(contracts.CodeInvalid, "the name of whoever asks is too long for a link")
	}
	return linkText.EncodeToString(l.links.Seal([]byte(who), l.cfg.Server.URL)), nil
}

func (l *Logins) personOf(link string) (who string, ok bool) {
	raw, err := linkText.DecodeString(link)
	if err != nil {
		return "", false
	}
	plain, ok := l.links.Open(raw, l.cfg.Server.URL)
	return string(plain), ok
}

// flow is one login in progress.
type flow struct {
	who    string
	cancel context.CancelFunc
	came   chan url.Values // the callback's query
	ended  chan struct{}   // closed when code and err are set
	code   string
	err    error
}

// ServeHTTP serves the pages of a login: the start page that names the person, the redirect to the
// authorization server and the callback with the code.
func (l *Logins) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == callbackPath && r.Method == http.MethodGet:
		l.back(w, r)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		login.Page{Title: "This is no page"}.Show(w, http.StatusMethodNotAllowed)
		return
	}
	who, ok := l.personOf(strings.TrimPrefix(r.URL.Path, loginPath))
	if !ok {
		login.Page{Title: "This link is not good", Text: "Ask again, and take the link of the newest question."}.Show(w, http.StatusNotFound)
		return
	}
	if r.Method == http.MethodGet {
		login.Page{
			Title: "Log in at " + l.account(), Button: "Log in",
			Text: who + " has asked Manifold to do something at " + l.account() + ". If that is you, log in there with your own account. If it is not, close this page.",
		}.Show(w, http.StatusOK)
		return
	}
	l.leave(w, r, who)
}

// leave redirects a browser to the authorization server.
func (l *Logins) leave(w http.ResponseWriter, r *http.Request, who string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), login.BrowserTime)
	f := &flow{who: who, cancel: cancel, came: make(chan url.Values, 1), ended: make(chan struct{})}
	shown := make(chan *url.URL, 1)
	go l.run(ctx, f, shown)
	select {
	case link := <-shown:
		if err := l.pages.Leave(w, r, link.String(), link.Query().Get("state"), f); err != nil {
			cancel()
			l.fail(w, r, err)
		}
	case <-f.ended:
		l.fail(w, r, f.err)
	case <-r.Context().Done():
		cancel()
	}
}

// run performs one login, from the first request to the tokens.
func (l *Logins) run(ctx context.Context, f *flow, shown chan<- *url.URL) {
	defer f.cancel()
	defer close(f.ended)
	one := l.cfg.Login
	one.ClientID, one.ClientSecret = l.client()
	g, err := one.granted(ctx, l.cfg.PublicURL+callbackPath, func(ctx context.Context, link *url.URL) (*auth.AuthorizationResult, error) {
		shown <- link
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case q := <-f.came:
			return authorized(q)
		}
	})
	if err == nil {
		err = l.remember(g)
	}
	if err == nil {
		f.code, err = l.keep(f.who, g)
	}
	if f.err = err; err != nil && l.cfg.Login.ClientID == "" {
		_ = l.remember(&login.Grant{}) // the client may be the cause: the next login registers a new one
	}
}

// back handles the callback of the authorization server.
func (l *Logins) back(w http.ResponseWriter, r *http.Request) {
	f, ok := l.pages.Back(r)
	if !ok {
		login.Page{Title: "This is not the login that is waited for", Text: "Open the link of the question once more."}.Show(w, http.StatusBadRequest)
		return
	}
	f.came <- r.URL.Query()
	select {
	case <-f.ended:
	case <-r.Context().Done():
		return
	}
	if f.err != nil {
		l.fail(w, r, f.err)
		return
	}
	login.Page{
		Title: "Your code is " + f.code,
		Text:  "Answer the question of Manifold with it. Give it to nobody: it lets " + f.who + " use the account that you have logged in with.",
	}.Show(w, http.StatusOK)
}

func (l *Logins) fail(w http.ResponseWriter, r *http.Request, err error) {
	l.base.cfg.Logger.WarnContext(r.Context(), "a login has failed", slog.String("server", l.cfg.Server.URL), slog.String("why", words(err)))
	login.Page{Title: "The login has failed", Text: contracts.CleanSummary(words(err))}.Show(w, http.StatusBadGateway)
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}
