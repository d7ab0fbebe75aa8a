package domainclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

const maxHealthBytes = 64 << 10

// FetchManifest fetches the manifest of a domain, or reports that it still has the ETag.
func (c *Client) FetchManifest(ctx context.Context, at registry.Endpoint, etag string) (registry.Fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.FetchTimeout)
	defer cancel()
	r := request{method: http.MethodGet, path: "/manifest", header: map[string]string{}, repeats: 2, again: fetchAgain}
	if etag != "" {
		r.header["If-None-Match"] = etag
	}
	l, leave := c.visit(at)
	defer leave()
	resp, _, err := c.do(ctx, l, at, r)
	if err != nil {
		return registry.Fetched{}, unreachable("GET /manifest of domain "+at.Domain, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusNotModified && etag != "" {
		return registry.Fetched{NotModified: true, ETag: etag}, nil
	}
	body, err := readJSON(resp, contracts.MaxManifestBytes)
	if err != nil {
		return registry.Fetched{}, fmt.Errorf("GET /manifest of domain %s: %w", at.Domain, err)
	}
	return registry.Fetched{Body: body, ETag: boundedETag(resp.Header.Get("ETag"))}, nil
}

// fetchAgain allows a retry of errors that a restart of the domain may cause.
func fetchAgain(resp *http.Response, err error, _ *exchange) bool {
	return err != nil || resp.StatusCode >= http.StatusInternalServerError
}

// boundedETag returns the ETag, or "" if it is longer than 256 bytes.
func boundedETag(tag string) string {
	if len(tag) > 256 {
		return ""
	}
	return tag
}

// Health fetches the health of a domain. It returns an error unless the response is complete and
// valid.
func (c *Client) Health(ctx context.Context, at registry.Endpoint) (contracts.Health, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.HealthTimeout)
	defer cancel()
	l, leave := c.visit(at)
	defer leave()
	resp, _, err := c.do(ctx, l, at, request{method: http.MethodGet, path: "/health"})
	if err != nil {
		return contracts.Health{}, unreachable("GET /health of domain "+at.Domain, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := readJSON(resp, maxHealthBytes)
	if err != nil {
		return contracts.Health{}, fmt.Errorf("GET /health of domain %s: %w", at.Domain, err)
	}
	var h contracts.Health
	if err := json.Unmarshal(body, &h); err != nil {
		return contracts.Health{}, contracts.Errorf(contracts.CodeUnavailable, "GET /health of domain %s: no health in the answer: %w", at.Domain, err)
	}
	switch h.Status {
	case contracts.HealthOK, contracts.HealthDegraded, contracts.HealthDown:
		return h, nil
	case contracts.HealthStarting:
	}
	return contracts.Health{}, contracts.Errorf(contracts.CodeUnavailable,
		"GET /health of domain %s: status must be ok, degraded or down, got %q", at.Domain, contracts.CleanSummary(string(h.Status)))
}

// readJSON returns the body of a 200 response with a JSON content type, up to limit bytes.
func readJSON(resp *http.Response, limit int64) ([]byte, error) {
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return nil, contracts.Errorf(contracts.CodeUnauthorized, "it answered %d: check the authorization of the registration", resp.StatusCode)
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return nil, contracts.Errorf(contracts.CodeUnavailable, "it answered %d: redirects are never followed; register the final address", resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		return nil, contracts.Errorf(contracts.CodeUnavailable, "%s", contracts.CleanSummary(refusal(resp, false)))
	}
	if err := isPlainJSON(resp.Header); err != nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "%w", err)
	}
	return readAll(resp.Body, limit)
}

func isPlainJSON(h http.Header) error {
	if err := checkEncoding(h); err != nil {
		return err
	}
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || (media != "application/json" && !strings.HasSuffix(media, "+json")) {
		return fmt.Errorf("its content type is %q, want application/json", contracts.CleanSummary(h.Get("Content-Type")))
	}
	return nil
}

// checkEncoding rejects a compressed response: only identity was requested, and the decompressed
// size may be a thousand times larger.
func checkEncoding(h http.Header) error {
	encoding := h.Get("Content-Encoding")
	if encoding == "" || strings.EqualFold(encoding, "identity") {
		return nil
	}
	return fmt.Errorf("it is encoded as %q, which was not asked for", contracts.CleanSummary(encoding))
}

func readAll(body io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeUnavailable, "the answer broke off: %w", plain(err))
	}
	if int64(len(data)) > limit {
		return nil, contracts.Errorf(contracts.CodeTooLarge, "the answer is larger than %d bytes", limit)
	}
	return data, nil
}

// unreachable converts a transport error to one of code unavailable. An error of contracts keeps
// its code.
func unreachable(subject string, err error) error {
	if ours, ok := errors.AsType[*contracts.Error](err); ok {
		return fmt.Errorf("%s: %w", subject, ours)
	}
	return contracts.Errorf(contracts.CodeUnavailable, "%s: %w", subject, plain(err))
}

// plain removes the URL, which the caller knows and which may contain secrets, and converts a
// deadline to timeoutError.
func plain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return timeoutError{err}
	}
	return err
}

// forPeople returns the reason for a missing response, for display. Addresses and network errors
// belong in the log.
func forPeople(err error) string {
	err = plain(err)
	op, network := errors.AsType[*net.OpError](err)
	switch {
	case network && op.Op == "dial":
		return contracts.Unreachable
	case network, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection broke before there was an answer"
	default:
		return err.Error()
	}
}

// timeoutError is a deadline error with a message for display.
type timeoutError struct{ cause error }

func (timeoutError) Error() string   { return "no complete answer in time" }
func (e timeoutError) Unwrap() error { return e.cause }

// retryAfter parses both forms of the header. A date is compared with the domain's clock, if the
// response has a Date header.
func retryAfter(h http.Header, now time.Time) time.Duration {
	const longest = time.Hour // a domain must not park a run forever
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0
	}
	if seconds, err := time.ParseDuration(text + "s"); err == nil {
		return min(max(seconds, 0), longest)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		now = theirs
	}
	return min(max(at.Sub(now), 0), longest)
}
