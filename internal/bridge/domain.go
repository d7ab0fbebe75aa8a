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
	"github.com/manifold-run/manifold/contracts/writeverb"
	"github.com/manifold-run/manifold/domainkit"
)

const (
	// fresh is for how long the list of operations is taken as it was.
	fresh = 5 * time.Second
	// listTime bounds the time to get it.
	listTime = 20 * time.Second
	// maxOld bounds the services that still answer for work that they accepted.
	maxOld = 4
)

// Config says what a bridge is called and how it is served; zero values take the
// defaults in brackets.
type Config struct {
	// Domain is the name of the domain.
	Domain  string
	Version string // ["1"]
	Overlay Overlay
	// Tokens are the bearer tokens that are accepted [none: open].
	Tokens []string
	// Store keeps the idempotency keys [in memory].
	Store domainkit.Store
	// Seen keeps how operations were seen first [as long as the bridge runs].
	Seen Seen
	// MaxOperations bounds what a service may offer [500].
	MaxOperations int
	// MaxConcurrent bounds the calls at once [16].
	MaxConcurrent int
	Now           func() time.Time
	Logger        *slog.Logger
}

// Seen keeps how the operations of a service were seen first: one without a pin is
// compared with that.
type Seen interface {
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

// Domain is a bridge as a domain: an http.Handler with the three endpoints.
type Domain struct {
	cfg    Config
	source Source
	verbs  writeverb.Verbs

	busy chan struct{} // held while the operations are listed

	mu      sync.Mutex // guards the fields below
	overlay Overlay
	seen    map[string]Definition
	listed  map[string]string // digests of what was listed last
	at      time.Time
	stale   bool
	current *serving
	old     []*serving
	trouble string
}

// serving is a manifest in service.
type serving struct {
	service  *domainkit.Service
	handler  http.Handler
	findings []Finding
	// digests are those of the operations that it serves.
	digests map[string]string
}

// New makes a bridge. It does not call the service yet.
func New(cfg Config, source Source) (*Domain, error) {
	verbs, err := writeverb.Load()
	if err != nil {
		return nil, err
	}
	d := &Domain{cfg: cfg.withDefaults(), source: source, verbs: verbs, busy: make(chan struct{}, 1), overlay: cfg.Overlay, seen: map[string]Definition{}}
	if cfg.Seen == nil {
		return d, nil
	}
	seen, err := cfg.Seen.Load()
	if err != nil {
		return nil, fmt.Errorf("how the operations were seen first: %w", err)
	}
	maps.Copy(d.seen, seen)
	return d, nil
}

// Revise takes another overlay; what is under way ends as it was.
func (d *Domain) Revise(o Overlay) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.overlay, d.listed, d.stale = o, nil, true
}

func (d *Domain) says() Overlay {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.overlay
}

// Close ends the bridge; what is under way may end until ctx does.
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

// Changed tells that the service has said that its operations have changed.
func (d *Domain) Changed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stale = true
}

// Findings says what became of each operation. It asks the service.
func (d *Domain) Findings(ctx context.Context) ([]Finding, error) {
	s, err := d.refresh(ctx, true)
	if err != nil {
		return nil, err
	}
	return s.findings, nil
}

// ServeHTTP answers the three endpoints of a domain.
func (d *Domain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !d.authorized(r.Header.Get("Authorization")) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		tell(w, http.StatusUnauthorized, refusalOf(domainkit.Refusef(contracts.ErrUnauthorized, "a valid bearer token is required")))
		return
	}
	s, err := d.refresh(r.Context(), r.URL.Path == "/manifest")
	if err != nil {
		Absent(w, r, err)
		return
	}
	if r.Method == http.MethodPost && r.URL.Path == "/execute" && d.polled(w, r, s) {
		return
	}
	s.handler.ServeHTTP(w, r)
}

