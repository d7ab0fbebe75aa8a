package contracts

import "time"

// PlanRequest asks for a preview of a plan. The input is a message, or intents or a draft given
// as data.
type PlanRequest struct {
	Message   string            `json:"message,omitempty"`
	Intents   []Intent          `json:"intents,omitempty"`
	Draft     *Draft            `json:"draft,omitempty"`
	Goal      string            `json:"goal,omitempty"`
	SessionID string            `json:"session_id,omitempty"`
	Instances map[string]string `json:"instances,omitempty"`
	Budgets   *Budgets          `json:"budgets,omitempty"`
	DryRun    bool              `json:"dry_run,omitempty"`
	// Unattended means that no person is available to answer. A step that would ask takes its
	// configured unattended answer, or fails. Gates of writes are opened nevertheless.
	Unattended bool `json:"unattended,omitempty"`
	// Phase restricts the request, including its searches, to the capabilities of that phase.
	Phase string `json:"phase,omitempty"`
}

// PlanPreview is a plan that was compiled but not run, or the input that is missing to compile
// one.
type PlanPreview struct {
	// Outcome is how the message was understood. It is accept for intents given as data.
	Outcome ReadingOutcome `json:"outcome"`
	Intents []Intent       `json:"intents,omitempty"`
	// Questions must be answered before a plan can be compiled.
	Questions []Interrupt   `json:"questions,omitempty"`
	Choices   []Alternative `json:"choices,omitempty"`
	Message   string        `json:"message,omitempty"`
	Plan      *Plan         `json:"plan,omitempty"`
	PlanHash  string        `json:"plan_hash,omitempty"`
	Rows      []PlanRow     `json:"rows,omitempty"`
	// Mermaid is the graph of the plan in Mermaid syntax.
	Mermaid string `json:"mermaid,omitempty"`
	// Cost is the sum of the costs that the manifests declare for the calls.
	Cost *Cost `json:"cost,omitempty"`
	// Forecast estimates the run from earlier runs of the same plan.
	Forecast  *Forecast  `json:"forecast,omitempty"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	// Tokens is the model usage for understanding the message.
	Tokens Tokens `json:"tokens"`
}

// PlanRow is one node of a preview, for display.
type PlanRow struct {
	NodeID    string    `json:"node_id"`
	Step      string    `json:"step"`
	Tool      string    `json:"tool,omitempty"`
	DependsOn []string  `json:"depends_on,omitempty"`
	Risk      RiskLevel `json:"risk,omitempty"`
	// Approval is the reason why a person must approve the step. It is empty if no approval is
	// needed.
	Approval string `json:"approval,omitempty"`
	// Say is the purpose of the step, as its author wrote it.
	Say string `json:"say,omitempty"`
}

// RunPlan is the request to run exactly the previewed plan with this hash.
type RunPlan struct {
	PlanHash   string `json:"plan_hash"`
	DryRun     bool   `json:"dry_run,omitempty"`
	SessionID  string `json:"session_id,omitempty"`
	Name       string `json:"name,omitempty"`
	WebhookURL string `json:"webhook_url,omitempty"`
}

// CapabilityView is a capability as callers see it: its declaration and its effective policy.
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

// AuditReport is the result of comparing the stored rows with the ledgers, the seals and the
// signed roots.
type AuditReport struct {
	// Runs is the number of run chains, including those of deleted runs.
	Runs    int `json:"runs"`
	Entries int `json:"entries"`
	// Sealed is the number of scopes whose rows were compared with their seals. It is 0 if
	// nothing is sealed, or if the audit was restricted to one run.
	Sealed int `json:"sealed"`
	// Leaves is the size of the recomputed log.
	Leaves int64        `json:"leaves"`
	OK     bool         `json:"ok"`
	Faults []AuditFault `json:"faults,omitempty"`
	// MoreFaults is the number of faults beyond the length limit of Faults.
	MoreFaults int `json:"more_faults,omitempty"`
}

// MaxAuditFaults is the maximum number of faults in one report.
const MaxAuditFaults = 1000

// Found adds a fault and clears OK. It counts faults beyond MaxAuditFaults without storing them.
func (r *AuditReport) Found(scope, message string) {
	r.OK = false
	if len(r.Faults) >= MaxAuditFaults {
		r.MoreFaults++
		return
	}
	r.Faults = append(r.Faults, AuditFault{RunID: scope, Message: message})
}

// AuditFault is one difference between the stored data and its record in the ledger.
type AuditFault struct {
	// RunID is the run, the chain or the scope in which the fault was found.
	RunID   string `json:"run_id"`
	Message string `json:"message"`
}

// Readiness reports whether the server can accept requests, with the state of each part.
type Readiness struct {
	Ready   bool                    `json:"ready"`
	Version string                  `json:"version,omitempty"`
	Store   HealthStatus            `json:"store"`
	Domains map[string]HealthStatus `json:"domains,omitempty"`
	Runs    int                     `json:"active_runs"`
}
