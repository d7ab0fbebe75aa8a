package contracts

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/manifold-run/manifold/contracts/metrics"
)

// EventType is the kind of a session event.
type EventType string

// The event types.
const (
	EventNodeStart         EventType = "node_start"
	EventNodeEnd           EventType = "node_end"
	EventNodeError         EventType = "node_error"
	EventInterrupt         EventType = "interrupt"
	EventInterruptResolved EventType = "interrupt_resolved"
	EventToolCallStart     EventType = "tool_call_start"
	EventToolCallEnd       EventType = "tool_call_end"
	EventProgress          EventType = "progress"
	EventExpand            EventType = "expand"
	EventVerdict           EventType = "verdict"
	EventDone              EventType = "done"
)

// Event is one entry of a session's event log. Seq increases by one without gaps.
type Event struct {
	SessionID  string    `json:"session_id"`
	RunID      string    `json:"run_id,omitempty"`
	Seq        int64     `json:"seq"`
	At         time.Time `json:"at"`
	Type       EventType `json:"type"`
	NodeID     string    `json:"node_id,omitempty"`
	NodeName   string    `json:"node_name,omitempty"`
	Phase      string    `json:"phase,omitempty"`
	Status     string    `json:"status,omitempty"`
	DurationMS int64     `json:"duration_ms,omitempty"`
	Summary    string    `json:"summary,omitempty"`
	// Payload is at most 4 KiB (MaxEventPayloadBytes). It never contains raw output.
	Payload json.RawMessage `json:"payload,omitempty"`
}

// LedgerKind is the kind of a ledger entry.
type LedgerKind string

// The ledger kinds.
const (
	LedgerPlan       LedgerKind = "plan"
	LedgerExpand     LedgerKind = "expand"
	LedgerIntent     LedgerKind = "intent"
	LedgerOutcome    LedgerKind = "outcome"
	LedgerDecision   LedgerKind = "decision"
	LedgerSettled    LedgerKind = "settled"
	LedgerDeleted    LedgerKind = "deleted"     // the last entry of a chain whose rows were deleted
	LedgerLockBroken LedgerKind = "lock_broken" // in the chain of locks, not in that of a run
)

// The kinds of the chain of administrative actions.
const (
	ActKeyCreated       LedgerKind = "key_created"
	ActKeyRevoked       LedgerKind = "key_revoked"
	ActDomainRegistered LedgerKind = "domain_registered" // a new domain, or a changed registration or overlay
	ActDomainConfirmed  LedgerKind = "domain_confirmed"
	ActDomainRemoved    LedgerKind = "domain_removed"
	ActSessionDeleted   LedgerKind = "session_deleted"
	ActSettled          LedgerKind = "outcome_settled"
	ActLinkUsed         LedgerKind = "link_used"
	ActSealed           LedgerKind = "rows_sealed" // unsealed rows were sealed, or all rows with a new key
	ActSwept            LedgerKind = "swept"       // rows without a chain of their own were removed by retention
	ActQuarantine       LedgerKind = "quarantine"
	ActOwnAuthority     LedgerKind = "own_authority" // a server started whose policy allows requesters to approve some writes alone
)

// LedgerEntry is one link of a hash chain: of a run, of broken locks or of administrative
// actions. Hash covers the entry with Hash empty. PrevHash is the Hash of the previous entry and
// empty for the first.
type LedgerEntry struct {
	Seq          int64      `json:"seq"`
	At           time.Time  `json:"at"`
	RunID        string     `json:"run_id"`
	NodeID       string     `json:"node_id,omitempty"`
	Kind         LedgerKind `json:"kind"`
	Tool         string     `json:"tool,omitempty"`
	ActionSHA256 string     `json:"action_sha256,omitempty"`
	// Key depends on Kind: the idempotency key of an intent, the broken lock, the reason for the
	// removal of rows, or the relation of the approver to the action if a requester approved it.
	Key   string `json:"key,omitempty"`
	Actor string `json:"actor,omitempty"`
	// KeyID is the API key and From the network address of the actor. Both are set only for
	// actions of a person.
	KeyID         string `json:"key_id,omitempty"`
	From          string `json:"from,omitempty"`
	PayloadSHA256 string `json:"payload_sha256,omitempty"`
	PrevHash      string `json:"prev_hash"`
	Hash          string `json:"hash"`
}

