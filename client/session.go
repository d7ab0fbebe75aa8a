package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// StartSession starts a session with its first message. If opt has no idempotency key, one is
// generated, so that the request can be retried.
func (c *Client) StartSession(ctx context.Context, body contracts.StartSession, opt Opt) (contracts.SessionResponse, error) {
	return c.session(ctx, keyed(request{method: http.MethodPost, path: "/v1/sessions", body: body, opt: opt}))
}

func keyed(r request) request {
	if r.opt.IdempotencyKey == "" {
		r.opt.IdempotencyKey = NewIdempotencyKey()
	}
	return r
}

func (c *Client) session(ctx context.Context, r request) (contracts.SessionResponse, error) {
	var out contracts.SessionResponse
	err := c.wire.do(ctx, r, &out)
	return out, err
}

// Say sends a message to a session.
func (c *Client) Say(ctx context.Context, id, message string, opt Opt) (contracts.SessionResponse, error) {
	return c.session(ctx, keyed(request{
		method: http.MethodPost, path: path("v1", "sessions", id, "messages"), body: contracts.Message{Message: message}, opt: opt,
	}))
}

// Resume decides or answers the open interrupt of a session.
func (c *Client) Resume(ctx context.Context, id string, body contracts.Resume, opt Opt) (contracts.SessionResponse, error) {
	return c.session(ctx, keyed(request{method: http.MethodPost, path: path("v1", "sessions", id, "resume"), body: body, opt: opt}))
}

// Session returns a session. It waits at most opt.Wait while the session is running.
func (c *Client) Session(ctx context.Context, id string, opt Opt) (contracts.SessionResponse, error) {
	return c.session(ctx, request{method: http.MethodGet, path: path("v1", "sessions", id), opt: opt})
}

// AwaitSession waits until a session is no longer running, or ctx ends.
func (c *Client) AwaitSession(ctx context.Context, id string) (contracts.SessionResponse, error) {
	for {
		response, err := c.Session(ctx, id, Opt{Wait: longPoll})
		if err != nil || response.Status != contracts.SessionRunning {
			return response, err
		}
	}
}

// longPoll is how long the Await functions let the server hold one response.
const longPoll = 30 * time.Second

// Sessions lists the caller's sessions, the newest first.
func (c *Client) Sessions(ctx context.Context, before time.Time, limit int) ([]contracts.SessionResponse, error) {
	q := url.Values{}
	setTime(q, "before", before)
	return list[contracts.SessionResponse](ctx, c.wire, "/v1/sessions", q, limit)
}

// list reads a listing page by page: at most limit items, or all items if limit is 0.
func list[T any](ctx context.Context, w *wire, path string, q url.Values, limit int) ([]T, error) {
	if q == nil {
		q = url.Values{}
	}
	var all []T
	for {
		size := contracts.MaxPageLimit
		if limit > 0 {
			size = min(size, limit-len(all))
		}
		q.Set("limit", strconv.Itoa(size))
		var page contracts.List[T]
		if err := w.do(ctx, request{method: http.MethodGet, path: path, query: q}, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Next == "" || limit > 0 && len(all) >= limit {
			return all, nil
		}
		q.Set("cursor", page.Next)
	}
}

func setTime(q url.Values, name string, at time.Time) {
	if !at.IsZero() {
		q.Set(name, at.UTC().Format(time.RFC3339Nano))
	}
}

func setInt(q url.Values, name string, n int64) {
	if n != 0 {
		q.Set(name, strconv.FormatInt(n, 10))
	}
}

func setText(q url.Values, name, text string) {
	if text != "" {
		q.Set(name, text)
	}
}

// RenameSession renames a session.
func (c *Client) RenameSession(ctx context.Context, id, name string) (contracts.SessionResponse, error) {
	return c.session(ctx, request{method: http.MethodPatch, path: path("v1", "sessions", id, "name"), body: contracts.Rename{Name: name}})
}

// DeleteSession deletes a session. All its runs must have ended.
func (c *Client) DeleteSession(ctx context.Context, id string) error {
	return c.wire.do(ctx, request{method: http.MethodDelete, path: path("v1", "sessions", id)}, nil)
}

// SessionSummary returns the audit summary of a session in Markdown.
func (c *Client) SessionSummary(ctx context.Context, id string) (string, error) {
	body, err := c.wire.raw(ctx, request{method: http.MethodGet, path: path("v1", "sessions", id, "summary")})
	return string(body), err
}

// Events returns the events of a session with sequence numbers above after, in order.
func (c *Client) Events(ctx context.Context, id string, after int64, limit int) ([]contracts.Event, error) {
	return c.wire.events(ctx, path("v1", "sessions", id, "events"), after, limit)
}

func (w *wire) events(ctx context.Context, path string, after int64, limit int) ([]contracts.Event, error) {
	q := url.Values{}
	setInt(q, "after", after)
	return list[contracts.Event](ctx, w, path, q, limit)
}
