package mcp

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/manifold-run/manifold/contracts"
)

const (
	loginPath    = "/login/"
	callbackPath = loginPath + "callback"
	// flowTime is how long a person may take at the authorisation server.
	flowTime = 10 * time.Minute
	// maxFlows bounds the logins under way.
	maxFlows = 1000
	// flowCookie ties the answer of the authorisation server to the browser that asked.
	flowCookie = "manifold_login"
)

// linkText has no character that Markdown gives a meaning.
var linkText = base32.StdEncoding.WithPadding(base32.NoPadding) //nolint:gochecknoglobals // a constant that Go cannot spell

// link names a person, and cannot be made by others.
func (l *Logins) link(who string) (string, error) {
	if len(who) > 200 {
		return "", contracts.Errorf(contracts.CodeInvalid, "the name of whoever asks is too long for a link")
	}
	return linkText.EncodeToString(l.links.seal([]byte(who), l.cfg.Server.URL)), nil
}

func (l *Logins) personOf(link string) (who string, ok bool) {
	raw, err := linkText.DecodeString(link)
	if err != nil {
		return "", false
	}
	plain, ok := l.links.open(raw, l.cfg.Server.URL)
	return string(plain), ok
}

// flow is one login under way.
type flow struct {
	who, browser string
	until        time.Time
	came         chan url.Values // one answer
	ended        chan struct{}   // closed when code and err are set
	code         string
	err          error
}

// ServeHTTP is what browsers see: a page that says who asks, the way to the authorisation
// server and back, and the code.
func (l *Logins) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
	} {
		w.Header().Set(name, value)
	}
	switch {
	case r.URL.Path == callbackPath && r.Method == http.MethodGet:
		l.back(w, r)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		page(w, http.StatusMethodNotAllowed, pageData{Title: "This is no page"})
		return
	}
	who, ok := l.personOf(strings.TrimPrefix(r.URL.Path, loginPath))
	if !ok {
		page(w, http.StatusNotFound, pageData{Title: "This link is not good", Text: "Ask again, and take the link of the newest question."})
		return
	}
	if r.Method == http.MethodGet {
		page(w, http.StatusOK, pageData{
			Title: "Log in at " + l.account(), Button: "Log in",
			Text: who + " has asked Manifold to do something at " + l.account() + ". If that is you, log in there with your own account. If it is not, close this page.",
		})
		return
	}
	l.leave(w, r, who)
}

// leave sends a browser to the authorisation server.
func (l *Logins) leave(w http.ResponseWriter, r *http.Request, who string) {
	f := &flow{who: who, browser: rand.Text(), until: l.cfg.Login.Now().Add(flowTime), came: make(chan url.Values, 1), ended: make(chan struct{})}
	shown := make(chan *url.URL, 1)
	go l.run(context.WithoutCancel(r.Context()), f, shown)
	select {
	case link := <-shown:
		http.SetCookie(w, &http.Cookie{ //nolint:gosec // it is secure wherever the bridge is
			Name: flowCookie, Value: f.browser, Path: l.path, HttpOnly: true, SameSite: http.SameSiteLaxMode,
			Secure: strings.HasPrefix(l.cfg.PublicURL, "https://"), MaxAge: int(flowTime.Seconds()),
		})
		http.Redirect(w, r, link.String(), http.StatusSeeOther)
	case <-f.ended:
		l.fail(w, r, f.err)
	case <-r.Context().Done():
	}
}

// run is one login, from the first request to the tokens.
func (l *Logins) run(ctx context.Context, f *flow, shown chan<- *url.URL) {
	ctx, cancel := context.WithTimeout(ctx, flowTime)
	defer cancel()
	defer close(f.ended)
	login := l.cfg.Login
	login.ClientID, login.ClientSecret = l.client()
	g, err := login.granted(ctx, l.cfg.PublicURL+callbackPath, func(ctx context.Context, link *url.URL) (*auth.AuthorizationResult, error) {
		state := link.Query().Get("state")
		if err := l.waitFor(state, f); err != nil {
			return nil, err
		}
		defer l.over(state)
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
		_ = l.remember(&grant{}) // the client may be what is wrong: the next login registers one
	}
}

func (l *Logins) waitFor(state string, f *flow) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.flows) >= maxFlows || state == "" {
		return contracts.Errorf(contracts.CodeUnavailable, "too many people log in just now")
	}
	l.flows[state] = f
	return nil
}

func (l *Logins) over(state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.flows, state)
}

// back takes what the authorisation server has sent a browser back with.
func (l *Logins) back(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	l.mu.Lock()
	f := l.flows[q.Get("state")]
	l.mu.Unlock()
	cookie, err := r.Cookie(flowCookie)
	if f == nil || err != nil || cookie.Value != f.browser {
		page(w, http.StatusBadRequest, pageData{Title: "This is not the login that is waited for", Text: "Open the link of the question once more."})
		return
	}
	select {
	case f.came <- q:
	default: // it was here before
	}
	select {
	case <-f.ended:
	case <-r.Context().Done():
		return
	}
	if f.err != nil {
		l.fail(w, r, f.err)
		return
	}
	page(w, http.StatusOK, pageData{
		Title: "Your code is " + f.code,
		Text:  "Answer the question of Manifold with it. Give it to nobody: it lets " + f.who + " use the account that you have logged in with.",
	})
}

func (l *Logins) fail(w http.ResponseWriter, r *http.Request, err error) {
	l.base.cfg.Logger.WarnContext(r.Context(), "a login has failed", slog.String("server", l.cfg.Server.URL), slog.String("why", words(err)))
	page(w, http.StatusBadGateway, pageData{Title: "The login has failed", Text: contracts.CleanSummary(words(err))})
}

type pageData struct{ Title, Text, Button string }

func page(w http.ResponseWriter, status int, data pageData) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	layout := template.Must(template.New("page").Parse(`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>{{.Title}}</title><h1>{{.Title}}</h1><p>{{.Text}}</p>{{if .Button}}<form method="post"><button>{{.Button}}</button></form>{{end}}</html>
`))
	_ = layout.Execute(w, data) // who does not read has gone
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}