// Seal sets PrevHash and Hash. It truncates At to UTC microseconds, which every store preserves.
func (e *LedgerEntry) Seal(prev string) error {
	e.At = e.At.UTC().Truncate(time.Microsecond)
	e.PrevHash, e.Hash = prev, ""
	if year := e.At.Year(); year < 0 || year > 9999 {
		return Errorf(CodeInvalid, "a ledger entry of the year %d cannot be written", year)
	}
	e.Hash = HashBytes(e.canonical())
	return nil
}

// canonical returns the canonical JSON of the entry without its hash. It is written by hand
// because every step of every run is sealed.
func (e *LedgerEntry) canonical() []byte {
	out := append(make([]byte, 0, 512), '{')
	member := func(name, value string) {
		if value != "" {
			out = append(appendString(append(appendString(out, name), ':'), value), ',')
		}
	}
	member("action_sha256", e.ActionSHA256)
	member("actor", e.Actor)
	member("at", e.At.Format(time.RFC3339Nano))
	member("from", e.From)
	out = append(out, `"hash":"",`...)
	member("key", e.Key)
	member("key_id", e.KeyID)
	out = append(appendString(append(out, `"kind":`...), string(e.Kind)), ',')
	member("node_id", e.NodeID)
	member("payload_sha256", e.PayloadSHA256)
	out = append(appendString(append(out, `"prev_hash":`...), e.PrevHash), ',')
	out = append(appendString(append(out, `"run_id":`...), e.RunID), ',')
	out = strconv.AppendInt(append(out, `"seq":`...), e.Seq, 10)
	if e.Tool != "" {
		out = appendString(append(out, `,"tool":`...), e.Tool)
	}
	return append(out, '}')
}

// VerdictStatus is how far the result of a run can be trusted.
type VerdictStatus string

// The verdicts, from best to worst.
const (
	VerdictVerified VerdictStatus = "verified"
	VerdictDegraded VerdictStatus = "degraded_but_acceptable"
	VerdictRetry    VerdictStatus = "retry_recommended"
	VerdictBlocked  VerdictStatus = "blocked"
)

// Verdict is the result of the verification of a run.
type Verdict struct {
	Status   VerdictStatus `json:"status"`
	Reasons  []string      `json:"reasons,omitempty"`
	Checks   []Check       `json:"checks,omitempty"`
	Category string        `json:"category,omitempty"`
	Fixes    []string      `json:"fixes,omitempty"`
	// Score is the outcome score from 0 to 1: the weight of the status times the share of
	// required steps that completed. It is nil in verdicts stored by older releases.
	Score *float64 `json:"score,omitempty"`
	// Judge is the opinion of a model, if one was asked.
	Judge *Opinion `json:"judge,omitempty"`
	// Tokens is the model usage of the run, including the judge.
	Tokens *Tokens `json:"tokens,omitempty"`
	// Timing is the duration of the run, with human time separated. Rejections is how often a
	// check or a model rejected a result. Runs that ended with an older release, or without a
	// verdict, have neither.
	Timing     *metrics.Timing `json:"timing,omitempty"`
	Rejections int             `json:"rejections,omitempty"`
	// Shadow means that the verdict is only recorded, because the verifier flag was in shadow
	// mode. Answers do not show it.
	Shadow bool `json:"shadow,omitempty"`
}

// Opinion is the judgement of a model on a verdict. It can only lower the verdict.
type Opinion struct {
	// Status is the verdict that the model gives. It is empty if there is no opinion.
	Status  VerdictStatus `json:"status,omitempty"`
	Reasons []string      `json:"reasons,omitempty"`
	// Fault is the reason why there is no opinion, for display.
	Fault string      `json:"fault,omitempty"`
	Calls []ModelCall `json:"calls,omitempty"`
}

// Check is one verified assertion.
type Check struct {
	Name     string `json:"name"`
	OK       bool   `json:"ok"`
	Detail   string `json:"detail,omitempty"`
	Evidence any    `json:"evidence,omitempty"`
}
