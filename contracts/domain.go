package contracts

import (
	"encoding/json"
	"strings"
	"time"
)

// AdminRole is the only role name with different meanings in Manifold and in a domain.
const AdminRole = "admin"

// RolesIn returns the roles that a domain sees. A role granted as "domain:role" is passed to its
// own domain without the prefix and hidden from all others. Manifold's admin role is hidden,
// because it does not make its holder an admin of the domain. All other unscoped roles are passed
// on.
func RolesIn(domain string, roles []string) []string {
	out := make([]string, 0, len(roles))
	for _, r := range roles {
		of, own, scoped := strings.Cut(r, ":")
		switch {
		case scoped && of == domain:
			out = append(out, own)
		case !scoped && r != AdminRole:
			out = append(out, r)
		}
	}
	return out
}

// In returns a copy of the principal with the roles that a domain sees.
func (p Principal) In(domain string) Principal {
	p.Roles = RolesIn(domain, p.Roles)
	return p
}

// RoleOf returns the Manifold role that corresponds to a role named in a domain's manifest.
func RoleOf(domain, word string) string {
	if word == AdminRole {
		return domain + ":" + word
	}
	return word
}

// Severity is the consequence of a finding for a manifest.
type Severity string

// The severities.
const (
	// SeverityError rejects the manifest; the active one remains in use.
	SeverityError Severity = "error"
	// SeverityConfirm keeps the manifest pending until an admin confirms it.
	SeverityConfirm Severity = "confirm"
	// SeverityWarning has no effect on admission.
	SeverityWarning Severity = "warning"
)

// Finding is one result of the admission checks of a manifest.
type Finding struct {
	// Pointer is the JSON pointer of the location in the manifest.
	Pointer  string   `json:"pointer"`
	Message  string   `json:"message"`
	Severity Severity `json:"severity"`
}

// DomainOutcome is the result of the admission of a manifest.
type DomainOutcome string

// The outcomes.
const (
	DomainActive    DomainOutcome = "active"    // the manifest is now in use
	DomainUnchanged DomainOutcome = "unchanged" // the manifest was already in use
	DomainPending   DomainOutcome = "pending"   // the manifest waits for a confirmation
	DomainRefused   DomainOutcome = "refused"   // the manifest has errors
	DomainStarting  DomainOutcome = "starting"  // no manifest was received yet
)

// DomainReport is the response to the registration, refresh or confirmation of a domain.
type DomainReport struct {
	Domain  string        `json:"domain"`
	Outcome DomainOutcome `json:"outcome"`
	// Digest is the digest of the checked manifest.
	Digest   string    `json:"digest,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	// Message is the reason if no manifest was checked, such as an unreachable service.
	Message string `json:"message,omitempty"`
}

// DomainView is one entry of the list of domains.
type DomainView struct {
	Domain      string `json:"domain"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	URL         string `json:"url"`
	Version     string `json:"version,omitempty"`
	// ManagedBy is "file" or "admin".
	ManagedBy string `json:"managed_by"`
	// Outcome is the outcome of the manifest that was checked last.
	Outcome DomainOutcome `json:"outcome"`
	Health  HealthStatus  `json:"health"`
	// Detail is the current problem in one line.
	Detail        string    `json:"detail,omitempty"`
	Capabilities  int       `json:"capabilities"`
	ActiveDigest  string    `json:"active_digest,omitempty"`
	PendingDigest string    `json:"pending_digest,omitempty"`
	Revision      int64     `json:"revision"`
	UpdatedAt     time.Time `json:"updated_at"`
}

// DomainDetail is everything that is stored about one domain.
type DomainDetail struct {
	DomainView

	Registration Registration           `json:"registration"`
	Checks       map[string]HealthCheck `json:"checks,omitempty"`
	Findings     []Finding              `json:"findings,omitempty"`
	// Manifest is the active manifest as the domain sent it.
	Manifest json.RawMessage `json:"manifest,omitempty"`
}

// DomainDiff compares the active manifest with the pending one. If none is pending, it compares
// with the manifest that the service returns now.
type DomainDiff struct {
	Domain  string             `json:"domain"`
	From    string             `json:"from,omitempty"`
	To      string             `json:"to,omitempty"`
	Added   []string           `json:"added,omitempty"`
	Removed []string           `json:"removed,omitempty"`
	Changed []CapabilityChange `json:"changed,omitempty"`
	// Findings are the admission findings of the newer manifest.
	Findings []Finding `json:"findings,omitempty"`
}

// CapabilityChange lists the differences of one capability.
type CapabilityChange struct {
	Capability  string            `json:"capability"`
	Differences []FieldDifference `json:"differences"`
	// Loosens names the differences that lower a policy.
	Loosens []string `json:"loosens,omitempty"`
}

// ConfirmDomain is the body of a confirmation. It confirms only the manifest with this digest.
type ConfirmDomain struct {
	Digest string `json:"digest"`
}
