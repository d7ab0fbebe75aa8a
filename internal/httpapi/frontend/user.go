// Package frontend reads what chat frontends say of their users: who is asking,
// signed or only told, and which roles they named last.
package frontend

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/manifold-run/manifold/contracts"
)

// Header reads a header that an admin has to set up. A place that the frontend
// did not fill in counts as not sent.
func Header(h http.Header, name string) (string, bool) {
	values, sent := h[http.CanonicalHeaderKey(name)]
	if !sent || len(values) == 0 || strings.HasPrefix(values[0], "{{") {
		return "", false
	}
	return strings.TrimSpace(values[0]), true
}

// User is who a frontend says is asking.
type User struct{ ID, Email, Role string }

// Name is what the person is called here: the address, because the same person
// may also have a key of their own under it, and nobody may be their own second
// pair of eyes.
func (u User) Name() string { return cmp.Or(strings.ToLower(u.Email), u.ID) }

// Told is the user whom a chat frontend tells of in plain headers.
func Told(h http.Header) User {
	told := func(what string) string {
		open, _ := Header(h, "X-OpenWebUI-User-"+what)
		other, _ := Header(h, "X-User-"+what)
		return cmp.Or(open, other)
	}
	return User{ID: told("Id"), Email: told("Email"), Role: strings.ToLower(told("Role"))}
}

// userClaims are what Open WebUI signs of its user.
type userClaims struct {
	jwt.RegisteredClaims

	Email string `json:"email"`
	Role  string `json:"role"`
}

// Verify checks the HS256 token that Open WebUI signs its user with.
func Verify(token string, secret []byte, now time.Time) (User, error) {
	var claims userClaims
	_, err := jwt.ParseWithClaims(
		token, &claims, func(*jwt.Token) (any, error) { return secret, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithIssuer("open-webui"), jwt.WithExpirationRequired(),
		jwt.WithLeeway(30*time.Second), jwt.WithTimeFunc(func() time.Time { return now }),
	)
	user := User{ID: claims.Subject, Email: claims.Email, Role: claims.Role}
	switch {
	case errors.Is(err, jwt.ErrTokenExpired), errors.Is(err, jwt.ErrTokenNotValidYet), errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return User{}, contracts.Errorf(contracts.CodeUnauthorized, "the signed user has expired; do the clocks agree?")
	case err != nil, user.Name() == "":
		return User{}, contracts.Errorf(contracts.CodeUnauthorized, "the signed user is not valid; is the secret the same on both sides?")
	}
	return user, nil
}