// Absent answers while the service cannot be used and never was.
func Absent(w http.ResponseWriter, r *http.Request, err error) {
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
	_ = json.NewEncoder(w).Encode(v) // who does not read has gone
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

// polled answers for work that an earlier manifest's service has accepted; false:
// it is not for one of these.
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
		kept := &kept{header: http.Header{}, code: http.StatusOK}
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

// failing gives an error, or the end.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, cmp.Or(f.err, io.EOF) }

// kept holds an answer back.
type kept struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header         { return k.header }
func (k *kept) WriteHeader(code int)        { k.code = code }
func (k *kept) Write(p []byte) (int, error) { return k.body.Write(p) }

// refresh gives what is in service. With look, or when there is nothing yet, or the
// service says that it has changed, its operations are listed first; a service that
// cannot be reached then stays in service as it was.
func (d *Domain) refresh(ctx context.Context, look bool) (*serving, error) {
	if s := d.asItIs(look); s != nil {
		return s, nil
	}
	select {
	case d.busy <- struct{}{}:
		defer func() { <-d.busy }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s := d.asItIs(look); s != nil {
		return s, nil
	}
	s, err := d.list(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trouble = ""
	if err != nil {
		d.trouble = err.Error()
		d.cfg.Logger.WarnContext(ctx, "the operations could not be listed", slog.Any("error", err))
		if d.current != nil {
			return d.current, nil
		}
	}
	return s, err
}

// asItIs gives what is in service, nil if it should be looked at.
func (d *Domain) asItIs(look bool) *serving {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.current == nil || d.stale || look && d.cfg.Now().Sub(d.at) > fresh {
		return nil
	}
	return d.current
}

// list asks for the operations, and puts them into service if they are others.
func (d *Domain) list(ctx context.Context) (*serving, error) {
	defs, err := d.definitions(ctx)
	if err != nil {
		return nil, err
	}
	digests := map[string]string{}
	for _, def := range defs {
		digests[def.Name] = def.Digest()
	}
	d.mu.Lock()
	same := d.current != nil && maps.Equal(digests, d.listed)
	current := d.current
	d.at, d.stale = d.cfg.Now(), false
	d.mu.Unlock()
	if same {
		return current, nil
	}
	next, err := d.build(defs)
	if err != nil {
		return nil, err
	}
	if err := d.note(defs); err != nil {
		return nil, errors.Join(err, next.service.Shutdown(ctx))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.listed = digests
	if d.current != nil {
		d.old = append([]*serving{d.current}, d.old...)
		d.old = d.old[:min(len(d.old), maxOld)]
	}
	d.current = next
	return next, nil
}

// note keeps operations that are seen for the first time: later looks are compared
// with that.
func (d *Domain) note(defs []Definition) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := maps.Clone(d.seen)
	for _, def := range defs {
		if _, known := all[def.Name]; !known {
			all[def.Name] = def
		}
	}
	if len(all) > len(d.seen) && d.cfg.Seen != nil {
		if err := d.cfg.Seen.Save(all); err != nil {
			return fmt.Errorf("how the operations were seen first: %w", err)
		}
	}
	d.seen = all
	return nil
}

// definitions lists the operations, bounded in time and number.
func (d *Domain) definitions(ctx context.Context) ([]Definition, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	defs, err := d.source.Definitions(ctx)
	if err != nil {
		return nil, err
	}
	taken, selected := defs[:0:0], d.says().Select
	for _, def := range defs {
		if selected.takes(def) {
			taken = append(taken, def)
		}
	}
	if len(taken) > d.cfg.MaxOperations {
		return nil, contracts.Errorf(contracts.CodeTooLarge, "it offers %d operations, more than %d; select those that are needed in the overlay", len(taken), d.cfg.MaxOperations)
	}
	return taken, nil
}

// build makes the service of what may be served.
func (d *Domain) build(defs []Definition) (*serving, error) {
	overlay := d.says()
	if faults := overlay.faults(defs); len(faults) > 0 {
		return nil, contracts.Invalid("the overlay does not fit the service", faults...)
	}
	d.mu.Lock()
	seen := maps.Clone(d.seen)
	d.mu.Unlock()
	out := &serving{findings: judge(overlay, defs, seen, d.verbs), digests: map[string]string{}}
	svc, err := domainkit.New(domainkit.Config{
		Domain: d.cfg.Domain, Version: d.cfg.Version, Title: overlay.Title, Description: overlay.Description,
		Tests: overlay.Tests, Tokens: d.cfg.Tokens, Store: d.cfg.Store, MaxConcurrent: d.cfg.MaxConcurrent,
		Checks: map[string]domainkit.Check{
			"server":     {Run: d.reachable, Optional: true},
			"operations": {Run: func(context.Context) error { return unserved(out.findings) }, Optional: true},
		},
		Logger: d.cfg.Logger, Now: d.cfg.Now,
	})
	if err != nil {
		return nil, err
	}
	for i := range out.findings {
		f := &out.findings[i]
		if !f.Served() {
			d.cfg.Logger.Warn("an operation is not served", slog.String("operation", contracts.CleanSummary(f.Operation)), slog.String("why", f.Why))
			continue
		}
		out.digests[f.Operation] = f.definition.Digest()
		if err := d.add(svc, f); err != nil {
			return nil, err
		}
	}
	if len(out.digests) == 0 {
		return nil, contracts.Errorf(contracts.CodeInvalid, "none of its %d operations can be served: %w", len(defs), unserved(out.findings))
	}
	out.service = svc
	out.handler, err = svc.Handler()
	return out, err
}

// reachable is a health check: how the last look at the service went.
func (d *Domain) reachable(context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.trouble == "" {
		return nil
	}
	return errors.New(d.trouble)
}

// unserved says which operations are in quarantine, or have a fault.
func unserved(findings []Finding) error {
	var names []string
	for _, f := range findings {
		if !f.Served() && f.Why != "left out by the overlay" {
			names = append(names, contracts.CleanSummary(f.Operation)+": "+f.Why)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%d operations are not served: %s", len(names), strings.Join(names[:min(len(names), 5)], "; "))
}

// add declares one capability.
func (d *Domain) add(svc *domainkit.Service, f *Finding) error {
	schema, err := withoutKey(f.definition.InputSchema, f.tool.KeyParam)
	if err != nil {
		return fmt.Errorf("operation %q: %w", f.Operation, err)
	}
	policy := f.metadata.Policy(f.metadata.Compensation != nil)
	call := Call{Name: f.Operation, Writes: policy.SideEffectClass.Writes(), Tool: f.tool}
	digest := f.definition.Digest()
	return domainkit.AddRaw(svc, domainkit.Capability{
		Name: f.Capability, Description: cmp.Or(f.tool.Description, described(f.definition.Description)),
		Metadata: f.metadata, Schema: schema, OutputSchema: f.tool.OutputSchema,
	}, func(ctx context.Context, with domainkit.Call, parameters json.RawMessage) (contracts.ToolResult, error) {
		return d.call(ctx, call, digest, with, parameters)
	})
}

// call makes one call. Before a write the service is asked whether the operation
// still is the one that was approved.
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
	}
	result, err := d.source.Call(ctx, c)
	if tool, ok := errors.AsType[*contracts.ToolError](err); ok && !c.Writes && tool.Effect == contracts.EffectUnknown {
		tool.Effect = contracts.EffectNone
	}
	return result, err
}

// ErrChanged is the type of the error by which a call is refused whose operation is
// no longer what it was.
const ErrChanged = "domain.operation_changed"

func (d *Domain) unchanged(ctx context.Context, name, digest string) error {
	defs, err := d.definitions(ctx)
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

// withoutKey takes the parameter out of a schema that the bridge fills in.
func withoutKey(raw json.RawMessage, param string) (json.RawMessage, error) {
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
