package conversation

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Played is a conversation as it went: where it stands after the last message.
type Played struct {
	// Session is the session; Runs are those that the last message started or
	// moved on, Old the others.
	Session contracts.SessionResponse `json:"session"`
	Runs    []contracts.RunView       `json:"runs"`
	Old     []contracts.RunView       `json:"old,omitempty"`
	// Names are what ids stand for, as far as it is known.
	Names map[string]string `json:"names,omitempty"`
	// AskedBefore are the ids and the prompts of the questions that were open
	// before the last message.
	AskedBefore map[string]string `json:"asked_before,omitempty"`
	// Approved are the gates that were approved, as run and node.
	Approved []Gate `json:"approved,omitempty"`
	// Refused describes how the server refused a message, if it did.
	Refused string `json:"refused,omitempty"`
}

// Gate is where a write was approved.
type Gate struct {
	RunID string `json:"run_id"`
	Node  string `json:"node"`
}

// questions are the open questions, gates not among them.
func (p Played) questions() []contracts.Interrupt {
	return slices.DeleteFunc(slices.Clone(p.Session.Interrupts), func(i contracts.Interrupt) bool {
		return i.Status != contracts.InterruptOpen || i.Type.IsGate()
	})
}

func (p Played) freshQuestions() []contracts.Interrupt {
	return slices.DeleteFunc(p.questions(), func(i contracts.Interrupt) bool {
		_, before := p.AskedBefore[i.InterruptID]
		return before
	})
}

// waiting are the gates of earlier runs that are still open.
func (p Played) waiting() bool {
	for _, r := range p.Old {
		for _, i := range r.Interrupts {
			open := func(s contracts.Interrupt) bool {
				return s.InterruptID == i.InterruptID && s.Status == contracts.InterruptOpen
			}
			if i.Type.IsGate() && i.Status == contracts.InterruptOpen && slices.ContainsFunc(p.Session.Interrupts, open) {
				return true
			}
		}
	}
	return false
}

// Texts are what the server said: answer, questions and gates.
func (p Played) Texts() []string {
	out := answerTexts(p.Session.Answer)
	for _, i := range p.Session.Interrupts {
		out = append(out, i.Prompt, i.Reason)
		for _, o := range i.Options {
			out = append(out, o.Label)
		}
		for _, e := range i.Evidence {
			out = append(out, asJSON(e))
		}
	}
	for _, r := range p.Runs {
		out = append(out, runTexts(r)...)
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// answered are the texts of the answer and of the runs, without questions.
func (p Played) answered() string {
	out := answerTexts(p.Session.Answer)
	for _, r := range p.Runs {
		out = append(out, runTexts(r)...)
	}
	return strings.Join(out, " ")
}

func answerTexts(a *contracts.Answer) []string {
	var out []string
	if a == nil {
		return out
	}
	for _, b := range a.Blocks {
		out = append(append(out, b.Title, b.Text), b.Items...)
		if len(b.Rows) > 0 {
			out = append(out, asJSON(b.Rows))
		}
	}
	return out
}

func runTexts(r contracts.RunView) []string {
	var out []string
	if r.Answer != nil {
		for _, b := range r.Answer.Blocks {
			out = append(append(out, b.Text), b.Items...)
		}
	}
	return out
}

// asJSON is a value as people's letters, so that names can be found in it.
func asJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}
