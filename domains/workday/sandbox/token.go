package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// systemUser is the subject of the integration system user's tokens.
const systemUser = "ISU_Manifold"

// tokens holds the API client, the valid refresh tokens and the issued access tokens. The tenant's
// mutex guards it.
type tokens struct {
	tenant                 string
	clientID, clientSecret string
	refresh                map[string]string // token to subject
	access                 map[string]access
	codes                  map[string]code
	issued                 int
}

type access struct {
	subject string
	expires time.Time
}

func newTokens(cfg Config) tokens {
	return tokens{
		tenant:       cfg.Tenant,
		clientID:     digest("client", fmt.Sprint(cfg.Seed)),
		clientSecret: digest("secret", fmt.Sprint(cfg.Seed)),
		refresh:      map[string]string{},
		access:       map[string]access{},
		codes:        map[string]code{},
	}
}

// digest returns an id derived from words.
func digest(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "/")))
	return hex.EncodeToString(sum[:16])
}

// issue returns a token that is unique within the tenant.
func (k *tokens) issue(kind, subject string) string {
	k.issued++
	return digest(kind, subject, k.clientSecret, fmt.Sprint(k.issued))
}

func (k *tokens) credentials(subject string) Credentials {
	token := k.issue("refresh", subject)
	k.refresh[token] = subject
	return Credentials{Tenant: k.tenant, ClientID: k.clientID, ClientSecret: k.clientSecret, RefreshToken: token}
}

// subjectOf returns the user of an access token.
func (k *tokens) subjectOf(authorization string, now time.Time) (string, bool) {
	token, isBearer := strings.CutPrefix(authorization, "Bearer ")
	a, known := k.access[token]
	return a.subject, isBearer && known && now.Before(a.expires)
}

// oauthError is the error response of RFC 6749.
type oauthError struct {
	Code        string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

// serveToken is the OAuth 2 token endpoint. The client authenticates with HTTP Basic or form
// fields.
func (t *Tenant) serveToken(r *http.Request, form url.Values) reply {
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = form.Get("client_id"), form.Get("client_secret")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if form.Get("grant_type") == grantJWT {
		return t.serveAssertion(id, form.Get("assertion"))
	}
	if id != t.tokens.clientID || secret != t.tokens.clientSecret {
		return reply{http.StatusUnauthorized, oauthError{Code: "invalid_client"}}
	}
	switch form.Get("grant_type") {
	case "refresh_token":
	case "authorization_code":
		return t.redeem(form)
	default:
		return reply{http.StatusBadRequest, oauthError{Code: "unsupported_grant_type"}}
	}
	old := form.Get("refresh_token")
	subject, known := t.tokens.refresh[old]
	if !known {
		return reply{http.StatusBadRequest, oauthError{"invalid_grant", "the refresh token is unknown, used or revoked"}}
	}
	return reply{http.StatusOK, t.grant(old, subject)}
}

const grantJWT = "urn:ietf:params:oauth:grant-type:jwt-bearer"

// serveAssertion answers a client that sends a signed assertion instead of a refresh token. The
// caller holds mu.
func (t *Tenant) serveAssertion(id, assertion string) reply {
	refuse := func(why string) reply {
		return reply{http.StatusBadRequest, oauthError{"invalid_grant", why}}
	}
	if t.cfg.JWTKey == nil || id != t.tokens.clientID {
		return reply{http.StatusUnauthorized, oauthError{Code: "invalid_client"}}
	}
	claims := jwt.RegisteredClaims{}
	_, err := jwt.ParseWithClaims(assertion, &claims, func(*jwt.Token) (any, error) { return t.cfg.JWTKey, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(t.tokens.clientID), jwt.WithAudience("wd"), jwt.WithExpirationRequired(), jwt.WithTimeFunc(t.books.now))
	if err != nil {
		return refuse(err.Error())
	}
	if claims.Subject != systemUser {
		return refuse("the subject is no user of the tenant")
	}
	out := t.accessFor(claims.Subject)
	return reply{http.StatusOK, out}
}

// accessFor issues an access token. The caller holds mu.
func (t *Tenant) accessFor(subject string) map[string]any {
	token := t.tokens.issue("access", subject)
	t.tokens.access[token] = access{subject: subject, expires: t.books.now().Add(t.cfg.TokenTTL)}
	seconds := int(t.cfg.TokenTTL.Seconds())
	out := map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": seconds}
	if t.cfg.StringExpiry {
		out["expires_in"] = fmt.Sprint(seconds)
	}
	return out
}

// grant issues an access token and, unless KeepRefreshToken is set, a new refresh token that
// replaces the used one. The caller holds mu.
func (t *Tenant) grant(old, subject string) map[string]any {
	out := t.accessFor(subject)
	if t.cfg.KeepRefreshToken {
		out["refresh_token"] = old
		return out
	}
	delete(t.tokens.refresh, old)
	next := t.tokens.issue("refresh", subject)
	t.tokens.refresh[next] = subject
	out["refresh_token"] = next
	return out
}
