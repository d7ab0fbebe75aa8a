package contracts

import "time"

// PlanRequest asks for a preview: a message, or intents or a draft given as data.
type PlanRequest struct {
	Message   string            `json:"message,omitempty"`
	Intents   []Intent          `json:"intents,omitempty"`
	Draft     *Draft            `json:"draft,omitempty"`
	Goal      string            `json:"goal,omitempty"`
	SessionID string            `json:"session_id,omitempty"`
	Instances map[string]string `json:"instances,omitempty"`
	Budgets   *Budgets          `json:"budgets,omitempty"`
	DryRun    bool              `json:"dry_run,omitempty"`
	// Unattended means that nobody will be there to answer: steps that ask take the
	// answer that they name for it, or fail; gates of writes open all the same.
	Unattended bool `json:"unattended,omitempty"`
	// Phase holds the request to the capabilities that may be used in it, searches
	// too.
	Phase string `json:"phase,omitempty"`
}

// PlanPreview is a plan that was compiled and not run, or what is missing for
// one.
type PlanPreview struct {
	// Outcome describes how the words were understood; accept for intents as data.
	Outcome ReadingOutcome `json:"outcome"`
	Intents []Intent       `json:"intents,omitempty"`
	// Questions must be answered before there is a plan.
	Questions []Interrupt   `json:"questions,omitempty"`
	Choices   []Alternative `json:"choices,omitempty"`
	Message   string        `json:"message,omitempty"`
	Plan      *Plan         `json:"plan,omitempty"`
	PlanHash  string        `json:"plan_hash,omitempty"`
	Rows      []PlanRow     `json:"rows,omitempty"`
	// Mermaid is the graph as text for Mermaid.
	Mermaid string `json:"mermaid,omitempty"`
	// Cost is what the manifests say that the calls cost, together.
	Cost *Cost `json:"cost,omitempty"`
	// Forecast is what the run will probably come to, by earlier ones like it.
	Forecast  *Forecast  `json:"forecast,omitempty"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	// Tokens is what a model used to read the words.
	Tokens Tokens `json:"tokens"`
}

// PlanRow is one node of a preview, for people.
type PlanRow struct {
	NodeID    string    `json:"node_id"`
	Step      string    `json:"step"`
	Tool      string    `json:"tool,omitempty"`
	DependsOn []string  `json:"depends_on,omitempty"`
	Risk      RiskLevel `json:"risk,omitempty"`
	// Approval explains why a person must approve, empty if nobody must.
	Approval string `json:"approval,omitempty"`
	// Say is what the step is for, in the words of who drafted it.
	Say string `json:"say,omitempty"`
}

// RunPlan runs exactly the plan that was previewed.
type RunPlan struct {
	PlanHash   string `json:"plan_hash"`
	DryRun     bool   `json:"dry_run,omitempty"`
	SessionID  string `json:"session_id,omitempty"`
	Name       string `json:"name,omitempty"`
	WebhookURL string `json:"webhook_url,omitempty"`
}

// CapabilityView is a capability as callers see it: what was declared, and the
// policy that holds.
type CapabilityView struct {
	Ref         string   `json:"ref"`
	Domain      string   `json:"domain"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Schema      any      `json:"schema"`
	Policy      Policy   `json:"policy"`
	Routable    bool     `json:"routable"`
	Examples    []string `json:"examples,omitempty"`
	Digest      string   `json:"digest"`
}

// AuditReport is the result of comparing what is stored with its ledgers, its
// seals and the signed roots.
type AuditReport struct {
	// Runs counts the chains of runs, those of deleted ones too.
	Runs    int `json:"runs"`
	Entries int `json:"entries"`
	// Sealed counts the scopes whose rows were compared with their seals; 0 where
	// nothing is sealed, or where one run was asked for.
	Sealed int `json:"sealed"`
	// Leaves is the size of the log that was recomputed.
	Leaves int64        `json:"leaves"`
	OK     bool         `json:"ok"`
	Faults []AuditFault `json:"faults,omitempty"`
	// MoreFaults counts those that the list has no room for.
	MoreFaults int `json:"more_faults,omitempty"`
}

// MaxAuditFaults bounds the faults of one report.
const MaxAuditFaults = 1000

// Found adds a fault.
func (r *AuditReport) Found(scope, message string) {
	r.OK = false
	if len(r.Faults) >= MaxAuditFaults {
		r.MoreFaults++
		return
	}
	r.Faults = append(r.Faults, AuditFault{RunID: scope, Message: message})
}

// AuditFault is something that is not as it was written.
type AuditFault struct {
	// RunID is the run, the chain, or else the scope that it was found in.
	RunID   string `json:"run_id"`
	Message string `json:"message"`
}

// Readiness reports whether the server can take requests, part by part.
type Readiness struct {
	Ready   bool                    `json:"ready"`
	Version string                  `json:"version,omitempty"`
	Store   HealthStatus            `json:"store"`
	Domains map[string]HealthStatus `json:"domains,omitempty"`
	Runs    int                     `json:"active_runs"`
}
