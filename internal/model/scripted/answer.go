package scripted

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Asked is a request, whichever wire format it came in.
type Asked struct {
	Model  string
	System string
	// Kept is the part of System that the request asks the vendor to keep.
	Kept string
	// Turns are the texts of the person and of the assistant, oldest first.
	Turns []Turn
	// Tools are the names and schemas of what may be called.
	Tools []Tool
	// Schema tells that the answer is constrained to an object.
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

// Last is the newest text of the person.
func (a Asked) Last() string {
	for _, t := range slices.Backward(a.Turns) {
		if t.Role == "user" {
			return t.Text
		}
	}
	return ""
}

// offered finds the tool of a name: its own, or the part behind the domain.
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

// plainName is a name as the formats take it.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || (r >= '0' && r <= '9') || (r >= 'A' && r <= 'Z') || (r >= 'a' && r <= 'z') {
			return r
		}
		return '_'
	}, name)
}

// Fault is a way in which the server breaks instead of answering well.
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
	// FaultHang takes the request and never answers.
	FaultHang Fault = "hang"
	// FaultCut ends the connection in the middle of the answer.
	FaultCut Fault = "cut"
	// FaultGarbled answers 200 with what is no answer of the format.
	FaultGarbled Fault = "garbled"
	// FaultRefusal declines as models do.
	FaultRefusal Fault = "refusal"
	// FaultLength ends the answer at the bound of tokens.
	FaultLength Fault = "length"
)

// Answer is what a request gets.
type Answer struct {
	Text  string `json:"text,omitempty"`
	Calls []Call `json:"calls,omitempty"`
	// JSON is the answer where an object is asked for.
	JSON  json.RawMessage `json:"json,omitempty"`
	Fault Fault           `json:"fault,omitempty"`
	// RetryAfter is in seconds, with a fault.
	RetryAfter int `json:"retry_after,omitempty"`
	// NoUsage leaves the used tokens out.
	NoUsage bool `json:"no_usage,omitempty"`
	// Tokens are reported as used; zero counts the texts.
	Tokens contracts.Tokens `json:"tokens,omitzero"`
	// DelayMS is waited first, in milliseconds.
	DelayMS int `json:"delay_ms,omitempty"`
}

// Call is a call of a function. A name with or without its domain is made the
// offered one; any other goes out as it is, as a tool that nobody offered.
type Call struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

// text is the answer as a text: the object where one is given.
func (a Answer) text() string {
	if len(a.JSON) > 0 {
		return string(a.JSON)
	}
	return a.Text
}

// named are the calls with the names that were offered.
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

// tokens are what the answer used: as given, else by the length of the texts.
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
