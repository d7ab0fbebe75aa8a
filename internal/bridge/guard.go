package bridge

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// MaxAnswer bounds the response of a service, in bytes.
const MaxAnswer = 16 << 20

// ErrTooLarge reports that a response exceeds MaxAnswer.
var ErrTooLarge = errors.New("the answer is larger than is read")

// HTTP configures the connection to a service.
type HTTP struct {
	// Control is called before every dial [nothing].
	Control func(network, address string, c syscall.RawConn) error
	// Authorize adds credentials to a request.
	Authorize func(*http.Request) error
	// Timeout bounds the time until the response header [30s].
	Timeout time.Duration
}

// Client returns a client that sends credentials to one host only: it follows no redirects, uses no
// proxy, and bounds responses.
func (h HTTP) Client() *http.Client {
	if h.Timeout <= 0 {
		h.Timeout = contracts.MaxExchange
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: h.Control}
	return &http.Client{
		Transport: bounded{authorize: h.Authorize, next: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: h.Timeout,
			IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 16, MaxResponseHeaderBytes: 64 << 10,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bounded adds credentials, records the status, and limits the response to MaxAnswer.
type bounded struct {
	authorize func(*http.Request) error
	next      http.RoundTripper
}

// Status is the HTTP status of a call, for errors that do not include it.
type Status struct {
	Code       int
	RetryAfter string
	// Refused says why a request was not sent, or not repeated, for lack of credentials.
	Refused *contracts.ToolError
}

// Failed reports whether the call failed.
func (s Status) Failed() bool { return s.Code >= 300 || s.Refused != nil }

type statusKey struct{}

// WithStatusRecorder returns a context that records the status of each response, and a function that
// returns the newest. It is safe for concurrent requests of one call.
func WithStatusRecorder(ctx context.Context) (context.Context, func() Status) {
	newest := &atomic.Pointer[Status]{}
	newest.Store(&Status{})
	return context.WithValue(ctx, statusKey{}, newest), func() Status { return *newest.Load() }
}

// RecordStatus records a status in a context of WithStatusRecorder.
func RecordStatus(ctx context.Context, s Status) {
	if newest, ok := ctx.Value(statusKey{}).(*atomic.Pointer[Status]); ok {
		newest.Store(&s)
	}
}

// RoundTrip sends a request.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.authorize != nil {
		r = r.Clone(r.Context())
		if err := b.authorize(r); err != nil {
			return nil, err
		}
	}
	res, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	RecordStatus(r.Context(), Status{Code: res.StatusCode, RetryAfter: res.Header.Get("Retry-After")})
	res.Body = &limited{ReadCloser: res.Body, left: MaxAnswer}
	return res, nil
}

// limited returns ErrTooLarge if there is more to read than allowed.
type limited struct {
	io.ReadCloser

	left int64
}

// Read reads up to the limit.
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		var one [1]byte
		if n, err := l.ReadCloser.Read(one[:]); n == 0 && err != nil {
			return 0, err
		}
		return 0, ErrTooLarge
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.ReadCloser.Read(p)
	l.left -= int64(n)
	return n, err
}

// Failure returns the error for a failed status. A rejected write had no effect; after other failures
// the effect is unknown.
func (s Status) Failure(subject string) *contracts.ToolError {
	fail := func(kind string, effect contracts.Effect, retry bool, text string) *contracts.ToolError {
		return &contracts.ToolError{Type: kind, Message: subject + " " + text, Effect: effect, Retryable: retry}
	}
	switch {
	case s.Refused != nil:
		return s.Refused
	case s.Code >= 300 && s.Code < 400: // it may have had an effect
		return fail(contracts.ErrUpstream, contracts.EffectUnknown, false, "answered with a redirect, which is not followed; give the final address")
	case s.Code == http.StatusRequestTimeout:
		return fail(contracts.ErrTimeout, contracts.EffectUnknown, true, "did not take the request in time")
	case s.Code == http.StatusUnauthorized || s.Code == http.StatusForbidden:
		return fail(contracts.ErrUnauthorized, contracts.EffectNone, false, "refused the credential of this bridge")
	case s.Code == http.StatusNotFound || s.Code == http.StatusGone:
		return fail(contracts.ErrNotFound, contracts.EffectNone, false, "knows no such thing")
	case s.Code == http.StatusConflict || s.Code == http.StatusPreconditionFailed:
		return fail(contracts.ErrConflict, contracts.EffectNone, false, "answered that this conflicts with its state")
	case s.Code == http.StatusTooManyRequests:
		return fail(contracts.ErrBudget, contracts.EffectNone, true, "has too many requests just now")
	case s.Code >= 400 && s.Code < 500:
		return fail(contracts.ErrInvalidParameters, contracts.EffectNone, false, "refused the request")
	}
	return fail(contracts.ErrUpstream, contracts.EffectUnknown, true, "failed")
}

// IsURL reports whether a text is an http or https URL.
func IsURL(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}
