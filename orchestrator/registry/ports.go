package registry

import (
	"context"
	"encoding/json"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Fetcher speaks to domain services. It is a port because the registry does
// no I/O; internal/domainclient implements it.
type Fetcher interface {
	// FetchManifest gets the manifest, or tells that it still is what etag
	// names; etag may be empty. The body is complete but not judged. Errors
	// carry codes: unavailable when the service cannot be reached or does not
	// answer properly, unauthorized, too_large.
	FetchManifest(ctx context.Context, at Endpoint, etag string) (Fetched, error)

	// Health asks how the service is; an error means that it did not say.
	Health(ctx context.Context, at Endpoint) (contracts.Health, error)
}

// Endpoint is where a domain is reached, and how.
type Endpoint struct {
	Domain string
	URL    string
	// Authorization is as in the registration, "env:NAME" or empty; never the
	// secret itself.
	Authorization string
	// Pack is the manifest itself, where there is no service.
	Pack []byte
	// Bridge is the service behind a bridge within the server; URL then only tells one
	// bridge from another.
	Bridge contracts.Bridge
}

// Fetched is the answer to a request for a manifest.
type Fetched struct {
	NotModified bool
	Body        []byte
	ETag        string
}

// Store keeps what the registry must not forget: which domains there are,
// which manifest of each is active, and which one waits for a person. It is a
// port because the registry itself does no I/O; the memory implementation and
// the suite that every implementation passes are in registrytest.
//
// Errors carry contracts codes: not_found for an unknown name or digest,
// conflict for a lost compare-and-set.
type Store interface {
	// Domains returns all rows, sorted by name.
	Domains(ctx context.Context) ([]DomainRow, error)

	// Domain returns one row, or not_found.
	Domain(ctx context.Context, name string) (DomainRow, error)

	// SaveDomain writes one row in one transaction, together with the manifest
	// bodies that it newly names. row.Revision is the revision that the caller
	// has read, 0 for a row that must not exist yet; another one in the store
	// is a conflict, and then nothing is written. The stored row gets
	// row.Revision + 1, which is returned. A manifest that is there already is
	// left as it is; manifests that no row names any more, neither as active
	// nor as pending, are removed in the same transaction.
	SaveDomain(ctx context.Context, row DomainRow, bodies ...ManifestBody) (revision int64, err error)

	// DeleteDomain removes a row whose revision is the given one, and the
	// manifests that nothing names any more. A missing row is not_found,
	// another revision a conflict.
	DeleteDomain(ctx context.Context, name string, revision int64) error

	// Manifest gives a body by its digest, or not_found.
	Manifest(ctx context.Context, digest string) ([]byte, error)
}

// Tester tries the sentences of manifests. It is a port because only the
// matcher knows what words lead to.
type Tester interface {
	// RunTests tries the tests of one domain's manifest on a catalog and gives
	// those that fail, by index. Tests that need an LLM, or a capability that the domain
	// may not offer here, are left out.
	RunTests(ctx context.Context, catalog *contracts.Catalog, domain string) ([]TestFailure, error)
}

// TestFailure is a sentence that does not lead where its manifest says.
type TestFailure struct {
	// Index is the place in the manifest's tests.
	Index int
	Say   string
	// Message describes what happened instead.
	Message string
	// Taken means that the sentence is accepted, for something else.
	Taken bool
}

// ManagedBy says who may change a domain's registration.
type ManagedBy string

// The managers of a domain. What the bootstrap file manages is applied again
// at every start; what an admin manages is kept as it is.
const (
	ManagedByFile  ManagedBy = "file"
	ManagedByAdmin ManagedBy = "admin"
)

// DomainRow is the stored state of one domain.
type DomainRow struct {
	Name      string
	ManagedBy ManagedBy
	// Registration is the JSON of a contracts.Registration; stores only carry
	// it.
	Registration json.RawMessage
	// ActiveDigest names the manifest that is in use; "" before the first one
	// was accepted.
	ActiveDigest string
	// ActiveETag is what the domain called the active manifest.
	ActiveETag string
	// PendingDigest names a manifest that is good but waits for an admin's
	// confirmation, because it loosens a policy or collides with another
	// domain; "" without one.
	PendingDigest string
	PendingETag   string
	// Revision grows by one with every change of the row.
	Revision  int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// ManifestBody is a manifest as the domain sent it; Digest is the SHA-256 of
// its canonical JSON.
type ManifestBody struct {
	Digest string
	Body   []byte
}
