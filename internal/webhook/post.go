package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
)

// poster signs and sends one delivery.
type poster struct {
	key    []byte
	keyID  string
	guard  *Guard
	http   *http.Client
	client *retryablehttp.Client
}

func newPoster(cfg Config) *poster {
	id := sha256.Sum256(append([]byte("webhook key id:"), cfg.Key...))
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: cfg.Guard.Control}
	p := &poster{key: cfg.Key, keyID: hex.EncodeToString(id[:6]), guard: cfg.Guard}
	p.http = &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil, // a proxy would hide the address from the guard
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    5 * time.Second,
			DisableCompression:     true,
			MaxIdleConns:           16,
			MaxIdleConnsPerHost:    2,
			IdleConnTimeout:        30 * time.Second,
			MaxResponseHeaderBytes: 16 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	p.client = &retryablehttp.Client{
		HTTPClient: p.http, RetryMax: 2, RetryWaitMin: 200 * time.Millisecond, RetryWaitMax: 2 * time.Second,
		CheckRetry: checkRetry, Backoff: backoff, ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	return p
}

func (p *poster) close() { p.http.CloseIdleConnections() }

// send makes one delivery with quick retries. The outbox schedules later retries.
func (p *poster) send(ctx context.Context, d orchestrator.WebhookDelivery, now time.Time) error {
	if err := p.guard.CheckURL(d.URL); err != nil {
		return finalError{err}
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, d.URL, []byte(d.Body))
	if err != nil {
		return finalError{fmt.Errorf("make webhook request: %w", err)}
	}
	stamp := strconv.FormatInt(now.Unix(), 10)
	for name, value := range map[string]string{
		"Content-Type":       "application/json",
		"User-Agent":         "manifold-webhook",
		"Manifold-Delivery":  d.ID,
		"Manifold-Timestamp": stamp,
		"Manifold-Key-Id":    p.keyID,
		"Manifold-Signature": "v1=" + p.sign(stamp, d.Body),
	} {
		req.Header.Set(name, value)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return judge(err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 4<<10)) // only so that the connection can be reused
	switch {
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return nil
	case resp.StatusCode == http.StatusGone:
		return finalError{errors.New("the receiver answered 410")}
	default:
		return fmt.Errorf("the receiver answered %d", resp.StatusCode)
	}
}

func (p *poster) sign(stamp string, body []byte) string {
	mac := hmac.New(sha256.New, p.key)
	_, _ = mac.Write([]byte(stamp + ".")) // a hash never returns an error
	_, _ = mac.Write(body)                // a hash never returns an error
	return hex.EncodeToString(mac.Sum(nil))
}

// judge removes the URL, which may contain a token, and marks errors that a retry cannot fix.
func judge(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if contracts.CodeOf(err) == contracts.CodeForbidden {
		return finalError{err}
	}
	return err
}

// finalError is an error that a retry cannot fix.
type finalError struct{ cause error }

func (e finalError) Error() string { return e.cause.Error() }
func (e finalError) Unwrap() error { return e.cause }

func final(err error) bool {
	_, ok := errors.AsType[finalError](err)
	return ok
}

// checkRetry retries errors that are often transient: a broken connection, 429 and 5xx.
func checkRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	passing := err != nil || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= http.StatusInternalServerError
	return passing && ctx.Err() == nil && contracts.CodeOf(err) != contracts.CodeForbidden, nil
}

func backoff(shortest, longest time.Duration, attempt int, _ *http.Response) time.Duration {
	wait := min(shortest<<min(attempt, 8), longest)
	return wait + rand.N(wait/4+1) //nolint:gosec // spreading load needs no secrecy
}
