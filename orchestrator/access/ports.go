package access

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// KeyStore keeps API keys. It is a port because access does no I/O; the
// memory implementation and the suite that every implementation passes are in
// accesstest. Secrets never reach it, only their hashes.
type KeyStore interface {
	// InsertKey adds a key; a taken id is a conflict.
	InsertKey(ctx context.Context, key Key) error

	// InsertFirstKey adds a key only while the store holds none at all, in one
	// transaction, and reports whether it did. Of several processes that start
	// at once exactly one is told yes.
	InsertFirstKey(ctx context.Context, key Key) (inserted bool, err error)

	// Key gives a key by its id, revoked and expired ones too, or not_found.
	Key(ctx context.Context, id string) (Key, error)

	// Keys lists keys, sorted by creation time, then id.
	Keys(ctx context.Context, p contracts.Page) (contracts.List[Key], error)

	// RevokeKey sets RevokedAt; the first time is kept when it is called
	// again. An unknown id is not_found.
	RevokeKey(ctx context.Context, id string, at time.Time) error
}

// SignInStore keeps which tokens of sign-ins and of links to them count: by their
// hashes, and never longer than each said when it was made. The suite that every
// implementation passes is in accesstest.
type SignInStore interface {
	// InsertSignIn keeps a token that was made at a time, until another; those
	// that are over are forgotten.
	InsertSignIn(ctx context.Context, hash string, at, until time.Time) error

	// SignInSeen reports when somebody was last seen with it, or not_found.
	SignInSeen(ctx context.Context, hash string) (time.Time, error)

	// SeeSignIn notes that somebody was; one that is gone stays gone.
	SeeSignIn(ctx context.Context, hash string, at time.Time) error

	// RemoveSignIn forgets it. Of several who remove one, exactly one is told
	// that it was there.
	RemoveSignIn(ctx context.Context, hash string) (was bool, err error)
}

// Kind describes what stands behind a key.
type Kind string

// The kinds of keys. A user's key belongs to one person; a service's to a
// program; a frontend's to a program that forwards which person is asking.
const (
	KindUser     Kind = "user"
	KindService  Kind = "service"
	KindFrontend Kind = "frontend"
)

// Role is what a key's holder may do; see Allowed.
type Role string

// The roles.
const (
	RoleViewer    Role = "viewer"
	RoleRequester Role = "requester" // asks, for writes too, and sees what is its own
	RoleOperator  Role = "operator"
	RoleApprover  Role = "approver"
	RoleAuditor   Role = "auditor" // reads ledgers and gates, and nothing else
	RoleAdmin     Role = "admin"
)

// rolesVersion is which words were roles of Manifold when a key was made: 0 knew
// neither requester nor auditor. A stored key gains no right by a new word.
const rolesVersion = 1

// Scopes narrow a key; an empty list does not narrow.
type Scopes struct {
	Domains []string                    `json:"domains,omitempty"`
	Classes []contracts.SideEffectClass `json:"classes,omitempty"`
}

// Key is one API key as it is stored. The secret itself is shown once, when
// the key is made.
type Key struct {
	// ID is the public part, which the key's text begins with.
	ID string `json:"id"`
	// Hash is the SHA-256 of the whole text of the key, in hex.
	Hash string `json:"-"`
	// Name is a label for people.
	Name string `json:"name,omitempty"`
	Kind Kind   `json:"kind"`
	// Principal is the person or the program that the key speaks for.
	Principal string `json:"principal"`
	Roles     []Role `json:"roles"`
	// RolesVersion specifies which of the roles are Manifold's; see rolesVersion.
	RolesVersion int    `json:"roles_version,omitempty"`
	Scopes       Scopes `json:"scopes,omitzero"`
	CreatedBy    string `json:"created_by"`
	// CreatedWith is the id of the key that its maker came with; older keys have
	// none.
	CreatedWith string     `json:"created_with,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
	ExpiresAt   *time.Time `json:"expires_at,omitempty"`
	RevokedAt   *time.Time `json:"revoked_at,omitempty"`
}
