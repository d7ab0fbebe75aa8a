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

// JWT configures a client that authenticates with a signed assertion (RFC 7523) instead of a
// refresh token. The API client in the tenant has the certificate of the key.
type JWT struct {
	Key *rsa.PrivateKey
	// Subject is the user name of the integration system user.
	Subject string
	// Audience is the audience that the tenant expects ["wd"].
	Audience string
}

// assertionLife is the lifetime of an assertion. Each is used once, immediately.
const assertionLife = 5 * time.Minute

// assert exchanges a new assertion for an access token.
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
