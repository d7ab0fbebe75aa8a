package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/time/rate"

	"github.com/manifold-run/manifold/domainkit/login"
	"github.com/manifold-run/manifold/domainkit/upstream"
)

const maxAnswer = 8 << 20

// Client calls one tenant; it is safe for concurrent use.
type Client struct {
	cfg    Config
	tokens *login.Tokens
	retry  upstream.Retries
	reads  *retryablehttp.Client
	writes *http.Client
	limit  *rate.Limiter
	slots  chan struct{} // one per running request
}

// New returns a client. It sends no request.
func New(cfg Config) (*Client, error) {
	cfg.setDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Transport == nil {
		cfg.Transport = defaultTransport()
	}
	plain := &http.Client{Transport: cfg.Transport, Timeout: cfg.Timeout, CheckRedirect: noRedirect}
	c := &Client{
		cfg: cfg, tokens: newTokens(cfg), writes: plain,
		limit: rate.NewLimiter(rate.Limit(cfg.RequestsPerSecond), cfg.Burst),
		slots: make(chan struct{}, cfg.MaxConcurrency),
		retry: upstream.Retries{
			Attempts: cfg.Attempts, BackoffMin: cfg.BackoffMin, BackoffMax: cfg.BackoffMax, MaxAnswer: maxAnswer, Now: cfg.Now,
		},
	}
	if cfg.RequestsPerSecond < 0 {
		c.limit.SetLimit(rate.Inf)
	}
	c.reads = c.retry.Reads(plain, upstream.Hooks{Turn: c.limit.Wait})
	return c, nil
}

func defaultTransport() http.RoundTripper {
	if t, is := http.DefaultTransport.(*http.Transport); is {
		return t.Clone()
	}
	return http.DefaultTransport
}

// noRedirect stops redirects, so that the bearer token is not sent elsewhere.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Ping checks that the tenant issues a token.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.token(ctx, "")
	return err
}

// get sends a GET request and decodes the answer into out.
func (c *Client) get(ctx context.Context, path string, query url.Values, out any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.call(ctx, http.MethodGet, path, payload{}, out)
}

// payload is the body of a request and how to send it.
type payload struct {
	body []byte
	// kind is the content type.
	kind string
	// lenient accepts what the tenant only warns of.
	lenient bool
	// reads marks a POST that only reads and may be retried.
	reads bool
}

// post sends a write once and decodes the answer into out.
func (c *Client) post(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return c.call(ctx, http.MethodPost, path, payload{body: body, kind: "application/json"}, out)
}

// postPart sends a write once. The JSON is the part jsonData of a form if the tenant's service
// expects that.
func (c *Client) postPart(ctx context.Context, path string, in, out any, lenient bool) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	sent := payload{body: body, kind: "application/json", lenient: lenient}
	if !c.cfg.AbsenceJSON {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		if err := errors.Join(w.WriteField("jsonData", string(body)), w.Close()); err != nil {
			return fmt.Errorf("encode %s: %w", path, err)
		}
		sent.body, sent.kind = form.Bytes(), w.FormDataContentType()
	}
	return c.call(ctx, http.MethodPost, path, sent, out)
}

// call sends a request. If the tenant rejects the token, it sends the request once more with a new
// one.
func (c *Client) call(ctx context.Context, method, path string, body payload, out any) error {
	op := method + " " + path
	rejected := ""
	for {
		token, err := c.token(ctx, rejected)
		if err != nil {
			return err
		}
		got, err := c.exchange(ctx, op, method, path, body, token)
		if err != nil {
			return err
		}
		if got.status == http.StatusUnauthorized && rejected == "" {
			rejected = token
			continue
		}
		return c.read(op, method != http.MethodGet && !body.reads, got, out)
	}
}

