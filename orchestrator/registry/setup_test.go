package registry_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/orchestrator/registry"
	"github.com/manifold-run/manifold/orchestrator/registry/registrytest"
)

// service is a domain service in memory.
type service struct {
	manifest string
	etag     string
	err      error
	health   contracts.HealthStatus
	sick     error         // error of health checks
	hang     chan struct{} // fetches wait for it
	asked    int
	checked  int
	times    []time.Time
	etags    []string
}

// world has all services by URL; it is a registry.Fetcher.
type world struct {
	mu        sync.Mutex
	services  map[string]*service
	forgotten []string
}

func (w *world) set(url string, change func(*service)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.services[url] == nil {
		w.services[url] = &service{health: contracts.HealthOK}
	}
	change(w.services[url])
}

func (w *world) get(url string) service {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *w.services[url]
}

func (w *world) FetchManifest(ctx context.Context, at registry.Endpoint, etag string) (registry.Fetched, error) {
	w.mu.Lock()
	s, ok := w.services[at.URL]
	if !ok {
		w.mu.Unlock()
		return registry.Fetched{}, contracts.Errorf(contracts.CodeUnavailable, "nobody listens at %s", at.URL)
	}
	s.asked++
	s.times = append(s.times, time.Now())
	s.etags = append(s.etags, etag)
	hang, now := s.hang, *s
	w.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return registry.Fetched{}, ctx.Err()
		}
	}
	if now.err != nil {
		return registry.Fetched{}, now.err
	}
	if etag != "" && etag == now.etag {
		return registry.Fetched{NotModified: true, ETag: etag}, nil
	}
	return registry.Fetched{Body: []byte(now.manifest), ETag: now.etag}, nil
}

func (w *world) Health(_ context.Context, at registry.Endpoint) (contracts.Health, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.services[at.URL]
	if !ok {
		return contracts.Health{}, contracts.Errorf(contracts.CodeUnavailable, "nobody listens at %s", at.URL)
	}
	s.checked++
	return contracts.Health{Status: s.health}, s.sick
}

func (w *world) Forget(domain string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forgotten = append(w.forgotten, domain)
}

// elsewhere is the failure of a sentence that is accepted as another request.
const elsewhere = "it leads elsewhere"

// tester is a Tester that returns the given failures of sentences in a catalog.
type tester func(c *contracts.Catalog, domain, say string) (failure string)

func (f tester) RunTests(_ context.Context, c *contracts.Catalog, domain string) ([]registry.TestFailure, error) {
	entry, ok := c.Domain(domain)
	if !ok {
		return nil, fmt.Errorf("no domain %s in the catalog", domain)
	}
	var out []registry.TestFailure
	for i, t := range entry.Manifest.Tests {
		if why := f(c, domain, t.Say); why != "" {
			out = append(out, registry.TestFailure{Index: i, Say: t.Say, Message: why, Taken: why == elsewhere})
		}
	}
	return out, nil
}

type bundle struct {
	*registry.Registry

	world *world
	store *registrytest.Store
}

func setup(t *testing.T, cfg registry.Config) *bundle {
	t.Helper()
	b := &bundle{world: &world{services: map[string]*service{}}, store: registrytest.NewStore()}
	b.Registry = b.process(t, cfg, nil)
	return b
}

// reading returns one more process, which understands sentences as a server does.
func (b *bundle) reading(t *testing.T) *registry.Registry {
	t.Helper()
	adapter, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.New(registry.Config{}, b.store, b.world, registry.NewSentenceTester(adapter, nil))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// process returns one more process with the same store and services.
func (b *bundle) process(t *testing.T, cfg registry.Config, fails tester) *registry.Registry {
	t.Helper()
	if fails == nil {
		fails = func(*contracts.Catalog, string, string) string { return "" }
	}
	r, err := registry.New(cfg, b.store, b.world, fails)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func start(t *testing.T, r *registry.Registry, b contracts.Bootstrap) {
	t.Helper()
	if err := r.Start(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, r) })
}

func stop(t *testing.T, r *registry.Registry) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
	defer cancel()
	if err := r.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func urlOf(domain string) string { return "http://" + domain + ".test" }

func registration(domain string) contracts.Registration {
	return contracts.Registration{Domain: domain, URL: urlOf(domain)}
}

// offer sets the manifest of a service.
func (b *bundle) offer(domain, manifest string) {
	b.world.set(urlOf(domain), func(s *service) {
		s.manifest, s.etag = manifest, `"`+contracts.HashBytes([]byte(manifest))[:8]+`"`
	})
}

// register offers a manifest and registers the domain, which must succeed.
func (b *bundle) register(t *testing.T, domain, manifest string) contracts.DomainReport {
	t.Helper()
	b.offer(domain, manifest)
	report, err := b.Register(t.Context(), registration(domain))
	if err != nil {
		t.Fatalf("register %s: %v", domain, err)
	}
	return report
}

// manifestOf returns a manifest of capabilities in JSON.
func manifestOf(domain string, capabilities ...string) string {
	return fmt.Sprintf(`{"schema_version":"1","domain":%q,"version":"1.0.0","capabilities":[%s]}`,
		domain, strings.Join(capabilities, ","))
}

// capability returns a capability with its metadata.
func capability(name, metadata string) string {
	return fmt.Sprintf(`{"name":%q,"description":"It does %s.","schema":{"type":"object","properties":{"id":{"type":"string"}}},"metadata":%s}`,
		name, name, metadata)
}

func read(name string) string {
	return capability(name, `{"side_effect_class":"read","intent_hints":{"examples":["show the `+name+`"]}}`)
}

// with makes one replacement in a manifest; old must occur in it.
func with(t *testing.T, manifest, old, young string) string {
	t.Helper()
	if !strings.Contains(manifest, old) {
		t.Fatalf("%q is not in %s", old, manifest)
	}
	return strings.Replace(manifest, old, young, 1)
}

func wantCode(t *testing.T, err error, want contracts.Code) {
	t.Helper()
	if got := contracts.CodeOf(err); got != want {
		t.Errorf("got error %v with code %q, want code %q", err, got, want)
	}
}

func wantOutcome(t *testing.T, got contracts.DomainReport, want contracts.DomainOutcome) {
	t.Helper()
	if got.Outcome != want {
		t.Errorf("got %s with %v, want %s", got.Outcome, got.Findings, want)
	}
}

// lines returns the findings of a severity as text.
func lines(findings []contracts.Finding, s contracts.Severity) []string {
	var out []string
	for _, f := range findings {
		if f.Severity == s {
			out = append(out, f.Pointer+": "+f.Message)
		}
	}
	return out
}

func policyOf(t *testing.T, r *registry.Registry, ref string) contracts.Policy {
	t.Helper()
	e, ok := r.Catalog().Capability(ref)
	if !ok {
		t.Fatalf("the catalog has no %s", ref)
	}
	return e.Policy
}
