package domainclient

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// request describes an HTTP request and its retries.
type request struct {
	method string
	path   string
	body   []byte
	header map[string]string
	// repeats is the maximum number of retries, each of which again must allow.
	repeats int
	again   func(resp *http.Response, err error, x *exchange) bool
}

// do sends the request. On error, the exchange reports whether anything was written. The caller
// must close the response body.
func (c *Client) do(ctx context.Context, l *lane, at registry.Endpoint, r request) (*http.Response, *exchange, error) {
	x := &exchange{}
	req, err := c.newRequest(httptrace.WithClientTrace(ctx, x.trace()), at, r)
	if err != nil {
		return nil, x, err
	}
	client := &retryablehttp.Client{
		HTTPClient:   l.http,
		RetryMax:     r.repeats,
		RetryWaitMin: 200 * time.Millisecond,
		RetryWaitMax: 2 * time.Second,
		CheckRetry:   checkRetry(r, x),
		Backoff:      backoff(x),
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	resp, err := client.Do(req)
	if err != nil && resp != nil {
		_ = resp.Body.Close()
		resp = nil
	}
	return resp, x, err
}

func (c *Client) newRequest(ctx context.Context, at registry.Endpoint, r request) (*retryablehttp.Request, error) {
	var body any
	if r.body != nil {
		body = r.body
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, r.method, strings.TrimRight(at.URL, "/")+r.path, body)
	if err != nil {
		return nil, fmt.Errorf("make request for domain %s: %w", at.Domain, err)
	}
	// Without GetBody, net/http cannot replay a request on its own. Retries are decided here, and
	// retryablehttp rewinds the body.
	req.GetBody = nil
	secret, err := c.authorization(at)
	if err != nil {
		return nil, err
	}
	if secret != "" {
		req.Header.Set("Authorization", secret)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "manifold")
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	return req, nil
}

// checkRetry allows only the retries of the request, and none after ctx has ended.
func checkRetry(r request, x *exchange) retryablehttp.CheckRetry {
	return func(ctx context.Context, resp *http.Response, err error) (bool, error) {
		return ctx.Err() == nil && r.repeats > 0 && r.again(resp, err, x), nil
	}
}

// backoff returns 0.2 s, doubled each time, with jitter. It returns 0 for a dead connection, for
// which the domain is not responsible.
func backoff(x *exchange) retryablehttp.Backoff {
	return func(shortest, longest time.Duration, attempt int, resp *http.Response) time.Duration {
		if resp == nil && x.stale() {
			return 0
		}
		return jitter(min(shortest<<min(attempt, 8), longest))
	}
}

// traceparent returns the W3C header. All calls of a run share a trace id. A tracing transport
// replaces the header by a more precise one.
func traceparent(runID string) string {
	if runID == "" {
		runID = rand.Text()
	}
	var span [8]byte
	_, _ = rand.Read(span[:])
	return "00-" + contracts.TraceID(runID) + "-" + hex.EncodeToString(span[:]) + "-01"
}
