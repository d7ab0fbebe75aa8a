package registry

import (
	"context"
	"encoding/json"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Fetcher calls domain services. It is a port because the registry does no I/O;
// internal/domainclient implements it.
type Fetcher interface {
	// FetchManifest fetches the manifest, or reports that it is still the one with this etag, which
	// may be empty. The body is complete but not validated. Errors have the codes unavailable (the
	// service cannot be reached or does not answer properly), unauthorized or too_large.
	FetchManifest(ctx context.Context, at Endpoint, etag string) (Fetched, error)

	// Health returns the health that the service reports; an error means that it did not answer.
	Health(ctx context.Context, at Endpoint) (contracts.Health, error)
}

// Endpoint is the address of a domain.
type Endpoint struct {
	Domain string
	URL    string
	// Authorization is as in the registration, "env:NAME" or empty; never the secret itself.
	Authorization string
	// Pack is the manifest itself, for a domain without a service.
	Pack []byte
	// Bridge is the service behind a bridge within the server. URL is then only a unique name of
	// that bridge.
	Bridge contracts.Bridge
}

// Fetched is the answer to a request for a manifest.
type Fetched struct {
	NotModified bool
	Body        []byte
	ETag        string
}

// Store stores the domains, the active manifest of each, and the one that waits for a confirmation.
// It is a port because the registry does no I/O; the memory implementation and the suite that every
// implementation passes are in registrytest.
//
// Errors have contracts codes: not_found for an unknown name or digest, conflict for a lost
// compare-and-set.
type Store interface {
	// Domains returns all rows, sorted by name.
	Domains(ctx context.Context) ([]DomainRow, error)

	// Domain returns one row, or not_found.
	Domain(ctx context.Context, name string) (DomainRow, error)

	// SaveDomain writes one row in one transaction, together with the manifest bodies that it
	// refers to for the first time. row.Revision is the revision that the caller has read, 0 for a
	// new row. If the store has another one, SaveDomain returns conflict and writes nothing. The
	// stored row gets row.Revision + 1, which is returned. An existing manifest is not overwritten.
	// Manifests that no row refers to any more, as active or pending, are deleted in the same
	// transaction.
	SaveDomain(ctx context.Context, row DomainRow, bodies ...ManifestBody) (revision int64, err error)

	// DeleteDomain deletes a row with the given revision, and the manifests that no row refers to
	// any more. It returns not_found for a missing row and conflict for another revision.
	DeleteDomain(ctx context.Context, name string, revision int64) error

	// Manifest returns a body by its digest, or not_found.
	Manifest(ctx context.Context, digest string) ([]byte, error)
}

// Tester runs the test sentences of manifests. It is a port because the matcher is needed to
// understand them.
type Tester interface {
	// RunTests runs the tests of one domain's manifest on a catalog and returns the failures by
	// index. Tests that need an LLM, or a capability that the domain may not offer here, are
	// skipped.
	RunTests(ctx context.Context, catalog *contracts.Catalog, domain string) ([]TestFailure, error)
}

// TestFailure is a test sentence that is not understood as its manifest says.
type TestFailure struct {
	// Index is the position in the manifest's tests.
	Index int
	Say   string
	// Message describes what happened instead.
	Message string
	// Taken means that the sentence is accepted, but as another request.
	Taken bool
}

// ManagedBy says who may change a domain's registration.
type ManagedBy string

// The managers of a domain. The bootstrap file is applied again at every start; the registrations
// of an admin are kept.
const (
	ManagedByFile  ManagedBy = "file"
	ManagedByAdmin ManagedBy = "admin"
)

// DomainRow is the stored state of one domain.
type DomainRow struct {
	Name      string
	ManagedBy ManagedBy
	// Registration is the JSON of a contracts.Registration; stores do not interpret it.
	Registration json.RawMessage
	// ActiveDigest refers to the active manifest; "" before the first one was accepted.
	ActiveDigest string
	// ActiveETag is the domain's ETag of the active manifest.
	ActiveETag string
	// PendingDigest refers to a valid manifest that waits for an admin's confirmation, because it
	// loosens a policy or collides with another domain; "" if there is none.
	PendingDigest string
	PendingETag   string
	// Revision grows by one with every change of the row.
	Revision  int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// ManifestBody is a manifest as the domain sent it; Digest is the SHA-256 of its canonical JSON.
type ManifestBody struct {
	Digest string
	Body   []byte
}
