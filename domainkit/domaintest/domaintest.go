// Package domaintest contains helpers for tests of domains: they serve a domain, call its
// capabilities as the core does, and build a catalog of it.
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

// Serve serves the domain until the test ends and returns its URL. Serving a domain again acts like
// a restart of its process: only what its stores kept is left.
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

// Execute calls a capability and returns the HTTP status and the result, also if the capability
// refused. It fails the test if the answer is not a result.
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

// Manifest returns the manifest of the domain, or fails the test.
func Manifest(tb testing.TB, svc *domainkit.Service) *contracts.Manifest {
	tb.Helper()
	m, err := svc.Manifest()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// Catalog returns a catalog with this domain only.
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
