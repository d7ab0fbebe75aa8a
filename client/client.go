// Package client is the Go client of the REST API. The command line, the tests and other
// programs use it. It imports only the contracts package of the core. It retries only requests
// that are safe to repeat: reads, and writes with an idempotency key.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/manifold-run/manifold/contracts"
)

// Config specifies the server and the caller.
type Config struct {
	// URL is the root of the server, such as http://127.0.0.1:8080.
	URL string
	// Key is the API key, "" for the public routes.
	Key string
	// OnBehalfOf names the person that a frontend makes the request for. It is used only with
	// the key of a frontend.
	OnBehalfOf string
	// HTTP sends the requests [a new client].
	HTTP *http.Client
	// Retries is how often a request that is safe to repeat is retried [3]; negative means never.
	Retries int
	// Timeout bounds one request, in addition to Opt.Wait [30s].
	Timeout time.Duration
	// UserAgent is the User-Agent header ["manifold-client"].
	UserAgent string
}

// Client calls one server; it is safe for concurrent use.
type Client struct{ wire *wire }

// wire makes single requests: it builds URLs, adds credentials, and applies retries and timeouts.
// It knows no routes.
type wire struct {
	cfg    Config
	base   *url.URL
	repeat *retryablehttp.Client
	once   *retryablehttp.Client
}

// Opt holds the options of a call.
type Opt struct {
	// Wait is how long the server may hold the response until there is a result, at most one
	// minute.
	Wait time.Duration
	// IdempotencyKey makes a write safe to retry.
	IdempotencyKey string
	// Minimal omits the parts of the response that are slow to compute.
	Minimal bool
}

// maxAnswer bounds the bytes read of one response.
const maxAnswer = 64 << 20

// New returns a client. It does not call the server.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(cfg.URL, "/"))
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the server's address %q is no http(s) URL", cfg.URL)
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, 30*time.Second)
	cfg.UserAgent = cmp.Or(cfg.UserAgent, "manifold-client")
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{Transport: http.DefaultTransport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
	}
	return &Client{&wire{cfg: cfg, base: base, repeat: retrying(cfg.HTTP, max(cmp.Or(cfg.Retries, 3), 0)), once: retrying(cfg.HTTP, 0)}}, nil
}

func retrying(doer *http.Client, times int) *retryablehttp.Client {
	c := retryablehttp.NewClient()
	c.HTTPClient, c.Logger = doer, nil
	c.RetryMax, c.RetryWaitMin, c.RetryWaitMax = times, 100*time.Millisecond, 5*time.Second
	c.ErrorHandler = retryablehttp.PassthroughErrorHandler
	c.CheckRetry = func(ctx context.Context, res *http.Response, err error) (bool, error) {
		if res != nil && res.StatusCode == http.StatusTooManyRequests {
			return false, nil // the error says how long; the caller decides whether to wait
		}
		return retryablehttp.DefaultRetryPolicy(ctx, res, err)
	}
	return c
}

// NewIdempotencyKey returns a random key for one request that may be retried.
func NewIdempotencyKey() string { return strings.ToLower(rand.Text()) }

// request is one API request.
type request struct {
	method string
	path   string
	query  url.Values
	body   any
	opt    Opt
	// harmless marks a request without relevant effects: it may be retried without a key.
	harmless bool
}

// path joins path segments and escapes each of them.
func path(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = url.PathEscape(p)
	}
	return "/" + strings.Join(escaped, "/")
}

// do sends the request and decodes the response into out, unless out is nil.
func (w *wire) do(ctx context.Context, r request, out any) error {
	body, err := w.raw(ctx, r)
	if err != nil || out == nil {
		return err
	}
	if err := contracts.Decode(body, out); err != nil {
		return contracts.Errorf(contracts.CodeUnavailable, "%s %s: the answer is not what this client understands: %w", r.method, r.path, err)
	}
	return nil
}

// raw sends the request and returns the body of a successful response.
func (w *wire) raw(ctx context.Context, r request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, w.cfg.Timeout+r.opt.Wait)
	defer cancel()
	req, err := w.build(ctx, r)
	if err != nil {
		return nil, err
	}
	doer := w.once
	if r.method == http.MethodGet || r.harmless || r.opt.IdempotencyKey != "" {
		doer = w.repeat
	}
	res, err := doer.Do(req)
	if err != nil {
		return nil, unreachable(ctx, w.base, err)
	}
	defer res.Body.Close() // read only: an error is irrelevant
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeUnavailable, "%s %s: the answer was cut off: %w", r.method, r.path, err)
	}
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return body, nil
	}
	return body, failure(res, body)
}

func (w *wire) build(ctx context.Context, r request) (*retryablehttp.Request, error) {
	var body io.Reader
	if r.body != nil {
		raw, err := json.Marshal(r.body)
		if err != nil {
			return nil, fmt.Errorf("encode the body of %s %s: %w", r.method, r.path, err)
		}
		body = bytes.NewReader(raw)
	}
	target := w.base.String() + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	w.headers(req.Header, r)
	return req, nil
}

func (w *wire) headers(h http.Header, r request) {
	h.Set("Accept", "application/json")
	h.Set("User-Agent", w.cfg.UserAgent)
	if w.cfg.Key != "" {
		h.Set("Authorization", "Bearer "+w.cfg.Key)
	}
	if w.cfg.OnBehalfOf != "" {
		h.Set("Manifold-User", w.cfg.OnBehalfOf)
	}
	if r.body != nil {
		h.Set("Content-Type", "application/json")
	}
	if r.opt.IdempotencyKey != "" {
		h.Set("Idempotency-Key", r.opt.IdempotencyKey)
	}
	if r.opt.Wait > 0 {
		h.Set("Prefer", "wait="+strconv.Itoa(int(r.opt.Wait.Round(time.Second).Seconds())))
	}
	if r.opt.Minimal {
		h.Add("Prefer", "return=minimal")
	}
}

func unreachable(ctx context.Context, base *url.URL, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
		return cause
	}
	return contracts.Errorf(contracts.CodeUnavailable, "the server at %s cannot be reached: %w", base.Host, err)
}

// failure converts an error response. A response that is not a problem document, such as a
// proxy's page, is described by its status.
func failure(res *http.Response, body []byte) error {
	media, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	var p contracts.Problem
	if err == nil && media == "application/problem+json" && contracts.Decode(body, &p) == nil && p.Code != "" {
		return &contracts.Error{Code: p.Code, Message: cmp.Or(p.Detail, p.Title), Faults: p.Faults, Detail: p.Data}
	}
	return contracts.Errorf(codeOf(res.StatusCode), "the server answered %s", res.Status)
}

func codeOf(status int) contracts.Code {
	switch status {
	case http.StatusUnauthorized:
		return contracts.CodeUnauthorized
	case http.StatusForbidden:
		return contracts.CodeForbidden
	case http.StatusNotFound:
		return contracts.CodeNotFound
	case http.StatusTooManyRequests:
		return contracts.CodeRateLimited
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return contracts.CodeUnavailable
	}
	if status >= 400 && status < 500 {
		return contracts.CodeInvalid
	}
	return contracts.CodeInternal
}
