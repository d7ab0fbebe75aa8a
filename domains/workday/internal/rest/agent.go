package rest

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/manifold-run/manifold/domainkit/login"
)

// Agent returns an HTTP client for the tenant's services beside REST, such as its MCP server, with
// the same token, limits and retries. It must only be used for reads, because it retries.
func (c *Client) Agent(raw string) (*http.Client, error) {
	if err := c.cfg.checkHost(raw); err != nil {
		return nil, err
	}
	return &http.Client{Transport: agent{c}, Timeout: c.cfg.Timeout, CheckRedirect: noRedirect}, nil
}

type agent struct{ *Client }

// RoundTrip sends a request with a token, and once more with a new one if the tenant rejects it.
func (a agent) RoundTrip(req *http.Request) (*http.Response, error) {
	return login.Send(req, a.token, func(one *http.Request) (*http.Response, error) {
		again, err := retryablehttp.FromRequest(one)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.URL.Path, err)
		}
		res, err := a.reads.Do(again)
		if status, noted := one.Context().Value(statusKey{}).(*atomic.Int32); noted && err == nil {
			status.Store(int32(res.StatusCode)) //nolint:gosec // a status
		}
		return res, err
	})
}

type statusKey struct{}

// Noting returns a context in which an Agent records the status of its last answer. The returned
// failure function converts an error to an Error with the kind of that status.
func Noting(ctx context.Context) (noted context.Context, failure func(op string, err error) *Error) {
	status := &atomic.Int32{}
	return context.WithValue(ctx, statusKey{}, status), func(op string, err error) *Error {
		out := &Error{Op: op, Kind: KindUnavailable, Status: int(status.Load()), Cause: err}
		if of, is := AsError(err); is {
			return of
		}
		switch {
		case ctx.Err() != nil:
			out.Kind = KindTimeout
		case out.Status >= http.StatusMultipleChoices:
			out.Kind = kindOf(out.Status)
		}
		return out
	}
}
