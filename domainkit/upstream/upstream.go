// Package upstream is the retry policy for clients of the systems behind domains: which reads are
// retried, and after which wait. It never retries a write; the client must decide that.
package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Retries configures retries.
type Retries struct {
	// Attempts is the maximum number of attempts.
	Attempts int
	// BackoffMin is the first wait, which doubles up to BackoffMax. A Retry-After longer than
	// BackoffMax ends the retries.
	BackoffMin, BackoffMax time.Duration
	// MaxAnswer bounds the bytes read of an answer. One more byte is read, so that the caller can
	// detect an answer that is too large.
	MaxAnswer int64
	Now       func() time.Time
}

// Hooks are called for each attempt of a read; both may be nil.
type Hooks struct {
	// Turn blocks before an attempt, for example for a rate limit. Its error ends the attempt.
	Turn func(context.Context) error
	// Mend may correct a response before the retry decision, for example a misleading status.
	Mend func(response *http.Response, body []byte)
}

// Reads returns a client for reads. It retries on 429, on 5xx and on broken connections, including
// truncated answers. It computes the waits itself, because the library would honour any
// Retry-After.
func (p Retries) Reads(plain *http.Client, hooks Hooks) *retryablehttp.Client {
	whole := *plain
	whole.Transport = wholeAnswers{plain.Transport, p.MaxAnswer, hooks}
	return &retryablehttp.Client{
		HTTPClient: &whole,
		RetryMax:   p.Attempts - 1,
		CheckRetry: p.again,
		Backoff: func(_, _ time.Duration, attempt int, res *http.Response) time.Duration {
			if res == nil {
				return p.Wait(attempt+1, nil)
			}
			return p.Wait(attempt+1, res.Header)
		},
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

func (p Retries) again(ctx context.Context, res *http.Response, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	failed := err != nil || res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= http.StatusInternalServerError
	tooLong := res != nil && RetryAfter(res.Header, p.Now()) > p.BackoffMax
	return failed && !tooLong, nil
}

// Wait returns how long to wait after an attempt, counted from 1: the Retry-After of the response,
// else an exponential backoff with jitter.
func (p Retries) Wait(attempt int, header http.Header) time.Duration {
	if wish := RetryAfter(header, p.Now()); wish > 0 {
		return wish
	}
	full := min(p.BackoffMin<<min(attempt-1, 16), p.BackoffMax)
	return full/2 + rand.N(full/2+1) //nolint:gosec // jitter, not a secret
}

// RetryAfter parses Retry-After as seconds or an HTTP date. It returns 0 if there is none or it is
// invalid.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	raw := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.Atoi(raw); err == nil {
		return time.Duration(max(seconds, 0)) * time.Second
	}
	if at, err := http.ParseTime(raw); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// wholeAnswers reads each answer completely, so that a truncated one is retried.
type wholeAnswers struct {
	next  http.RoundTripper
	max   int64
	hooks Hooks
}

func (w wholeAnswers) RoundTrip(req *http.Request) (*http.Response, error) {
	if w.hooks.Turn != nil {
		if err := w.hooks.Turn(req.Context()); err != nil {
			return nil, err
		}
	}
	res, err := w.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, w.max+1))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(raw))
	if w.hooks.Mend != nil {
		w.hooks.Mend(res, raw)
	}
	return res, nil
}
