package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/gates"
)

// The cookie of a signed-in browser. Over TLS its prefix keeps other hosts of the site from setting it.
const (
	cookieName       = "manifold_session"
	secureCookieName = "__Host-manifold_session"
	csrfHeader       = "X-CSRF-Token"
)

// browsers authenticates requests by the sign-in cookie. Browsers send cookies without the user's
// intent, so a request that changes something must come from a page of this server and carry a
// CSRF token that only such a page can read.
type browsers struct {
	signIns *access.SignIns
	cross   *http.CrossOriginProtection
	secure  bool // people use https to reach this server
}

func newBrowsers(signIns *access.SignIns, publicURL string) (*browsers, error) {
	b := &browsers{signIns: signIns, cross: http.NewCrossOriginProtection()}
	at, err := url.Parse(publicURL)
	if err != nil || at.Host == "" {
		return b, nil //nolint:nilerr // who makes links says what is wrong with it
	}
	b.secure = at.Scheme == "https"
	return b, b.cross.AddTrustedOrigin(at.Scheme + "://" + at.Host)
}

// token returns the token of the cookie, "" if there is none.
func (b *browsers) token(c *gin.Context) string {
	cookie, err := c.Request.Cookie(b.cookieName(c))
	if err != nil {
		return ""
	}
	return cookie.Value
}

func (b *browsers) isSecure(c *gin.Context) bool { return b.secure || c.Request.TLS != nil }

func (b *browsers) cookieName(c *gin.Context) string {
	if b.isSecure(c) {
		return secureCookieName
	}
	return cookieName
}

// set sets the cookie, or deletes it if token is "".
func (b *browsers) set(c *gin.Context, token string) {
	cookie := &http.Cookie{ //nolint:gosec // Secure wherever there is TLS
		Name: b.cookieName(c), Value: token, Path: "/", HttpOnly: true, Secure: b.isSecure(c), SameSite: http.SameSiteStrictMode,
	}
	if token == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(c.Writer, cookie)
}

// read returns the sign-in of a request's cookie. active is true for a request of the user, and false
// for the repeated check of a stream, which does not extend the sign-in.
func (b *browsers) read(c *gin.Context, active bool) (access.SignIn, error) {
	in, err := b.signIns.Read(c.Request.Context(), b.token(c), active)
	if err != nil {
		return in, err
	}
	in.Who.Via = gates.ByPage
	if c.Request.Method == http.MethodGet || c.Request.Method == http.MethodHead {
		return in, nil
	}
	if err := b.ownPage(c); err != nil {
		return in, err
	}
	if !in.SameCSRF(c.GetHeader(csrfHeader)) {
		return in, contracts.Errorf(contracts.CodeForbidden, "the header %s must say what /v1/session gives as csrf", csrfHeader)
	}
	return in, nil
}

// ownPage rejects requests from pages of other sites.
func (b *browsers) ownPage(c *gin.Context) error {
	if b.cross.Check(c.Request) != nil {
		return contracts.Errorf(contracts.CodeForbidden, "another site has sent this")
	}
	return nil
}

// signInRoutes serve signing in and out of browsers.
type signInRoutes struct {
	signIns  *access.SignIns
	callers  *callers
	browsers *browsers
}

func (s *signInRoutes) routes() []route {
	return []route{
		{http.MethodPost, "/v1/session", true, s.signIn},
		{http.MethodGet, "/v1/session", true, s.show},
		{http.MethodDelete, "/v1/session", false, s.signOut},
		{http.MethodPost, "/v1/session/link", false, s.link},
	}
}

// signIn creates a sign-in with a new token and ends the browser's previous one.
func (s *signInRoutes) signIn(k *call) error {
	if err := s.browsers.ownPage(k.gin); err != nil {
		return err
	}
	var body contracts.SignIn
	if err := k.body(contracts.SchemaSignIn, &body, maxForm); err != nil {
		return err
	}
	if body.Key != "" && body.Link != "" {
		return contracts.Errorf(contracts.CodeInvalid, "sign in with a key or with a link, not with both")
	}
	in, err := s.made(k, body)
	if err != nil {
		return s.callers.failed(k.gin, err)
	}
	k.gin.Set(keySubject, in.Who.Subject())
	if err := s.signIns.End(k.ctx(), s.browsers.token(k.gin)); err != nil {
		return err
	}
	s.browsers.set(k.gin, in.Token)
	return k.ok(signedIn(in))
}

func (s *signInRoutes) made(k *call, body contracts.SignIn) (access.SignIn, error) {
	if body.Link != "" {
		return s.signIns.WithLink(k.ctx(), body.Link)
	}
	return s.signIns.WithKey(k.ctx(), strings.TrimSpace(body.Key))
}

func signedIn(in access.SignIn) contracts.SignedIn {
	return contracts.SignedIn{
		User: contracts.SignedInUser{ID: in.Who.Subject(), Name: in.Who.Person(), Roles: names(in.Who.Roles), KeyID: in.Who.KeyID, Scopes: scopes(in.Who.Scopes)},
		CSRF: in.CSRF, ExpiresAt: in.Idle.UTC(), EndsAt: in.Ends.UTC(),
	}
}

// show returns the current sign-in, or 204 if there is none.
func (s *signInRoutes) show(k *call) error {
	in, err := s.browsers.read(k.gin, false)
	if contracts.CodeOf(err) == contracts.CodeUnauthorized {
		k.gin.Status(http.StatusNoContent)
		return nil
	}
	if err != nil {
		return err
	}
	return k.ok(signedIn(in))
}

func (s *signInRoutes) signOut(k *call) error {
	if err := s.signIns.End(k.ctx(), s.browsers.token(k.gin)); err != nil {
		return err
	}
	s.browsers.set(k.gin, "")
	k.gin.Status(http.StatusNoContent)
	return nil
}

// link returns a sign-in link for the caller.
func (s *signInRoutes) link(k *call) error {
	token, until, err := s.signIns.Link(k.ctx(), k.who)
	if err != nil {
		return err
	}
	return k.json(http.StatusCreated, contracts.SignInLink{Token: token, ExpiresAt: until})
}
