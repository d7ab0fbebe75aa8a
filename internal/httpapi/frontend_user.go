package httpapi

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/manifold-run/manifold/contracts"
)

// frontendHeader reads a header that an admin must configure. An unfilled template ("{{…") counts as
// absent.
func frontendHeader(h http.Header, name string) (string, bool) {
	values, sent := h[http.CanonicalHeaderKey(name)]
	if !sent || len(values) == 0 || strings.HasPrefix(values[0], "{{") {
		return "", false
	}
	return strings.TrimSpace(values[0]), true
}

// frontendUser is the user that a frontend names.
type frontendUser struct{ ID, Email, Role string }

// Name returns the person's name here: the address, because the same person may also have a key
// under it, and nobody may be their own second approver.
func (u frontendUser) Name() string { return cmp.Or(strings.ToLower(u.Email), u.ID) }

// userFromHeaders returns the user that a chat frontend names in unsigned headers.
func userFromHeaders(h http.Header) frontendUser {
	told := func(what string) string {
		open, _ := frontendHeader(h, "X-OpenWebUI-User-"+what)
		other, _ := frontendHeader(h, "X-User-"+what)
		return cmp.Or(open, other)
	}
	return frontendUser{ID: told("Id"), Email: told("Email"), Role: strings.ToLower(told("Role"))}
}

// userClaims are the claims of Open WebUI's user token.
type userClaims struct {
	jwt.RegisteredClaims

	Email string `json:"email"`
	Role  string `json:"role"`
}

// verifyUser verifies the HS256 user token of Open WebUI.
func verifyUser(token string, secret []byte, now time.Time) (frontendUser, error) {
	var claims userClaims
	_, err := jwt.ParseWithClaims(
		token, &claims, func(*jwt.Token) (any, error) { return secret, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithIssuer("open-webui"), jwt.WithExpirationRequired(),
		jwt.WithLeeway(30*time.Second), jwt.WithTimeFunc(func() time.Time { return now }),
	)
	user := frontendUser{ID: claims.Subject, Email: claims.Email, Role: claims.Role}
	switch {
	case errors.Is(err, jwt.ErrTokenExpired), errors.Is(err, jwt.ErrTokenNotValidYet), errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return frontendUser{}, contracts.Errorf(contracts.CodeUnauthorized, "the signed user has expired; do the clocks agree?")
	case err != nil, user.Name() == "":
		return frontendUser{}, contracts.Errorf(contracts.CodeUnauthorized, "the signed user is not valid; is the secret the same on both sides?")
	}
	return user, nil
}
