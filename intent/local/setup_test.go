package local_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// saturday is what "now" is in these tests: 2026-11-21.
var saturday = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// bundle is an adapter over the manifests in testdata.
type bundle struct {
	adapter *local.Reader
	catalog *contracts.Catalog
}

func setup(tb testing.TB) bundle {
	tb.Helper()
	adapter, err := local.New(local.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	var manifests []*contracts.Manifest
	for _, d := range []string{"people", "stocks", "post", "parcels"} {
		manifests = append(manifests, readManifest(tb, d))
	}
	return bundle{adapter: adapter, catalog: catalogOf("test", manifests...)}
}

func readManifest(tb testing.TB, domain string) *contracts.Manifest {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", domain+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	return decoded(tb, string(raw))
}

func decoded(tb testing.TB, manifest string) *contracts.Manifest {
	tb.Helper()
	var m contracts.Manifest
	if err := json.Unmarshal([]byte(manifest), &m); err != nil {
		tb.Fatalf("decode a manifest: %v", err)
	}
	return &m
}

func catalogOf(snapshot string, manifests ...*contracts.Manifest) *contracts.Catalog {
	var domains []*contracts.DomainEntry
	for _, m := range manifests {
		d := &contracts.DomainEntry{Name: m.Domain, Manifest: m}
		for i := range m.Capabilities {
			c := &m.Capabilities[i]
			d.Capabilities = append(d.Capabilities, &contracts.CapabilityEntry{
				Domain: m.Domain, Capability: c, Policy: c.Metadata.Policy(c.Metadata.Compensation != nil),
			})
		}
		domains = append(domains, d)
	}
	return contracts.NewCatalog(snapshot, domains, nil)
}

func (b bundle) say(tb testing.TB, message string) intent.Understanding {
	tb.Helper()
	u, err := b.adapter.Understand(tb.Context(), intent.Request{Message: message, Catalog: b.catalog, Now: saturday})
	if err != nil {
		tb.Fatalf("understand %q: %v", message, err)
	}
	return u
}
