package reasoning

import (
	"encoding/json"

	"github.com/manifold-run/manifold/contracts"
)

// bytesPerToken is a low estimate for prose and JSON (current tokenizers: 3 to 4.5), so that token
// estimates are rather too high.
const bytesPerToken = 3

// promptBytes returns the size of a prompt in bytes.
func promptBytes(r Request) int {
	n := len(r.Instructions().String())
	for _, t := range r.Turns {
		n += len(t.Text.String())
	}
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + jsonBytes(t.Schema)
	}
	return n + jsonBytes(r.Schema)
}

func jsonBytes(schema map[string]any) int {
	if schema == nil {
		return 0
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		return MaxPromptBytes // it could not be sent either
	}
	return len(raw)
}

// reserve returns the most tokens that a call may use: its estimated input and its maximum output.
// A step with less budget left is not called.
func reserve(r Request) int { return promptBytes(r)/bytesPerToken + 1 + r.MaxOutputTokens }

// estimate estimates the usage if the server does not report it.
func estimate(r Request, reply Reply) contracts.Tokens {
	out := len(reply.Text)
	for _, c := range reply.Calls {
		out += len(c.Name) + len(c.Arguments)
	}
	return contracts.Tokens{In: promptBytes(r)/bytesPerToken + 1, Out: out/bytesPerToken + 1}
}
