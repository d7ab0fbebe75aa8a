package bridge

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

const (
	// fresh is how long the list of operations is cached.
	fresh = 5 * time.Second
	// listTime bounds one listing.
	listTime = 20 * time.Second
	// maxOld bounds the earlier services that still answer polls of accepted work.
	maxOld = 4
)

// Config configures a bridge; zero values take the defaults in brackets.
type Config struct {
	// Domain is the name of the domain.
	Domain  string
	Version string // ["1"]
	Overlay Overlay
	// Tokens are the accepted bearer tokens [none: no authentication].
	Tokens []string
	// Store holds the idempotency keys [in memory].
	Store domainkit.Store
	// Baseline holds the first listed definition of each operation [in memory].
	Baseline Baseline
	// MaxOperations bounds the operations of a service [500].
	MaxOperations int
	// MaxConcurrent bounds the concurrent calls [16].
	MaxConcurrent int
	Now           func() time.Time
	Logger        *slog.Logger
}

// Baseline stores the first listed definition of each operation. An operation without a pin is compared
// with it.
type Baseline interface {
	Load() (map[string]Definition, error)
	Save(all map[string]Definition) error
}

func (c Config) withDefaults() Config {
	c.Version = cmp.Or(c.Version, "1")
	c.MaxOperations = cmp.Or(c.MaxOperations, 500)
	c.MaxConcurrent = cmp.Or(c.MaxConcurrent, 16)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Store == nil {
		c.Store = domainkit.NewMemoryStore(0)
	}
	return c
}

// Domain serves a bridge as a domain: an http.Handler with the three endpoints.
type Domain struct {
	cfg    Config
	source Source
	verbs  contracts.WriteVerbs

	busy chan struct{} // held during a listing

	mu      sync.Mutex // guards the fields below
	overlay Overlay
	seen    map[string]Definition
	changes int               // number of overlay replacements and change notifications
	offered map[string]string // digests of the last listing
	listed  map[string]string // digests that current was built from, nil to force a rebuild
	at      time.Time
	stale   bool
	current *serving
	old     []*serving
	trouble string
}

// serving is an active manifest.
type serving struct {
	service  *domainkit.Service
	handler  http.Handler
	findings []Finding
}

// New returns a bridge. It does not call the service yet.
func New(cfg Config, source Source) (*Domain, error) {
	verbs, err := contracts.LoadWriteVerbs()
	if err != nil {
		return nil, err
	}
	d := &Domain{cfg: cfg.withDefaults(), source: source, verbs: verbs, busy: make(chan struct{}, 1), overlay: cfg.Overlay, seen: map[string]Definition{}}
	if cfg.Baseline == nil {
		return d, nil
	}
	seen, err := cfg.Baseline.Load()
	if err != nil {
		return nil, fmt.Errorf("the baseline of operations: %w", err)
	}
	maps.Copy(d.seen, seen)
	return d, nil
}

// SetOverlay replaces the overlay. Running calls finish with the previous one.
func (d *Domain) SetOverlay(o Overlay) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.overlay, d.listed, d.stale = o, nil, true
	d.changes++
}

func (d *Domain) currentOverlay() Overlay {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.overlay
}

// Close shuts the bridge down. Running calls may finish until ctx ends.
func (d *Domain) Close(ctx context.Context) error {
	d.mu.Lock()
	all := d.old
	if d.current != nil {
		all = append(all, d.current)
	}
	d.mu.Unlock()
	var errs []error
	for _, s := range all {
		errs = append(errs, s.service.Shutdown(ctx))
	}
	return errors.Join(append(errs, d.source.Close())...)
}

// Changed marks the operations as changed, after a notification from the service.
func (d *Domain) Changed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stale = true
	d.changes++
}

// Findings returns the classification of each operation. It calls the service.
func (d *Domain) Findings(ctx context.Context) ([]Finding, error) {
	s, err := d.refresh(ctx, true)
	if err != nil {
		return nil, err
	}
	return s.findings, nil
}

// Pages returns the handler of the source's login pages below /login/, nil if there are none. They
// require no token.
func (d *Domain) Pages() http.Handler {
	pages, _ := d.source.(http.Handler)
	return pages
}

