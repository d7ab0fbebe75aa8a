package rest

import (
	"cmp"
	"context"
	"crypto/rsa"
	"net/url"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// JWT describes how a client without a refresh token proves itself: by an assertion that is
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
func (c *Config) assert(ctx context.Context, _ string) (*oauth2.Token, error) {
	now := c.Now()
	signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer: c.ClientID, Subject: c.JWT.Subject, Audience: jwt.ClaimStrings{cmp.Or(c.JWT.Audience, "wd")},
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(assertionLife)),
	}).SignedString(c.JWT.Key)
	if err != nil {
		return nil, &Error{Op: "token", Kind: KindInternal, Message: "the assertion cannot be signed", Cause: err}
	}
	grant := clientcredentials.Config{
		ClientID: c.ClientID, ClientSecret: c.ClientSecret, TokenURL: c.TokenURL, AuthStyle: oauth2.AuthStyleInParams,
		EndpointParams: url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {signed}},
	}
	return grant.Token(ctx)
}
