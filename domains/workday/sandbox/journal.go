package sandbox

import (
	"encoding/json"
	"slices"
	"time"
)

// Effect is a write that took place in the tenant. Tests read them to learn
// what really happened, whatever the client was told.
type Effect struct {
	Seq      int             `json:"seq"`
	At       time.Time       `json:"at"`
	Kind     string          `json:"kind"`
	WorkerID string          `json:"worker_id"`
	EventID  string          `json:"event_id,omitempty"`
	By       string          `json:"by"`
	Body     json.RawMessage `json:"body,omitempty"`
	// Count is how often this very write (kind, worker and body) has taken
	// place, this time included; more than 1 is a duplicate.
	Count int `json:"count"`
}

// Kinds of effects.
const (
	EffectTimeOffRequested = "time_off_requested"
	EffectTimeOffCorrected = "time_off_corrected"
	EffectTitleChanged     = "business_title_changed"
	EffectStepApproved     = "step_approved"
	EffectStepDenied       = "step_denied"
	EffectStepSentBack     = "step_sent_back"
	EffectEventCancelled   = "event_cancelled"
	EffectEventRescinded   = "event_rescinded"
)

// Request is a call that reached the tenant, admin calls excepted.
type Request struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
	Status int    `json:"status"` // 0: the connection was cut without an answer
	Fault  Kind   `json:"fault,omitempty"`
}

// journal is what happened, oldest first. Requests are kept up to a number.
type journal struct {
	effects  []Effect
	requests []Request
}

const keptRequests = 10_000

// record adds an effect; the caller holds mu.
func (t *Tenant) record(c *call, kind, workerID, eventID string) {
	effect := Effect{
		Seq: len(t.journal.effects) + 1, At: t.now(), Kind: kind, WorkerID: workerID,
		EventID: eventID, By: c.subject, Body: compactJSON(c.body), Count: 1,
	}
	for _, e := range t.journal.effects {
		if e.Kind == kind && e.WorkerID == workerID && string(e.Body) == string(effect.Body) {
			effect.Count++
		}
	}
	t.journal.effects = append(t.journal.effects, effect)
}

func compactJSON(body []byte) json.RawMessage {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return nil
	}
	out, err := json.Marshal(v) // sorts the keys, so that equal bodies are equal bytes
	if err != nil {
		return nil
	}
	return out
}

// Effects returns every write that took place.
func (t *Tenant) Effects() []Effect {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.journal.effects)
}

// Requests returns the calls that were received, the newest last.
func (t *Tenant) Requests() []Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.journal.requests)
}

func (t *Tenant) logRequest(r Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.journal.requests) == keptRequests {
		t.journal.requests = slices.Delete(t.journal.requests, 0, keptRequests/2)
	}
	t.journal.requests = append(t.journal.requests, r)
}
