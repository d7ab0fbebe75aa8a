package login

import (
	"crypto/rand"
	"crypto/subtle"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

const (
	// BrowserTime is how long a person may take at the authorization server.
	BrowserTime = 10 * time.Minute
	// maxUnderWay bounds the logins under way.
	maxUnderWay = 1000
	// cookieName ties the answer of the authorization server to the browser that was sent
	// there.
	cookieName = "manifold_login"
)

// Pages send browsers to an authorization server and take them back. T is what a login
// is known by.
type Pages[T any] struct {
	// URL is where browsers reach the pages.
	URL string
	// Path is that of the cookie ["/"].
	Path string
	Now  func() time.Time

	mu       sync.Mutex // guards underWay
	underWay map[string]underWay[T]
}

type underWay[T any] struct {
	login   T
	browser string
	until   time.Time
}

// Leave sends a browser to the link of a login, whose state it has.
func (p *Pages[T]) Leave(w http.ResponseWriter, r *http.Request, link, state string, login T) error {
	one := underWay[T]{login, rand.Text(), p.Now().Add(BrowserTime)}
	if err := p.begin(state, one); err != nil {
		return err
	}
	headers(w)
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // it is secure wherever the pages are
		Name: cookieName, Value: one.browser, Path: p.Path, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(p.URL, "https://"), MaxAge: int(BrowserTime.Seconds()),
	})
	http.Redirect(w, r, link, http.StatusSeeOther)
	return nil
}

func (p *Pages[T]) begin(state string, one underWay[T]) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for of, other := range p.underWay {
		if p.Now().After(other.until) {
			delete(p.underWay, of)
		}
	}
	if len(p.underWay) >= maxUnderWay || state == "" {
		return contracts.Errorf(contracts.CodeUnavailable, "too many people log in just now; try again in some minutes")
	}
	if p.underWay == nil {
		p.underWay = map[string]underWay[T]{}
	}
	p.underWay[state] = one
	return nil
}

// Back gives the login of a browser that comes back, once, and only to the browser that
// was sent away.
func (p *Pages[T]) Back(r *http.Request) (login T, ok bool) {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return login, false
	}
	state := r.URL.Query().Get("state")
	p.mu.Lock()
	defer p.mu.Unlock()
	one, known := p.underWay[state]
	if !known || subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(one.browser)) != 1 || p.Now().After(one.until) {
		return login, false
	}
	delete(p.underWay, state)
	return one.login, true
}

// Page is what a browser shows.
type Page struct {
	Title, Text string
	// Button, if given, sends a form to the page itself.
	Button string
}

// Show writes a page.
func (p Page) Show(w http.ResponseWriter, status int) {
	headers(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	layout := template.Must(template.New("page").Parse(`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>{{.Title}}</title><h1>{{.Title}}</h1><p>{{.Text}}</p>{{if .Button}}<form method="post"><button>{{.Button}}</button></form>{{end}}</html>
`))
	_ = layout.Execute(w, p) // who does not read has gone
}

func headers(w http.ResponseWriter) {
	for name, value := range map[string]string{
		"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
	} {
		w.Header().Set(name, value)
	}
}
