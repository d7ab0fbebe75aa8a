package reasoning

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// maxFaultsTold bounds the faults that a repair prompt lists.
const maxFaultsTold = 8

// RejectedAnswer is an invalid answer with its faults.
type RejectedAnswer struct {
	Answer string
	Faults []string
}

// repair returns the request with the invalid answer and its faults appended.
func repair(r Request, wrong *RejectedAnswer) Request {
	if wrong == nil {
		return r
	}
	said := contracts.CompactWords(wrong.Answer)
	if said.String() == "" {
		said = contracts.CompactWords("(nothing)")
	}
	r.Turns = append(slices.Clip(r.Turns),
		Message{Role: RoleAssistant, Text: said},
		Message{Role: RoleUser, Text: contracts.CompactWords("That does not fit the schema: " + strings.Join(wrong.Faults, "; ") + ". Answer again with the whole object, and nothing else.")})
	return r
}

func tell(faults []contracts.Fault) []string {
	var told []string
	for _, f := range faults[:min(len(faults), maxFaultsTold)] {
		told = append(told, contracts.CleanSummary(strings.TrimSpace(f.Pointer+" "+f.Message)))
	}
	return told
}

// readObject extracts the JSON object of an answer and validates it. It ignores surrounding text,
// such as a Markdown fence.
func readObject(reply Reply, schema *contracts.Schema) (map[string]any, []contracts.Fault) {
	if reply.Cut {
		return nil, []contracts.Fault{{Message: "the answer was cut at its bound; be shorter"}}
	}
	value, found := objectIn(reply.Text)
	if !found {
		return nil, []contracts.Fault{{Message: "there is no JSON object in the answer"}}
	}
	if faults := schema.Validate(value); len(faults) > 0 {
		return nil, faults
	}
	return value, nil
}

// objectIn returns the first complete JSON object in a text. It tries at most maxFaultsTold opening
// braces, so that hostile text costs little.
func objectIn(text string) (map[string]any, bool) {
	rest := text
	for range maxFaultsTold {
		at := strings.IndexByte(rest, '{')
		if at < 0 {
			return nil, false
		}
		rest = rest[at:]
		var raw json.RawMessage
		if err := json.NewDecoder(strings.NewReader(rest)).Decode(&raw); err == nil {
			var object map[string]any
			err := contracts.Decode(raw, &object)
			return object, err == nil
		}
		rest = rest[1:]
	}
	return nil, false
}

// asMap returns a schema as a plain value for the engines.
func asMap(s *contracts.Schema) (map[string]any, error) {
	var out map[string]any
	if err := json.Unmarshal(s.Raw(), &out); err != nil {
		return nil, fmt.Errorf("schema for a model: %w", err)
	}
	return out, nil
}
