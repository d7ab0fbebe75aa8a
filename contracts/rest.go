package contracts

import "time"

// Problem is how the REST API tells an error (RFC 9457), with our code.
type Problem struct {
	Type   string  `json:"type"`
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Detail string  `json:"detail"`
	Code   Code    `json:"code"`
	Faults []Fault `json:"faults,omitempty"`
	// Data is extra information, such as the difference to an approved plan.
	Data      any    `json:"data,omitempty"`
	RequestID string `json:"request_id,omitempty"`
}

// Message is the body of a further message of a session.
type Message struct {
	Message string `json:"message"`
}

// Rename is the body that gives a session another name.
type Rename struct {
	Name string `json:"name"`
}

// LockKey is the body that names a lock.
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

// ReplayReport is the result of playing a run again from plan and ledger.
type ReplayReport struct {
	RunID   string   `json:"run_id"`
	Entries int      `json:"entries"`
	State   RunState `json:"state"`
	// Differences name the nodes whose replayed state is not the stored one.
	Differences []string `json:"differences,omitempty"`
}

// AuditRequest is the body of an audit; without a run it covers all.
type AuditRequest struct {
	RunID string `json:"run_id,omitempty"`
}

// InstanceView is one instance of a domain, to be chosen in a request.
type InstanceView struct {
	Domain  string `json:"domain"`
	ID      string `json:"id"`
	Title   string `json:"title,omitempty"`
	Default bool   `json:"default,omitempty"`
}

// KeyScopes narrow a key; an empty list does not narrow.
type KeyScopes struct {
	Domains []string          `json:"domains,omitempty"`
	Classes []SideEffectClass `json:"classes,omitempty"`
}

// KeySpec is the body that makes an API key.
type KeySpec struct {
	// Name is one line.
	Name string `json:"name,omitempty"`
	// Kind is user, service or frontend.
	Kind      string `json:"kind"`
	Principal string `json:"principal"`
	// Roles are Manifold's, or a domain's own as "domain:role".
	Roles  []string  `json:"roles"`
	Scopes KeyScopes `json:"scopes,omitzero"`
	// ExpiresAt is in the future.
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

// KeyCreated gives the text of a new key, once.
type KeyCreated struct {
	KeyView
	Text string `json:"key"`
}

// SignIn is the body that signs a browser in: with a key or with the token of a
// link, not with both.
type SignIn struct {
	Key  string `json:"key,omitempty"`
	Link string `json:"link,omitempty"`
}

// SignedIn is whom a browser is signed in as. The session itself is in a cookie.
type SignedIn struct {
	User SignedInUser `json:"user"`
	// CSRF goes along with each request that changes something, in the header
	// X-CSRF-Token.
	CSRF string `json:"csrf"`
	// ExpiresAt is when the session ends if nothing is done, EndsAt when in any case.
	ExpiresAt time.Time `json:"expires_at"`
	EndsAt    time.Time `json:"ends_at"`
}

// SignedInUser is a person with what they may do.
type SignedInUser struct {
	ID     string    `json:"id"`
	Name   string    `json:"name"`
	Roles  []string  `json:"roles"`
	KeyID  string    `json:"key_id"`
	Scopes KeyScopes `json:"scopes,omitzero"`
}

// SignInLink is the token of a link that signs the caller in once: the page is
// /sign-in#token.
type SignInLink struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expires_at"`
}

// WebhookKey is what receivers of webhooks check signatures with.
type WebhookKey struct {
	KeyID string `json:"key_id"`
	// Key is the secret in base64.
	Key string `json:"key"`
}

// Caller says who the server takes the caller for.
type Caller struct {
	// Subject is the name in owners, requesters and decisions.
	Subject string    `json:"subject"`
	Kind    string    `json:"kind"`
	KeyID   string    `json:"key_id"`
	Roles   []string  `json:"roles"`
	Scopes  KeyScopes `json:"scopes,omitzero"`
}
