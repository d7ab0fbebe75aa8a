package rest

import (
	"context"
	"crypto/rsa"
	"net/url"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// JWT says how a client without a refresh token proves itself: by an assertion that is
// signed with the key whose certificate the API client has in the tenant (RFC 7523).
type JWT struct {
	Key *rsa.PrivateKey
	// Subject is the user name of the integration system user.
	Subject string
	// Audience is what the tenant expects ["wd"].
	Audience string
}

// assertionLife bounds how long an assertion can be used; it is used at once.
const assertionLife = 5 * time.Minute

// assert exchanges a fresh assertion for an access token.
func (h *holder) assert(ctx context.Context) (string, error) {
	now := h.now()
	audience := h.jwt.Audience
	if audience == "" {
		audience = "wd"
	}
	signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer: h.conf.ClientID, Subject: h.jwt.Subject, Audience: jwt.ClaimStrings{audience},
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(assertionLife)),
	}).SignedString(h.jwt.Key)
	if err != nil {
		return "", &Error{Op: "token", Kind: KindInternal, Message: "the assertion cannot be signed", Cause: err}
	}
	grant := clientcredentials.Config{
		ClientID: h.conf.ClientID, ClientSecret: h.conf.ClientSecret, TokenURL: h.conf.Endpoint.TokenURL, AuthStyle: oauth2.AuthStyleInParams,
		EndpointParams: url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {signed}},
	}
	fresh, err := grant.Token(context.WithValue(ctx, oauth2.HTTPClient, h.client))
	if err != nil {
		err = refused(err)
		h.bury(err)
		return "", err
	}
	return h.take(fresh), nil
}