func (c *Client) read(op string, write bool, got answer, out any) error {
	if got.status < 200 || got.status > 299 {
		return statusError(op, got, write, c.cfg.Now())
	}
	kind, _, _ := mime.ParseMediaType(got.header.Get("Content-Type"))
	if kind != "application/json" {
		return &Error{Op: op, Kind: KindBadAnswer, Status: got.status, Message: "the answer is no JSON", MayHaveApplied: write}
	}
	if err := json.Unmarshal(got.body, out); err != nil {
		return &Error{Op: op, Kind: KindBadAnswer, Status: got.status, Message: "the answer is not what Workday sends", MayHaveApplied: write, Cause: err}
	}
	return nil
}

// answer is a response with its complete body.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// exchange waits for a slot, then sends a read with retries or a write without.
func (c *Client) exchange(ctx context.Context, op, method, path string, body payload, token string) (answer, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return answer{}, &Error{Op: op, Kind: KindTimeout, Cause: ctx.Err()}
	}
	if method == http.MethodGet || body.reads {
		return c.sendRead(ctx, op, method, path, body, token)
	}
	return c.sendWrite(ctx, op, method, path, body, token)
}

func (c *Client) request(ctx context.Context, method, path string, body payload, token string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.cfg.BaseURL+path, bytes.NewReader(body.body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "application/json")
	if method != http.MethodGet {
		req.Header.Set("Content-Type", body.kind)
		if body.lenient {
			req.Header.Set("wd-warning-action", "updateonwarning")
		}
		return req, nil
	}
	req.Body, req.ContentLength = nil, 0
	return req, nil
}

func (c *Client) sendRead(ctx context.Context, op, method, path string, body payload, token string) (answer, error) {
	plain, err := c.request(ctx, method, path, body, token)
	if err != nil {
		return answer{}, err
	}
	req, err := retryablehttp.FromRequest(plain)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", op, err)
	}
	res, err := c.reads.Do(req)
	return c.finish(ctx, op, res, err, false)
}

// sendWrite retries only what the tenant certainly did not process: a 429 with a short wait. It
// never sets the header Idempotency-Key, because Go would then resend a lost POST, and Workday does
// not honour the header.
func (c *Client) sendWrite(ctx context.Context, op, method, path string, body payload, token string) (answer, error) {
	for attempt := 1; ; attempt++ {
		if err := c.limit.Wait(ctx); err != nil {
			return answer{}, &Error{Op: op, Kind: KindTimeout, Cause: err}
		}
		var sent atomic.Bool
		traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
		req, err := c.request(traced, method, path, body, token)
		if err != nil {
			return answer{}, err
		}
		res, err := c.writes.Do(req)
		got, err := c.finish(ctx, op, res, err, sent.Load())
		if err != nil || got.status != http.StatusTooManyRequests || attempt == c.cfg.Attempts {
			return got, err
		}
		wait := c.retry.Wait(attempt, got.header)
		if wait > c.cfg.BackoffMax || !sleep(ctx, wait) {
			return got, nil // reported as busy; the caller may be able to wait longer
		}
	}
}

// finish reads the answer. A write that was sent without a complete answer may have taken place.
func (c *Client) finish(ctx context.Context, op string, res *http.Response, err error, sentWrite bool) (answer, error) {
	var raw []byte
	if err == nil {
		raw, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
		err = errors.Join(err, res.Body.Close())
	}
	switch {
	case err == nil && len(raw) > maxAnswer:
		return answer{}, &Error{Op: op, Kind: KindBadAnswer, Message: "the answer is too large", MayHaveApplied: sentWrite}
	case err == nil:
		return answer{res.StatusCode, res.Header, raw}, nil
	case ctx.Err() != nil:
		return answer{}, &Error{Op: op, Kind: KindTimeout, MayHaveApplied: sentWrite, Cause: err}
	default:
		return answer{}, &Error{Op: op, Kind: KindUnavailable, Message: "no answer", MayHaveApplied: sentWrite, Cause: err}
	}
}

// sleep waits. It reports whether the time elapsed before the context ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
