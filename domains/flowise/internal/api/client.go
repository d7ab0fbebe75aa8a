package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/manifold-run/manifold/contracts"
)

// Client calls one Flowise server. It is safe for concurrent use.
type Client struct {
	cfg         Config
	reads       *retryablehttp.Client
	writes      *http.Client
	predictions *http.Client
	cache       *cache
	slots       chan struct{} // one per running request
	predicting  chan struct{} // one per running prediction
}

// New returns a client. It sends no request.
func New(cfg Config) (*Client, error) {
	cfg.setDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	plain := &http.Client{Transport: cfg.Transport, Timeout: cfg.Timeout, CheckRedirect: noRedirect}
	c := &Client{
		cfg: cfg, writes: plain, cache: newCache(cfg.CacheTTL, cfg.Now),
		predictions: &http.Client{Transport: cfg.Transport, CheckRedirect: noRedirect},
		slots:       make(chan struct{}, cfg.MaxConcurrency),
		predicting:  make(chan struct{}, cfg.MaxPredictions),
	}
	c.reads = c.newReads(plain)
	return c, nil
}

// noRedirect stops redirects, so that the key is not sent elsewhere.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// area distinguishes calls whose error messages are interpreted differently.
type area int

const (
	areaStore area = iota
	areaPrediction
)

// call is one request: method and path below /api/v1.
type call struct {
	method, path string
	// label replaces the path in errors and logs if the path contains ids.
	label string
	area  area
	body  []byte
}

func (o call) name() string {
	if o.label != "" {
		return o.method + " " + o.label
	}
	return o.method + " " + o.path
}

func (o call) write() bool { return o.method != http.MethodGet }

// answer is a response with its complete body.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) is(kind string) bool { return contentType(a.header) == kind }

func contentType(h http.Header) string {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// get sends a GET request and decodes the answer into out.
func (c *Client) get(ctx context.Context, path, label string, out any) error {
	raw, err := c.do(ctx, call{method: http.MethodGet, path: path, label: label})
	if err != nil {
		return err
	}
	return decode(call{method: http.MethodGet, path: path, label: label}, raw, out)
}

// send encodes in, sends the call once and decodes the answer into out.
func (c *Client) send(ctx context.Context, op call, in, out any) error {
	if in != nil {
		body, err := encode(in)
		if err != nil {
			return fmt.Errorf("%s: %w", op.name(), err)
		}
		op.body = body
	}
	raw, err := c.do(ctx, op)
	if err != nil {
		return err
	}
	return decode(op, raw, out)
}

// encode encodes JSON without HTML escapes, to keep flows short.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return buf.Bytes(), nil
}

func decode(op call, raw []byte, out any) error {
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return &Error{Op: op.name(), Kind: KindBadAnswer, Status: http.StatusOK, Message: "the answer is not what Flowise sends", Effect: op.doubt(), Cause: err}
	}
	return nil
}

// doubt returns the effect of a call without a valid answer.
func (o call) doubt() contracts.Effect {
	if o.write() {
		return contracts.EffectUnknown
	}
	return contracts.EffectNone
}

// do waits for a slot, sends the call and returns the body of a JSON answer.
func (c *Client) do(ctx context.Context, op call) ([]byte, error) {
	release, err := c.enter(ctx, c.slots, op)
	if err != nil {
		return nil, err
	}
	defer release()
	exchange := c.once
	if op.method == http.MethodGet {
		exchange = c.retried
	}
	got, err := exchange(ctx, op)
	if err != nil {
		return nil, err
	}
	return c.read(ctx, op, got)
}

// enter acquires a slot, or fails if the context ends first.
func (*Client) enter(ctx context.Context, slots chan struct{}, op call) (release func(), err error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, &Error{Op: op.name(), Kind: KindTimeout, Effect: contracts.EffectNone, Cause: ctx.Err()}
	}
}

// read rejects an answer that is not JSON: unknown paths are answered with 200 and an HTML page.
func (c *Client) read(ctx context.Context, op call, got answer) ([]byte, error) {
	if got.status < 200 || got.status > 299 {
		err := statusError(op, got, c.cfg.Now())
		c.cfg.Logger.LogAttrs(ctx, slog.LevelDebug, "flowise refused", slog.String("operation", op.name()), slog.Int("status", got.status))
		return nil, err
	}
	if !got.is("application/json") {
		return nil, &Error{
			Op: op.name(), Kind: KindBadAnswer, Status: got.status, Effect: op.doubt(),
			Message: "the answer is no JSON; is this path part of this version of Flowise?",
		}
	}
	return got.body, nil
}

func (c *Client) request(ctx context.Context, op call) (*http.Request, error) {
	var body io.Reader
	if op.body != nil {
		body = bytes.NewReader(op.body)
	}
	req, err := http.NewRequestWithContext(ctx, op.method, c.cfg.BaseURL+"/api/v1"+op.path, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.name(), err)
	}
	req.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	req.Header.Set("Accept", "application/json")
	if op.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

func (c *Client) retried(ctx context.Context, op call) (answer, error) {
	plain, err := c.request(ctx, op)
	if err != nil {
		return answer{}, err
	}
	req, err := retryablehttp.FromRequest(plain)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", op.name(), err)
	}
	res, err := c.reads.Do(req)
	return c.finish(ctx, op, res, err, false)
}

// once sends a call that must not be retried blindly.
func (c *Client) once(ctx context.Context, op call) (answer, error) {
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	req, err := c.request(traced, op)
	if err != nil {
		return answer{}, err
	}
	res, err := c.writes.Do(req)
	return c.finish(ctx, op, res, err, op.write() && sent.Load())
}

// finish reads the answer. A write that was sent without a complete answer may have taken place.
func (c *Client) finish(ctx context.Context, op call, res *http.Response, err error, sentWrite bool) (answer, error) {
	var raw []byte
	if err == nil {
		raw, err = io.ReadAll(io.LimitReader(res.Body, c.cfg.MaxAnswer+1))
		err = errors.Join(err, res.Body.Close())
	}
	effect := contracts.EffectNone
	if sentWrite {
		effect = contracts.EffectUnknown
	}
	switch {
	case err == nil && int64(len(raw)) > c.cfg.MaxAnswer:
		return answer{}, &Error{Op: op.name(), Kind: KindTooLarge, Status: res.StatusCode, Message: fmt.Sprintf("the answer is larger than %d bytes", c.cfg.MaxAnswer), Effect: effect}
	case err == nil:
		return answer{res.StatusCode, res.Header, raw}, nil
	case ctx.Err() != nil:
		return answer{}, &Error{Op: op.name(), Kind: KindTimeout, Effect: effect, Cause: err}
	default:
		return answer{}, &Error{Op: op.name(), Kind: KindUnavailable, Message: "no answer", Effect: effect, Cause: err}
	}
}
