package openapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/upstream"
	"github.com/manifold-run/manifold/internal/bridge"
)

// Config configures an API and its credentials.
type Config struct {
	// Document is a file or a URL.
	Document string
	// Base is the base URL of the API [the first server of the document].
	Base string
	// Scheme is a security scheme of the document, Secret its credential: a key, a token, or
	// "user:password".
	Scheme, Secret string
	// Remote are the hosts that documents may be referenced from.
	Remote []string
	// Select are the operations that are read at first [all].
	Select *bridge.Select
	HTTP   bridge.HTTP
}

// API is an API as a source. Only the selected operations of the document are read: most of a large
// document is not needed.
type API struct {
	cfg    Config
	base   *url.URL
	client *http.Client

	mu   sync.Mutex // guards the field below; held while the document is read again
	read reading
}

// reading holds the operations that were read from the document.
type reading struct {
	selected *bridge.Select
	list     []bridge.Definition
	byName   map[string]*operation
}

var _ bridge.Source = (*API)(nil)

// New reads the document. It does not call the API.
func New(ctx context.Context, cfg Config) (*API, error) {
	a := &API{cfg: cfg}
	doc, err := a.load(ctx, cfg.Select)
	if err != nil {
		return nil, err
	}
	if a.base, err = base(cfg.Base, doc.api.Servers); err != nil {
		return nil, err
	}
	if cfg.Scheme != "" {
		if cfg.HTTP.Authorize, err = authorize(doc.api, cfg.Scheme, cfg.Secret); err != nil {
			return nil, err
		}
	}
	a.client = cfg.HTTP.Client()
	return a, nil
}

// load reads the selected operations of the document.
func (a *API) load(ctx context.Context, selected *bridge.Select) (document, error) {
	doc, err := load(ctx, a.cfg.Document, a.cfg.Remote, selected, bridge.HTTP{Control: a.cfg.HTTP.Control}.Client())
	if err != nil {
		return doc, err
	}
	r := reading{selected: selected, byName: map[string]*operation{}}
	for _, op := range doc.operations() {
		name := op.definition.Name
		if _, taken := r.byName[name]; taken { // ids are not always unique
			name = op.method + " " + op.path
			op.definition.Name = name
		}
		r.byName[name] = op
		r.list = append(r.list, op.definition)
	}
	a.read = r
	return doc, nil
}

// base returns the base URL of the API.
func base(said string, servers openapi3.Servers) (*url.URL, error) {
	if said == "" && len(servers) > 0 {
		said = servers[0].URL
		for name, v := range servers[0].Variables {
			said = strings.ReplaceAll(said, "{"+name+"}", v.Default)
		}
	}
	u, err := url.Parse(strings.TrimRight(said, "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the address of the API, %q, is no http(s) URL; say it with --base", said)
	}
	return u, nil
}

// authorize returns a function that adds a credential as the security scheme says.
func authorize(api *openapi3.T, name, secret string) (func(*http.Request) error, error) {
	var scheme *openapi3.SecurityScheme
	if api.Components != nil && api.Components.SecuritySchemes[name] != nil {
		scheme = api.Components.SecuritySchemes[name].Value
	}
	if scheme == nil || secret == "" {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the document has no security scheme %q, or there is no credential for it", name)
	}
	header := func(name, value string) func(*http.Request) error {
		return func(r *http.Request) error {
			r.Header.Set(name, value)
			return nil
		}
	}
	switch {
	case scheme.Type == "apiKey" && scheme.In == "header":
		return header(scheme.Name, secret), nil
	case scheme.Type == "apiKey" && scheme.In == "query":
		return func(r *http.Request) error {
			q := r.URL.Query()
			q.Set(scheme.Name, secret)
			r.URL.RawQuery = q.Encode()
			return nil
		}, nil
	case scheme.Type == "apiKey" && scheme.In == "cookie":
		return func(r *http.Request) error {
			r.AddCookie(&http.Cookie{Name: scheme.Name, Value: secret}) //nolint:gosec // a request carries no attributes
			return nil
		}, nil
	case scheme.Type == "http" && strings.EqualFold(scheme.Scheme, "basic"):
		return header("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(secret))), nil
	case scheme.Type == "http" && strings.EqualFold(scheme.Scheme, "bearer"), scheme.Type == "oauth2", scheme.Type == "openIdConnect":
		return header("Authorization", "Bearer "+secret), nil
	}
	return nil, contracts.Errorf(contracts.CodeInvalid, "the security scheme %q is of a kind that is not supported (%s %s)", name, scheme.Type, scheme.Scheme)
}

// Definitions lists the operations of the document. It reads the document again if the selection has
// changed.
func (a *API) Definitions(ctx context.Context, selected *bridge.Select) ([]bridge.Definition, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !reflect.DeepEqual(selected, a.read.selected) {
		if _, err := a.load(ctx, selected); err != nil {
			return nil, err
		}
	}
	return a.read.list, nil
}

func (a *API) operation(name string) *operation {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.read.byName[name]
}

// Close closes idle connections.
func (a *API) Close() error {
	a.client.CloseIdleConnections()
	return nil
}

// Call makes one request, and those for the following pages.
func (a *API) Call(ctx context.Context, c bridge.Call) (contracts.ToolResult, error) {
	op := a.operation(c.Name)
	if op == nil {
		return contracts.ToolResult{}, domainkit.Refusef(contracts.ErrNotFound, "the document has no operation %s", c.Name)
	}
	first, err := a.send(ctx, op, c, nil)
	if err != nil {
		return contracts.ToolResult{}, err
	}
	if p := a.pager(op, c); p != nil {
		return p.read(ctx, first)
	}
	return first.result()
}

// send makes the request of a call; to, if not nil, replaces its URL.
func (a *API) send(ctx context.Context, op *operation, c bridge.Call, to *url.URL) (*answer, error) {
	ctx, status := bridge.WithStatusRecorder(ctx)
	req, err := a.request(ctx, op, c)
	if err != nil {
		return nil, err
	}
	if to != nil {
		req.URL = to
	}
	res, err := a.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, domainkit.Failf(contracts.ErrUpstream, contracts.EffectUnknown, "%s could not be called", c.Name)
	}
	defer res.Body.Close() // read only: an error is irrelevant
	body, err := io.ReadAll(res.Body)
	switch {
	case errors.Is(err, bridge.ErrTooLarge):
		return nil, domainkit.Failf(contracts.ErrUpstream, contracts.EffectUnknown, "the answer of %s has more than %d bytes", c.Name, bridge.MaxAnswer)
	case err != nil:
		return nil, domainkit.Failf(contracts.ErrUpstream, contracts.EffectUnknown, "the answer of %s was cut off", c.Name)
	case status().Code >= 300:
		failure := status().Failure(c.Name)
		if why := reason(res.Header, body); why != "" {
			failure.Message = contracts.CleanSummary(failure.Message + ": " + why)
		}
		if after := upstream.RetryAfter(res.Header, time.Now()); after > 0 && !c.Writes && failure.Retryable {
			return nil, domainkit.Waitf(after, "%s", failure.Message)
		}
		return nil, failure
	}
	out := &answer{from: req.URL, status: res.StatusCode, header: res.Header, body: body}
	if len(body) > 0 && isJSON(res.Header) && contracts.Decode(body, &out.value) != nil {
		return nil, domainkit.Failf(contracts.ErrUpstream, contracts.EffectUnknown, "the answer is no JSON, although it says so")
	}
	return out, nil
}

