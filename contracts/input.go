package contracts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// InputRequest holds questions that a person must answer before a call can continue. A domain
// returns it with the error needs_input before the call had any effect. The call is then repeated
// with the answers.
type InputRequest struct {
	Questions []InputQuestion `json:"questions"`
	// State is returned unchanged with the answers.
	State string `json:"state,omitempty"`
}

// InputQuestion is one question of an InputRequest.
type InputQuestion struct {
	ID     string `json:"id"`
	Prompt string `json:"prompt"`
	// Schema is the schema of the answer; if it is absent, any text is accepted.
	Schema  map[string]any    `json:"schema,omitempty"`
	Options []InterruptOption `json:"options,omitempty"`
	// Optional questions may be skipped.
	Optional bool `json:"optional,omitempty"`
	// Link is a page that the person must open to answer. The answer only confirms the visit and
	// is not an input of the call.
	Link string `json:"link,omitempty"`
}

// GivenInput is the answer to an InputRequest, sent in the context of the repeated call.
type GivenInput struct {
	State string `json:"state,omitempty"`
	// Answers maps question ids to answers. A skipped question is absent.
	Answers map[string]any `json:"answers,omitempty"`
}

// Progress is the progress of an accepted operation.
type Progress struct {
	Done    float64 `json:"done"`
	Total   float64 `json:"total,omitempty"`
	Message string  `json:"message,omitempty"`
}

// String returns the progress in one line.
func (p Progress) String() string {
	text := strconv.FormatFloat(p.Done, 'f', -1, 64)
	if p.Total > 0 {
		text += " of " + strconv.FormatFloat(p.Total, 'f', -1, 64)
	}
	if p.Message != "" {
		text += ": " + p.Message
	}
	return CleanSummary(text)
}

// The limits of an InputRequest.
const (
	MaxInputQuestions  = 20
	MaxInputStateBytes = 64 << 10
	maxLinkBytes       = 2000
	maxPromptBytes     = 2000
)

// Fault returns why the request is not valid, or "" if it is.
func (r *InputRequest) Fault() string {
	if n := len(r.Questions); n == 0 || n > MaxInputQuestions {
		return fmt.Sprintf("it has %d questions; 1 to %d can be asked", n, MaxInputQuestions)
	}
	if len(r.State) > MaxInputStateBytes {
		return fmt.Sprintf("its state has more than %d bytes", MaxInputStateBytes)
	}
	for n, q := range r.Questions {
		if fault := q.fault(); fault != "" {
			return fmt.Sprintf("question %d %s", n+1, fault)
		}
		if slices.ContainsFunc(r.Questions[:n], func(before InputQuestion) bool { return before.ID == q.ID }) {
			return fmt.Sprintf("two questions have the id %q", q.ID)
		}
	}
	return ""
}

func (q InputQuestion) fault() string {
	switch {
	case q.ID == "" || strings.TrimSpace(q.Prompt) == "" || len(q.Prompt) > maxPromptBytes:
		return "has no id, no text, or too much of it"
	case q.Link != "" && (len(q.Link) > maxLinkBytes || !strings.HasPrefix(q.Link, "https://") && !strings.HasPrefix(q.Link, "http://")):
		return "has a link that nobody can open"
	case q.Schema == nil:
		return ""
	}
	raw, err := Canonical(q.Schema)
	if err == nil {
		_, err = CompileSchema(raw)
	}
	if err != nil {
		return "has a schema that is not understood: " + CleanSummary(err.Error())
	}
	return ""
}