// ServeHTTP serves the three endpoints of a domain.
func (d *Domain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if pages := d.Pages(); pages != nil && strings.HasPrefix(r.URL.Path, "/login/") {
		pages.ServeHTTP(w, r)
		return
	}
	if !d.authorized(r.Header.Get("Authorization")) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		tell(w, http.StatusUnauthorized, refusalOf(domainkit.Refusef(contracts.ErrUnauthorized, "a valid bearer token is required")))
		return
	}
	s, err := d.refresh(r.Context(), r.URL.Path == "/manifest")
	if err != nil {
		ServeUnavailable(w, r, err)
		return
	}
	if r.Method == http.MethodPost && r.URL.Path == "/execute" && d.polled(w, r, s) {
		return
	}
	s.handler.ServeHTTP(w, r)
}

// ServeUnavailable answers while the service is unusable and no manifest was ever built.
func ServeUnavailable(w http.ResponseWriter, r *http.Request, err error) {
	detail := contracts.CleanSummary(err.Error())
	if r.URL.Path == "/health" {
		tell(w, http.StatusOK, contracts.Health{
			Status: contracts.HealthDown, Checks: map[string]contracts.HealthCheck{"server": {Status: contracts.HealthDown, Detail: detail}},
		})
		return
	}
	tell(w, http.StatusServiceUnavailable, refusalOf(domainkit.Retryf(contracts.ErrUpstream, "the server behind this domain cannot be used: %s", detail)))
}

func refusalOf(e *contracts.ToolError) contracts.ToolResult {
	return contracts.ToolResult{Summary: contracts.CleanSummary(e.Message), Error: e}
}

func tell(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have disconnected
}

func (d *Domain) authorized(header string) bool {
	scheme, token, _ := strings.Cut(header, " ")
	got, fits := sha256.Sum256([]byte(token)), 0
	for _, known := range d.cfg.Tokens {
		want := sha256.Sum256([]byte(known))
		fits |= subtle.ConstantTimeCompare(got[:], want[:])
	}
	return len(d.cfg.Tokens) == 0 || fits == 1 && strings.EqualFold(scheme, "Bearer")
}

// polled answers a poll of work that an earlier service has accepted. It reports false for other
// requests.
func (d *Domain) polled(w http.ResponseWriter, r *http.Request, now *serving) bool {
	d.mu.Lock()
	old := d.old
	d.mu.Unlock()
	if len(old) == 0 {
		return false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, contracts.MaxCallBytes))
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
	var asked struct {
		Context struct {
			Operation string `json:"operation"`
		} `json:"context"`
	}
	if err != nil || json.Unmarshal(body, &asked) != nil || asked.Context.Operation == "" {
		return false
	}
	for _, s := range append([]*serving{now}, old...) {
		kept := &recordedResponse{header: http.Header{}, code: http.StatusOK}
		again := r.Clone(r.Context())
		again.Body = io.NopCloser(bytes.NewReader(body))
		s.handler.ServeHTTP(kept, again)
		if kept.code == http.StatusGone && s != old[len(old)-1] {
			continue
		}
		maps.Copy(w.Header(), kept.header)
		w.WriteHeader(kept.code)
		_, _ = w.Write(kept.body.Bytes())
		return true
	}
	return false
}

// failing is a reader that returns err, or else io.EOF.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, cmp.Or(f.err, io.EOF) }

// recordedResponse records a response.
type recordedResponse struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (k *recordedResponse) Header() http.Header         { return k.header }
func (k *recordedResponse) WriteHeader(code int)        { k.code = code }
func (k *recordedResponse) Write(p []byte) (int, error) { return k.body.Write(p) }