// result returns the result of one response.
func (a *answer) result() (contracts.ToolResult, error) {
	if len(a.body) == 0 {
		return bridge.Result(map[string]any{"status": a.status}, fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)))
	}
	if isJSON(a.header) {
		result, err := bridge.Result(a.value, "")
		result.Data = contracts.NewOpaque(a.body)
		return result, err
	}
	media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	if strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "xml") {
		return bridge.Result(nil, strings.ToValidUTF8(string(a.body), "�"))
	}
	return bridge.Result(map[string]any{"media_type": media, "bytes": len(a.body)}, fmt.Sprintf("%d bytes of %s", len(a.body), cmp.Or(media, "something")))
}

func isJSON(h http.Header) bool {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && (media == mediaJSON || strings.HasSuffix(media, "+json"))
}

// reason returns the reason that an error response states.
func reason(h http.Header, body []byte) string {
	var said map[string]any
	if !isJSON(h) || json.Unmarshal(body, &said) != nil {
		return ""
	}
	if inner, ok := said["error"].(map[string]any); ok {
		said = inner
	}
	for _, k := range []string{"detail", "message", "error_description", "error", "title"} {
		if text, ok := said[k].(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// request builds the request of a call.
func (a *API) request(ctx context.Context, op *operation, c bridge.Call) (*http.Request, error) {
	filled := &filling{path: op.path, query: url.Values{}, header: http.Header{}, body: map[string]any{}}
	for name, v := range c.Arguments {
		at, ok := op.places[name]
		if !ok {
			return nil, domainkit.Refusef(contracts.ErrInvalidParameters, "there is no parameter %s", name)
		}
		if err := filled.put(name, at, v); err != nil {
			return nil, domainkit.Refusef(contracts.ErrInvalidParameters, "%s", err.Error())
		}
	}
	if strings.ContainsAny(filled.path, "{}") {
		return nil, domainkit.Refusef(contracts.ErrInvalidParameters, "a part of the path %s is missing", op.path)
	}
	body, err := filled.encode(op, c.Arguments)
	if err != nil {
		return nil, domainkit.Refusef(contracts.ErrInvalidParameters, "%s", err.Error())
	}
	target := a.base.String() + filled.path
	if len(filled.query) > 0 {
		target += "?" + filled.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, op.method, target, bytes.NewReader(body))
	if err != nil {
		return nil, domainkit.Refusef(contracts.ErrInvalidParameters, "the request cannot be built")
	}
	req.GetBody = nil // only the caller may repeat a request
	req.Header = filled.header
	req.Header.Set("Accept", "application/json, */*;q=0.5")
	req.Header.Set("User-Agent", "manifold")
	if op.media != "" && body != nil {
		req.Header.Set("Content-Type", op.media)
	}
	if key := cmp.Or(c.Tool.KeyHeader, op.keyHeader); key != "" && c.Writes && c.Context.IdempotencyKey != "" {
		req.Header.Set(key, c.Context.IdempotencyKey)
	}
	return req, nil
}
