package registry

import (
	"bytes"
	"context"

	"github.com/manifold-run/manifold/contracts"
)

// packFetcher fetches the manifests of packs, which have no service, from their registrations, and
// all others from their services.
type packFetcher struct{ Fetcher }

// FetchManifest returns the manifest of a pack as it was registered.
func (p packFetcher) FetchManifest(ctx context.Context, at Endpoint, etag string) (Fetched, error) {
	if at.Pack == nil {
		return p.Fetcher.FetchManifest(ctx, at, etag)
	}
	mark := contracts.HashBytes(at.Pack)
	if etag == mark {
		return Fetched{NotModified: true, ETag: mark}, nil
	}
	return Fetched{Body: at.Pack, ETag: mark}, nil
}

// Health returns ok for a pack, which has no service.
func (p packFetcher) Health(ctx context.Context, at Endpoint) (contracts.Health, error) {
	if at.Pack == nil {
		return p.Fetcher.Health(ctx, at)
	}
	return contracts.Health{Status: contracts.HealthOK}, nil
}

func endpoint(domain string, reg contracts.Registration) Endpoint {
	at := Endpoint{Domain: domain, URL: reg.URL, Authorization: reg.Authorization, Pack: reg.Pack, Bridge: reg.Bridge}
	if reg.Given() {
		at.URL = bridgeURL(domain, reg.Bridge)
	}
	return at
}

func (e Endpoint) same(other Endpoint) bool {
	return e.Domain == other.Domain && e.URL == other.URL && e.Authorization == other.Authorization && bytes.Equal(e.Pack, other.Pack)
}
