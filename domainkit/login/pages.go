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
	// BrowserTime is how long a person may take to log in at the authorization server.
	BrowserTime = 10 * time.Minute
	// maxUnderWay bounds the pending logins.
	maxUnderWay = 1000
	// cookieName is the cookie that binds a login to the browser that started it.
	cookieName = "manifold_login"
)

// Pages redirects browsers to an authorization server and handles their return. T is the caller's
// data of a pending login. Pages is safe for concurrent use.
type Pages[T any] struct {
	// URL is the public URL of the pages.
	URL string
	// Path is the path of the cookie ["/"].
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

// Leave stores a pending login under the state of its link and redirects the browser to link. It
// returns an error of code unavailable if too many logins are pending.
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

// Back returns the pending login of a callback request. It succeeds once, within BrowserTime, and
// only in the browser that Leave redirected.
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

// Page is a simple HTML page.
type Page struct {
	Title, Text string
	// Button, if set, is the label of a button that posts an empty form to the page itself.
	Button string
}

// Show writes the page with an HTTP status.
func (p Page) Show(w http.ResponseWriter, status int) {
	headers(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	layout := template.Must(template.New("page").Parse(`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>{{.Title}}</title><h1>{{.Title}}</h1><p>{{.Text}}</p>{{if .Button}}<form method="post"><button>{{.Button}}</button></form>{{end}}</html>
`))
	_ = layout.Execute(w, p) // the client is gone
}

func headers(w http.ResponseWriter) {
	for name, value := range map[string]string{
		"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
	} {
		w.Header().Set(name, value)
	}
}
