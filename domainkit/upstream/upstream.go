// Package upstream is the retry policy of clients of the systems behind domains: which
// answers to a read are retried, and how long to wait before. It never repeats a write:
// whoever knows the system decides that.
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

// Retries describes how often and after what waits a call is tried again.
type Retries struct {
	// Attempts is how often a call is sent in all.
	Attempts int
	// BackoffMin is the first wait, which doubles; BackoffMax the longest. A
	// system that wishes a longer one is not asked again.
	BackoffMin, BackoffMax time.Duration
	// MaxAnswer is how many bytes of an answer are kept; one more is read, so
	// that the caller can tell an answer that is too large.
	MaxAnswer int64
	Now       func() time.Time
}

// Hooks let a client take part in each attempt of a read; both may be nil.
type Hooks struct {
	// Turn is waited for before each attempt, such as a limit on the rate.
	Turn func(context.Context) error
	// Mend corrects an answer before it is judged, such as a status that means
	// another.
	Mend func(response *http.Response, body []byte)
}

// Reads makes a client of reads: they are tried again on 429, on 5xx and on
// broken connections, half an answer included. It waits by its own rules,
// because the library would wait out any Retry-After.
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

// Wait is how long to wait after an attempt, the first being 1: the system's
// wish if it has one, else exponential with jitter.
func (p Retries) Wait(attempt int, header http.Header) time.Duration {
	if wish := RetryAfter(header, p.Now()); wish > 0 {
		return wish
	}
	full := min(p.BackoffMin<<min(attempt-1, 16), p.BackoffMax)
	return full/2 + rand.N(full/2+1) //nolint:gosec // jitter, not a secret
}

// RetryAfter reads seconds or an HTTP date; anything else is no wish.
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

// wholeAnswers takes each answer to its end, so that half an answer is tried
// again like none.
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
