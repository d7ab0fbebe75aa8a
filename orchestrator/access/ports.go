package access

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// KeyStore stores API keys. It is a port because access does no I/O; the memory implementation and
// the suite that every implementation passes are in accesstest. The store never receives secrets,
// only their hashes.
type KeyStore interface {
	// InsertKey adds a key, or returns conflict if its id exists.
	InsertKey(ctx context.Context, key Key) error

	// InsertFirstKey adds a key only if the store has no key at all, in one transaction, and
	// reports whether it did. Of several processes that start at once exactly one gets true.
	InsertFirstKey(ctx context.Context, key Key) (inserted bool, err error)

	// Key returns a key by its id, including revoked and expired ones, or not_found.
	Key(ctx context.Context, id string) (Key, error)

	// Keys lists keys, sorted by creation time, then id.
	Keys(ctx context.Context, p contracts.Page) (contracts.List[Key], error)

	// RevokeKey sets RevokedAt. A second call keeps the first time. It returns not_found for an
	// unknown id.
	RevokeKey(ctx context.Context, id string, at time.Time) error
}

// SignInStore stores the valid tokens of sign-ins and of sign-in links, as hashes and at most until
// they expire. The suite that every implementation passes is in accesstest.
type SignInStore interface {
	// InsertSignIn stores a token that was created at a time and expires at another, and deletes
	// expired ones.
	InsertSignIn(ctx context.Context, hash string, at, until time.Time) error

	// SignInSeen returns the last use of a token, or not_found.
	SignInSeen(ctx context.Context, hash string) (time.Time, error)

	// SeeSignIn records a use of a token; a removed one stays removed.
	SeeSignIn(ctx context.Context, hash string, at time.Time) error

	// RemoveSignIn removes a token. Of several concurrent callers exactly one gets true.
	RemoveSignIn(ctx context.Context, hash string) (was bool, err error)
}

// Kind is the kind of holder of a key.
type Kind string

// The kinds of keys. A user's key belongs to one person; a service's to a program; a frontend's to
// a program that names the person for each request.
const (
	KindUser     Kind = "user"
	KindService  Kind = "service"
	KindFrontend Kind = "frontend"
)

// Role is a role of a key; Allowed lists what each role may do.
type Role string

// The roles.
const (
	RoleViewer    Role = "viewer"
	RoleRequester Role = "requester" // may request, writes too, and sees its own
	RoleOperator  Role = "operator"
	RoleApprover  Role = "approver"
	RoleAuditor   Role = "auditor" // reads ledgers and gates only
	RoleAdmin     Role = "admin"
)

// rolesVersion is the version of Manifold's set of roles when a key was created: version 0 had
// neither requester nor auditor. An old key gains no rights from a role that was added later.
const rolesVersion = 1

// Scopes restrict a key; an empty list does not restrict.
type Scopes struct {
	Domains []string                    `json:"domains,omitempty"`
	Classes []contracts.SideEffectClass `json:"classes,omitempty"`
}

// Key is a stored API key. Its secret is shown once, when the key is created.
type Key struct {
	// ID is the public part of the key's text.
	ID string `json:"id"`
	// Hash is the SHA-256 of the whole text of the key, in hex.
	Hash string `json:"-"`
	// Name is a label for people.
	Name string `json:"name,omitempty"`
	Kind Kind   `json:"kind"`
	// Principal is the person or program that the key authenticates.
	Principal string `json:"principal"`
	Roles     []Role `json:"roles"`
	// RolesVersion is the set of roles that the key was created with; see rolesVersion.
	RolesVersion int    `json:"roles_version,omitempty"`
	Scopes       Scopes `json:"scopes,omitzero"`
	CreatedBy    string `json:"created_by"`
	// CreatedWith is the id of the key that created this one; older keys have none.
	CreatedWith string     `json:"created_with,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
	ExpiresAt   *time.Time `json:"expires_at,omitempty"`
	RevokedAt   *time.Time `json:"revoked_at,omitempty"`
}
