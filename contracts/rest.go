package contracts

import "time"

// Problem is the error format of the REST API (RFC 9457), extended by our code.
type Problem struct {
	Type   string  `json:"type"`
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Detail string  `json:"detail"`
	Code   Code    `json:"code"`
	Faults []Fault `json:"faults,omitempty"`
	// Data is extra information, such as the difference from an approved plan.
	Data      any    `json:"data,omitempty"`
	RequestID string `json:"request_id,omitempty"`
}

// Message is the request body of a further message in a session.
type Message struct {
	Message string `json:"message"`
}

// Rename is the request body that renames a session.
type Rename struct {
	Name string `json:"name"`
}

// LockKey is the request body that names a lock.
type LockKey struct {
	Key string `json:"key"`
}

// LockView is one held lock.
type LockView struct {
	Key     string    `json:"key"`
	RunID   string    `json:"run_id"`
	NodeID  string    `json:"node_id"`
	Since   time.Time `json:"since"`
	Waiting []string  `json:"waiting,omitempty"`
}

// ReplayReport is the result of replaying a run from its plan and ledger.
type ReplayReport struct {
	RunID   string   `json:"run_id"`
	Entries int      `json:"entries"`
	State   RunState `json:"state"`
	// Differences name the nodes whose replayed state differs from the stored one.
	Differences []string `json:"differences,omitempty"`
}

// AuditRequest is the body of an audit request. Without a run id the audit covers all runs.
type AuditRequest struct {
	RunID string `json:"run_id,omitempty"`
}

// InstanceView is one selectable instance of a domain.
type InstanceView struct {
	Domain  string `json:"domain"`
	ID      string `json:"id"`
	Title   string `json:"title,omitempty"`
	Default bool   `json:"default,omitempty"`
}

// KeyScopes restricts a key. An empty list does not restrict.
type KeyScopes struct {
	Domains []string          `json:"domains,omitempty"`
	Classes []SideEffectClass `json:"classes,omitempty"`
}

// KeySpec is the request body that creates an API key.
type KeySpec struct {
	// Name is a single line.
	Name string `json:"name,omitempty"`
	// Kind is user, service or frontend.
	Kind      string `json:"kind"`
	Principal string `json:"principal"`
	// Roles are Manifold roles, or a domain's own roles as "domain:role".
	Roles  []string  `json:"roles"`
	Scopes KeyScopes `json:"scopes,omitzero"`
	// ExpiresAt must be in the future.
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// KeyView is an API key without its secret.
type KeyView struct {
	ID        string     `json:"id"`
	Name      string     `json:"name,omitempty"`
	Kind      string     `json:"kind"`
	Principal string     `json:"principal"`
	Roles     []string   `json:"roles"`
	Scopes    KeyScopes  `json:"scopes,omitzero"`
	CreatedBy string     `json:"created_by"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
}

// KeyCreated contains the text of a new key. It is returned only once.
type KeyCreated struct {
	KeyView
	Text string `json:"key"`
}

// SignIn is the request body of a browser sign-in: either a key or the token of a link.
type SignIn struct {
	Key  string `json:"key,omitempty"`
	Link string `json:"link,omitempty"`
}

// SignedIn is the user of a signed-in browser. The session itself is in a cookie.
type SignedIn struct {
	User SignedInUser `json:"user"`
	// CSRF must be sent in the header X-CSRF-Token of each request with side effects.
	CSRF string `json:"csrf"`
	// ExpiresAt is the end of the session if it is idle, EndsAt the end in any case.
	ExpiresAt time.Time `json:"expires_at"`
	EndsAt    time.Time `json:"ends_at"`
}

// SignedInUser is a person with their roles and scopes.
type SignedInUser struct {
	ID     string    `json:"id"`
	Name   string    `json:"name"`
	Roles  []string  `json:"roles"`
	KeyID  string    `json:"key_id"`
	Scopes KeyScopes `json:"scopes,omitzero"`
}

// SignInLink is the token of a link that signs the caller in once, on the page /sign-in#token.
type SignInLink struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expires_at"`
}

// WebhookKey is the key with which receivers of webhooks verify signatures.
type WebhookKey struct {
	KeyID string `json:"key_id"`
	// Key is the secret in base64.
	Key string `json:"key"`
}

// Caller is the authenticated identity of the caller.
type Caller struct {
	// Subject is the caller's name in owners, requesters and decisions.
	Subject string    `json:"subject"`
	Kind    string    `json:"kind"`
	KeyID   string    `json:"key_id"`
	Roles   []string  `json:"roles"`
	Scopes  KeyScopes `json:"scopes,omitzero"`
}
