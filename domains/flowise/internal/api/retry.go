package api

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
	whole := *plain
	whole.Transport = wholeAnswers{plain.Transport, c.cfg.MaxAnswer}
	return &retryablehttp.Client{
		HTTPClient:   &whole,
		RetryMax:     c.cfg.Attempts - 1,
		CheckRetry:   c.shouldRetry,
		Backoff:      c.backoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// wholeAnswers takes each answer to its end, so that half an answer is tried
// again like none, and a 500 that means 404 is not.
type wholeAnswers struct {
	next http.RoundTripper
	max  int64
}

func (w wholeAnswers) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := w.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, w.max+1))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(raw))
	if said, own := ownWords(answer{res.StatusCode, res.Header, raw}); own && res.StatusCode == http.StatusInternalServerError && saysNotFound(said) {
		res.StatusCode = http.StatusNotFound // what is meant, and would be said again
	}
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
	if res != nil {
		if wish := retryAfter(res.Header, c.cfg.Now()); wish > 0 {
			return wish
		}
	}
	full := min(c.cfg.BackoffMin<<min(attempt, 16), c.cfg.BackoffMax)
	return full/2 + rand.N(full/2+1) //nolint:gosec // jitter, not a secret
}