// add declares one capability; digest is that of its operation.
func (d *Domain) add(svc *domainkit.Service, f *Finding, digest string) error {
	schema, err := withoutKey(f.definition.InputSchema, f.tool.KeyParam)
	if err != nil {
		return fmt.Errorf("operation %q: %w", f.Operation, err)
	}
	policy := f.metadata.Policy(f.metadata.Compensation != nil)
	call := Call{Name: f.Operation, Writes: policy.SideEffectClass.Writes(), Tool: f.tool}
	return domainkit.AddRaw(svc, domainkit.Capability{
		Name: f.Capability, Description: cmp.Or(f.tool.Description, described(f.definition.Description)),
		Metadata: f.metadata, Schema: schema, OutputSchema: f.tool.OutputSchema,
	}, func(ctx context.Context, with domainkit.Call, parameters json.RawMessage) (contracts.ToolResult, error) {
		return d.call(ctx, call, digest, with, parameters)
	})
}

// call makes one call. Before a write it lists the operations again, and rejects the call if the
// operation has changed. A read must equal its last listing, even if no manifest can be built from
// it.
func (d *Domain) call(ctx context.Context, c Call, digest string, with domainkit.Call, parameters json.RawMessage) (contracts.ToolResult, error) {
	if err := contracts.Decode(parameters, &c.Arguments); err != nil {
		return contracts.ToolResult{}, err
	}
	c.Context = with
	if c.Tool.KeyParam != "" && with.IdempotencyKey != "" {
		c.Arguments[c.Tool.KeyParam] = with.IdempotencyKey
	}
	if c.Writes {
		if err := d.unchanged(ctx, c.Name, digest); err != nil {
			return contracts.ToolResult{}, err
		}
	} else if !d.offers(c.Name, digest) {
		return contracts.ToolResult{}, domainkit.Retryf(ErrChanged, "%s is no longer what it was; the server has changed it", c.Name)
	}
	result, err := d.source.Call(ctx, c)
	if tool, ok := errors.AsType[*contracts.ToolError](err); ok && !c.Writes && tool.Effect == contracts.EffectUnknown {
		tool.Effect = contracts.EffectNone
	}
	if err == nil && c.Tool.Matches != nil && !c.Writes {
		if err := c.Tool.Matches.in(&result); err != nil {
			return result, domainkit.Failf(contracts.ErrUpstream, contracts.EffectNone, "%s: %s", c.Name, err.Error())
		}
	}
	return result, err
}

// ErrChanged is the error type of a call whose operation has changed.
const ErrChanged = "domain.operation_changed"

// offers reports whether the operation was listed last with this digest.
func (d *Domain) offers(name, digest string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.offered[name] == digest
}

func (d *Domain) unchanged(ctx context.Context, name, digest string) error {
	defs, err := d.definitions(ctx)
	if refused, ok := errors.AsType[*contracts.ToolError](err); ok && refused.Type == contracts.ErrUnauthorized {
		return refused // a repeat would be rejected as well
	}
	if err != nil {
		return domainkit.Retryf(contracts.ErrUpstream, "the server cannot be asked whether %s is what was approved: %s", name, contracts.CleanSummary(err.Error()))
	}
	for _, def := range defs {
		if def.Name == name && def.Digest() == digest {
			return nil
		}
	}
	d.Changed()
	return domainkit.Refusef(ErrChanged, "%s is no longer what was approved; the server has changed it", name)
}

// withoutKey removes the parameter that the bridge fills in from a schema.
func withoutKey(raw json.RawMessage, param string) (json.RawMessage, error) {
	var root struct {
		Type any `json:"type"`
	}
	if param == "" && json.Unmarshal(raw, &root) == nil && root.Type != nil {
		return raw, nil
	}
	var schema map[string]any
	if err := contracts.Decode(raw, &schema); err != nil {
		return nil, err
	}
	if _, said := schema["type"]; !said {
		schema["type"] = "object"
	}
	if param == "" {
		return json.Marshal(schema)
	}
	properties, _ := schema["properties"].(map[string]any)
	if _, there := properties[param]; !there {
		return nil, contracts.Errorf(contracts.CodeInvalid, "it has no parameter %q for the idempotency key", param)
	}
	delete(properties, param)
	if required, ok := schema["required"].([]any); ok {
		var rest []any
		for _, name := range required {
			if name != param {
				rest = append(rest, name)
			}
		}
		if schema["required"] = rest; rest == nil {
			delete(schema, "required")
		}
	}
	return json.Marshal(schema)
}
