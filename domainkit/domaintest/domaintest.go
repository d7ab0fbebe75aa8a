// Package domaintest is for tests of domains: it serves one, calls its
// capabilities as the core would, and makes it the only one of a catalog.
package domaintest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

// Serve serves the domain until the test ends, and gives its URL. Serving one
// again is like a new process: only what the service was given to keep is there.
func Serve(tb testing.TB, svc *domainkit.Service) string {
	tb.Helper()
	handler, err := svc.Handler()
	if err != nil {
		tb.Fatal(err)
	}
	server := httptest.NewServer(handler)
	tb.Cleanup(server.Close)
	return server.URL
}

// Execute calls a capability and returns status and result, which is that of the
// capability, a refusal included.
func Execute(tb testing.TB, url, capability string, parameters any, context map[string]any) (int, contracts.ToolResult) {
	tb.Helper()
	raw, err := json.Marshal(map[string]any{"capability": capability, "parameters": parameters, "context": context})
	if err != nil {
		tb.Fatal(err)
	}
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, url+"/execute", bytes.NewReader(raw))
	if err != nil {
		tb.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close()
	var out contracts.ToolResult
	if err := json.NewDecoder(response.Body).Decode(&out); err != nil {
		tb.Fatalf("%s: status %d: %v", capability, response.StatusCode, err)
	}
	if !out.OK && out.Error == nil {
		tb.Fatalf("%s: status %d, neither a success nor an error", capability, response.StatusCode)
	}
	return response.StatusCode, out
}

// Manifest returns what the domain declares.
func Manifest(tb testing.TB, svc *domainkit.Service) *contracts.Manifest {
	tb.Helper()
	m, err := svc.Manifest()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// Catalog makes the domain the only one that is registered.
func Catalog(tb testing.TB, m *contracts.Manifest) *contracts.Catalog {
	tb.Helper()
	entry := &contracts.DomainEntry{Name: m.Domain, Digest: "digest", Manifest: m}
	for i := range m.Capabilities {
		c := &m.Capabilities[i]
		policy := c.Metadata.Policy(true)
		digest, err := contracts.CapabilityDigest(c, policy)
		if err != nil {
			tb.Fatal(err)
		}
		entry.Capabilities = append(entry.Capabilities, &contracts.CapabilityEntry{Domain: m.Domain, Capability: c, Policy: policy, Digest: digest})
	}
	return contracts.NewCatalog("snapshot", []*contracts.DomainEntry{entry}, nil)
}
