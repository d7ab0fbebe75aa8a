package contracts

// Intent is one request of a message, resolved to a capability.
type Intent struct {
	// ID is unique within the turn: i1, i2, …
	ID string `json:"id"`
	// Clause is the part of the message that the intent was read from.
	Clause       string              `json:"clause,omitempty"`
	Domain       string              `json:"domain"`
	Capability   string              `json:"capability"`
	Parameters   map[string]any      `json:"parameters"`
	Confidence   float64             `json:"confidence"`
	Missing      []string            `json:"missing,omitempty"`
	Alternatives []Alternative       `json:"alternatives,omitempty"`
	After        []string            `json:"after,omitempty"`
	Evidence     map[string]Evidence `json:"evidence,omitempty"`
	// Source is the engine: "local", "llm", or "caller" for intents given as data.
	Source     string `json:"source,omitempty"`
	SnapshotID string `json:"snapshot_id,omitempty"`
	// Utterance is the message with a class for each of its words. It is absent for intents given
	// as data.
	Utterance *Utterance `json:"said,omitempty"`
}

// Ref returns the qualified name of the capability.
func (i Intent) Ref() string { return i.Domain + "." + i.Capability }

// Alternative is another capability that the text could refer to.
type Alternative struct {
	Domain      string  `json:"domain"`
	Capability  string  `json:"capability"`
	Description string  `json:"description,omitempty"`
	Confidence  float64 `json:"confidence"`
}

// Evidence is the origin of a parameter value in the message.
type Evidence struct {
	// Span is [start, end) in bytes of the message.
	Span [2]int `json:"span"`
	// Kind is enum, alias, key_value, quoted, number, date, pattern, example, …
	Kind string `json:"kind"`
	// P is the probability that the value is correct, 0 to 1.
	P float64 `json:"p"`
}

// ReadingOutcome is the decision of the confidence thresholds on an intent.
type ReadingOutcome string

// The outcomes.
const (
	ReadingAccepted ReadingOutcome = "accept"
	ReadingUnclear  ReadingOutcome = "clarify"
	ReadingDeclined ReadingOutcome = "decline"
)
