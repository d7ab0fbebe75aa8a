package reasoning

import (
	"encoding/json"

	"github.com/manifold-run/manifold/contracts"
)

// bytesPerToken is on the low side of what tokenizers of today take for prose
// and JSON (3 to 4.5), so that an estimate is rather too high.
const bytesPerToken = 3

// promptBytes is the size of what would be sent.
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

// reserve is the most that a call may use: its input as estimated, and the
// output that it is allowed. Budgets hold a step that has less left.
func reserve(r Request) int { return promptBytes(r)/bytesPerToken + 1 + r.MaxOutputTokens }

// estimate stands in for the usage that a server does not report.
func estimate(r Request, reply Reply) contracts.Tokens {
	out := len(reply.Text)
	for _, c := range reply.Calls {
		out += len(c.Name) + len(c.Arguments)
	}
	return contracts.Tokens{In: promptBytes(r)/bytesPerToken + 1, Out: out/bytesPerToken + 1}
}
