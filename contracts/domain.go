package contracts

import (
	"encoding/json"
	"strings"
	"time"
)

// AdminRole is the one word for a role that means something else in Manifold than
// in a domain.
const AdminRole = "admin"

// RolesIn gives roles as a domain sees them: what was granted as "domain:role" is
// the domain's own role, of other domains nothing is seen, and neither is
// Manifold's admin, who is no admin of a domain. Words that are no role of
// Manifold's are everybody's.
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

// In returns the principal as a domain sees it.
func (p Principal) In(domain string) Principal {
	p.Roles = RolesIn(domain, p.Roles)
	return p
}

// RoleOf is the role that somebody must hold for a word of a domain's manifest.
func RoleOf(domain, word string) string {
	if word == AdminRole {
		return domain + ":" + word
	}
	return word
}

// Severity describes what a finding means for a manifest.
type Severity string

// The severities.
const (
	// SeverityError refuses the manifest; the active one stays.
	SeverityError Severity = "error"
	// SeverityConfirm lets the manifest wait until an admin confirms it.
	SeverityConfirm Severity = "confirm"
	// SeverityWarning changes nothing.
	SeverityWarning Severity = "warning"
)

// Finding is one thing that admission has to say about a manifest.
type Finding struct {
	// Pointer is the JSON pointer of the place in the manifest.
	Pointer  string   `json:"pointer"`
	Message  string   `json:"message"`
	Severity Severity `json:"severity"`
}

// DomainOutcome is the outcome of a manifest that was looked at.
type DomainOutcome string

// The outcomes.
const (
	DomainActive    DomainOutcome = "active"    // it is in use now
	DomainUnchanged DomainOutcome = "unchanged" // it was in use already
	DomainPending   DomainOutcome = "pending"   // it waits for a confirmation
	DomainRefused   DomainOutcome = "refused"   // it has errors
	DomainStarting  DomainOutcome = "starting"  // there was none to look at yet
)

// DomainReport answers the registration, refresh and confirmation of a domain.
type DomainReport struct {
	Domain  string        `json:"domain"`
	Outcome DomainOutcome `json:"outcome"`
	// Digest is that of the manifest that was looked at.
	Digest   string    `json:"digest,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	// Message explains why there is nothing to report about, such as a service that
	// cannot be reached.
	Message string `json:"message,omitempty"`
}

// DomainView is one line of a list of domains.
type DomainView struct {
	Domain      string `json:"domain"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	URL         string `json:"url"`
	Version     string `json:"version,omitempty"`
	// ManagedBy is "file" or "admin".
	ManagedBy string `json:"managed_by"`
	// Outcome is the outcome of the manifest that was looked at last.
	Outcome DomainOutcome `json:"outcome"`
	Health  HealthStatus  `json:"health"`
	// Detail describes what is wrong, in one line.
	Detail        string    `json:"detail,omitempty"`
	Capabilities  int       `json:"capabilities"`
	ActiveDigest  string    `json:"active_digest,omitempty"`
	PendingDigest string    `json:"pending_digest,omitempty"`
	Revision      int64     `json:"revision"`
	UpdatedAt     time.Time `json:"updated_at"`
}

// DomainDetail is everything that is kept of one domain.
type DomainDetail struct {
	DomainView

	Registration Registration           `json:"registration"`
	Checks       map[string]HealthCheck `json:"checks,omitempty"`
	Findings     []Finding              `json:"findings,omitempty"`
	// Manifest is the active one, as the domain sent it.
	Manifest json.RawMessage `json:"manifest,omitempty"`
}

// DomainDiff compares the active manifest with the pending one, or, if nothing
// is pending, with what the service answers now.
type DomainDiff struct {
	Domain  string             `json:"domain"`
	From    string             `json:"from,omitempty"`
	To      string             `json:"to,omitempty"`
	Added   []string           `json:"added,omitempty"`
	Removed []string           `json:"removed,omitempty"`
	Changed []CapabilityChange `json:"changed,omitempty"`
	// Findings are what admission says of the newer one.
	Findings []Finding `json:"findings,omitempty"`
}

// CapabilityChange is how one capability differs.
type CapabilityChange struct {
	Capability  string            `json:"capability"`
	Differences []FieldDifference `json:"differences"`
	// Loosens specifies which differences lower a policy.
	Loosens []string `json:"loosens,omitempty"`
}

// ConfirmDomain is the body of a confirmation: exactly this manifest.
type ConfirmDomain struct {
	Digest string `json:"digest"`
}
