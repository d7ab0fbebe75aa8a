package scripted

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Asked is a request in either wire format.
type Asked struct {
	Model  string
	System string
	// Kept is the part of System that the request marks for the vendor's cache.
	Kept string
	// Turns are the texts of the user and the assistant, oldest first.
	Turns []Turn
	// Tools are the offered functions.
	Tools []Tool
	// Schema is the schema that constrains the answer, if there is one.
	Schema      json.RawMessage
	MaxTokens   int
	Temperature float64
}

// Turn is one text of a request.
type Turn struct {
	Role, Text string
}

// Tool is a function that a request offers.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// Last returns the newest text of the user.
func (a Asked) Last() string {
	for _, t := range slices.Backward(a.Turns) {
		if t.Role == "user" {
			return t.Text
		}
	}
	return ""
}

// offered returns the offered tool for a name, with or without its domain.
func (a Asked) offered(name string) (string, bool) {
	plain, whole := plainName(name), plainName(strings.Replace(name, ".", "-", 1))
	for _, t := range a.Tools {
		_, bare, namespaced := strings.Cut(t.Name, "-")
		if t.Name == name || t.Name == plain || t.Name == whole || (namespaced && bare == plain) {
			return t.Name, true
		}
	}
	return "", false
}

// plainName returns a name in the characters that the formats allow.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || (r >= '0' && r <= '9') || (r >= 'A' && r <= 'Z') || (r >= 'a' && r <= 'z') {
			return r
		}
		return '_'
	}, name)
}

// Fault is a way in which the server fails.
type Fault string

// The faults.
const (
	// FaultOverloaded is 429, with Retry-After.
	FaultOverloaded Fault = "429"
	// FaultBroken is 500.
	FaultBroken Fault = "500"
	// FaultKey is 401.
	FaultKey Fault = "401"
	// FaultNoSchema is 400 for every request with a schema.
	FaultNoSchema Fault = "no_schema"
	// FaultHang never answers the request.
	FaultHang Fault = "hang"
	// FaultCut closes the connection in the middle of the answer.
	FaultCut Fault = "cut"
	// FaultGarbled answers 200 with a malformed body.
	FaultGarbled Fault = "garbled"
	// FaultRefusal declines as models do.
	FaultRefusal Fault = "refusal"
	// FaultLength truncates the answer at the token limit.
	FaultLength Fault = "length"
)

// Answer is the response to a request.
type Answer struct {
	Text  string `json:"text,omitempty"`
	Calls []Call `json:"calls,omitempty"`
	// JSON is the answer if an object is requested.
	JSON  json.RawMessage `json:"json,omitempty"`
	Fault Fault           `json:"fault,omitempty"`
	// RetryAfter is the Retry-After of a fault, in seconds.
	RetryAfter int `json:"retry_after,omitempty"`
	// NoUsage omits the used tokens.
	NoUsage bool `json:"no_usage,omitempty"`
	// Tokens are the reported usage; zero means an estimate by the length of the texts.
	Tokens contracts.Tokens `json:"tokens,omitzero"`
	// DelayMS is the delay before the answer, in milliseconds.
	DelayMS int `json:"delay_ms,omitempty"`
}

// Call is a function call. A name with or without its domain is replaced by the offered one; any other
// name is sent unchanged, as a call of a function that was not offered.
type Call struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

// text returns the answer as text: JSON, if it is set.
func (a Answer) text() string {
	if len(a.JSON) > 0 {
		return string(a.JSON)
	}
	return a.Text
}

// named returns the calls with the offered names.
func (a Answer) named(asked Asked) []Call {
	out := make([]Call, len(a.Calls))
	for i, c := range a.Calls {
		if name, ok := asked.offered(c.Name); ok {
			c.Name = name
		}
		if c.Arguments == nil {
			c.Arguments = map[string]any{}
		}
		out[i] = c
	}
	return out
}

// tokens returns the usage: as given, or else estimated by the length of the texts.
func (a Answer) tokens(asked Asked) contracts.Tokens {
	if a.Tokens != (contracts.Tokens{}) {
		return a.Tokens
	}
	in := len(asked.System) + len(asked.Schema)
	for _, t := range asked.Turns {
		in += len(t.Text)
	}
	for _, t := range asked.Tools {
		in += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	out := len(a.text())
	for _, c := range a.Calls {
		raw, err := json.Marshal(c)
		if err == nil {
			out += len(raw)
		}
	}
	return contracts.Tokens{In: in/4 + 1, Out: out/4 + 1}
}
