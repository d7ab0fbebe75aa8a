package rest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// newReads makes the client of reads: retried on 429, 5xx and broken
// connections, with our own waits, because the library would wait out any
// Retry-After.
func (c *Client) newReads(plain *http.Client) *retryablehttp.Client {
	limited := *plain
	limited.Transport = limiter{c, plain.Transport}
	return &retryablehttp.Client{
		HTTPClient:   &limited,
		RetryMax:     c.cfg.Attempts - 1,
		CheckRetry:   c.shouldRetry,
		Backoff:      c.backoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// limiter makes every attempt of a read wait for the token bucket, and takes
// the whole answer, so that half an answer is tried again like none.
type limiter struct {
	client *Client
	next   http.RoundTripper
}

func (l limiter) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := l.client.limit.Wait(req.Context()); err != nil {
		return nil, err
	}
	res, err := l.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(raw))
	return res, nil
}

func (c *Client) shouldRetry(ctx context.Context, res *http.Response, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	failed := err != nil || res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= http.StatusInternalServerError
	tooLong := res != nil && retryAfter(res.Header, c.cfg.Now()) > c.cfg.BackoffMax
	return failed && !tooLong, nil
}

func (c *Client) backoff(_, _ time.Duration, attempt int, res *http.Response) time.Duration {
	if res == nil {
		return c.wait(attempt+1, nil)
	}
	return c.wait(attempt+1, res.Header)
}

// wait is the tenant's wish if it has one, else exponential with jitter.
func (c *Client) wait(attempt int, header http.Header) time.Duration {
	if wish := retryAfter(header, c.cfg.Now()); wish > 0 {
		return wish
	}
	full := min(c.cfg.BackoffMin<<min(attempt-1, 16), c.cfg.BackoffMax)
	return full/2 + rand.N(full/2+1) //nolint:gosec // jitter, not a secret
}
