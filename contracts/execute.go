package contracts

import "time"

// Principal is the caller of a request.
type Principal struct {
	ID         string   `json:"id"`
	Roles      []string `json:"roles,omitempty"`
	OnBehalfOf string   `json:"on_behalf_of,omitempty"`
}

// Subject returns the person on whose behalf the request is made, or else the principal's own id.
func (p Principal) Subject() string {
	if p.OnBehalfOf != "" {
		return p.OnBehalfOf
	}
	return p.ID
}

// ExecuteRequest is the body of POST /execute.
type ExecuteRequest struct {
	Capability string         `json:"capability"`
	Parameters map[string]any `json:"parameters"`
	Context    ExecuteContext `json:"context"`
}

// ExecuteContext is sent with every execution.
type ExecuteContext struct {
	RunID  string `json:"run_id,omitempty"`
	NodeID string `json:"node_id,omitempty"`
	// Attempt counts from 1.
	Attempt        int    `json:"attempt,omitempty"`
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// TimeoutMS is relative to the arrival of the request, in milliseconds.
	TimeoutMS int `json:"timeout_ms,omitempty"`
	// Deadline is for logs only, because clocks differ.
	Deadline         time.Time `json:"deadline,omitzero"`
	Phase            string    `json:"phase,omitempty"`
	Instance         string    `json:"instance,omitempty"`
	CapabilityDigest string    `json:"capability_digest,omitempty"`
	// Operation is set to poll for the result of an operation that was accepted before.
	Operation string    `json:"operation,omitempty"`
	Principal Principal `json:"principal"`
	DryRun    bool      `json:"dry_run,omitempty"`
	// Input is a person's answer to the InputRequest of the previous call.
	Input *GivenInput `json:"input,omitempty"`
}

// Accepted is the body of a 202 response: the call continues under an operation id.
type Accepted struct {
	Operation string    `json:"operation"`
	Progress  *Progress `json:"progress,omitempty"`
}

// HealthStatus is the health that a domain reports.
type HealthStatus string

// The health states. Domains report the first three. The core reports starting until the first
// answer.
const (
	HealthOK       HealthStatus = "ok"
	HealthDegraded HealthStatus = "degraded"
	HealthDown     HealthStatus = "down"
	HealthStarting HealthStatus = "starting"
)

// Health is the answer of GET /health.
type Health struct {
	Status  HealthStatus           `json:"status"`
	Version string                 `json:"version,omitempty"`
	Checks  map[string]HealthCheck `json:"checks,omitempty"`
}

// HealthCheck is one part of a Health.
type HealthCheck struct {
	Status HealthStatus `json:"status"`
	Detail string       `json:"detail,omitempty"`
}
