package sandbox

import (
	"encoding/json"
	"slices"
	"time"
)

// Effect is a write that took place in the tenant. Tests read effects to learn what really
// happened, whatever the client was told.
type Effect struct {
	Seq      int             `json:"seq"`
	At       time.Time       `json:"at"`
	Kind     string          `json:"kind"`
	WorkerID string          `json:"worker_id"`
	EventID  string          `json:"event_id,omitempty"`
	By       string          `json:"by"`
	Body     json.RawMessage `json:"body,omitempty"`
	// Count is how often this write (kind, worker and body) has taken place so far; more than 1 is
	// a duplicate.
	Count int `json:"count"`
}

// Kinds of effects.
const (
	EffectTimeOffRequested = "time_off_requested"
	EffectTimeOffCorrected = "time_off_corrected"
	EffectTitleChanged     = "business_title_changed"
	EffectJobChanged       = "job_changed"
	EffectStepApproved     = "step_approved"
	EffectStepDenied       = "step_denied"
	EffectStepSentBack     = "step_sent_back"
	EffectEventCancelled   = "event_cancelled"
	EffectEventRescinded   = "event_rescinded"
)

// record adds an effect. The caller holds mu.
func (b *books) record(c *call, kind, workerID, eventID string) {
	effect := Effect{
		Seq: len(b.effects) + 1, At: b.now(), Kind: kind, WorkerID: workerID,
		EventID: eventID, By: c.subject, Body: compactJSON(c.body), Count: 1,
	}
	for _, e := range b.effects {
		if e.Kind == kind && e.WorkerID == workerID && string(e.Body) == string(effect.Body) {
			effect.Count++
		}
	}
	b.effects = append(b.effects, effect)
}

func compactJSON(body []byte) json.RawMessage {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return nil
	}
	out, err := json.Marshal(v) // sorts the keys, so that equal bodies have equal bytes
	if err != nil {
		return nil
	}
	return out
}

// Effects returns all writes that took place.
func (t *Tenant) Effects() []Effect {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.books.effects)
}
