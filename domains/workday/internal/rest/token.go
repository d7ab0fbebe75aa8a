package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"github.com/manifold-run/manifold/domainkit/login"
)

const refreshTimeout = 20 * time.Second

// newTokens returns the access tokens of a client, by refresh token or by signed assertions.
func newTokens(cfg Config) *login.Tokens {
	client := &http.Client{Transport: cfg.Transport, Timeout: refreshTimeout, CheckRedirect: noRedirect}
	tokens := login.TokensConfig{Store: cfg.Tokens, Now: cfg.Now, Logger: cfg.Logger}
	exchange := cfg.refresh
	if cfg.JWT != nil { // there is nothing to store
		tokens.Store, exchange = login.NewMemory(login.Grant{RefreshToken: "an assertion"}), cfg.assert
	}
	tokens.Renew = func(ctx context.Context, g login.Grant) (*oauth2.Token, error) {
		fresh, err := exchange(context.WithValue(ctx, oauth2.HTTPClient, client), g.RefreshToken)
		if err != nil {
			return nil, refused(err)
		}
		return fresh, nil
	}
	return login.NewTokens(tokens)
}

func (c *Config) refresh(ctx context.Context, token string) (*oauth2.Token, error) {
	conf := oauth2.Config{ClientID: c.ClientID, ClientSecret: c.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: c.TokenURL, AuthStyle: oauth2.AuthStyleInHeader}}
	return conf.TokenSource(ctx, &oauth2.Token{RefreshToken: token}).Token()
}

// token returns an access token. Pass the token that the tenant has just rejected to get another
// one, else "".
func (c *Client) token(ctx context.Context, rejected string) (string, error) {
	token, err := c.tokens.Access(ctx, rejected)
	if _, is := AsError(err); err == nil || is {
		return token, err
	}
	kind, message := KindInternal, "the refresh token cannot be read or stored"
	switch {
	case errors.Is(err, login.ErrEnded):
		kind, message = KindReauth, "there is no refresh token any more"
	case errors.Is(err, ctx.Err()):
		kind, message = KindTimeout, ""
	}
	return "", &Error{Op: "token", Kind: kind, Message: message, Cause: err}
}

// refused converts the error of a token exchange to an Error.
func refused(err error) error {
	if _, is := AsError(err); is {
		return err
	}
	answer, isAnswer := errors.AsType[*oauth2.RetrieveError](err)
	if !isAnswer || answer.Response == nil {
		return &Error{Op: "token", Kind: KindUnavailable, Message: "the token endpoint does not answer", Cause: err}
	}
	out := &Error{Op: "token", Kind: kindOf(answer.Response.StatusCode), Status: answer.Response.StatusCode, Cause: err}
	switch answer.ErrorCode {
	case "invalid_grant", "invalid_client", "unauthorized_client":
		out.Kind, out.Cause = KindReauth, errors.Join(login.ErrEnded, err)
		out.Message = fmt.Sprintf("the tenant refuses the credentials (%s); renew the refresh token or the API client", answer.ErrorCode)
	}
	return out
}

// GrantEnded reports whether the tenant no longer accepts a refresh token. An error about the
// client itself does not count: it says nothing about the token.
func GrantEnded(err error) bool {
	answer, isAnswer := errors.AsType[*oauth2.RetrieveError](err)
	return errors.Is(err, login.ErrEnded) && (!isAnswer || answer.ErrorCode == "invalid_grant")
}
