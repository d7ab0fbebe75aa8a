package answer

import (
	"cmp"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/orchestrator"
)

// Remarks names the parts of a message that nothing was done about, and what
// was left out of the plan.
func Remarks(t orchestrator.Turn) []contracts.Block {
	var out []contracts.Block
	if len(t.Unused) > 0 {
		quoted := make([]string, len(t.Unused))
		for i, p := range t.Unused {
			quoted[i] = "“" + contracts.CleanSummary(p) + "”"
		}
		out = append(out, contracts.Block{
			Kind: contracts.BlockNote, Text: strings.Join(quoted, ", ") + " is not used: I did not understand it.",
		})
	}
	out = append(out, WithoutModel(t.Calls)...)
	for _, note := range t.Notes {
		out = append(out, contracts.Block{Kind: contracts.BlockNote, Text: note})
	}
	return out
}

// WithoutModel says that a model was asked about a message and gave nothing.
func WithoutModel(calls []contracts.ModelCall) []contracts.Block {
	for _, c := range calls {
		if c.Error != "" {
			return []contracts.Block{{Kind: contracts.BlockNote, Text: "Read without the model: " + contracts.CleanSummary(c.Error) + "."}}
		}
	}
	return nil
}

// Declined says honestly that a message was not understood, and what could be.
func Declined(u intent.Understanding) *contracts.Answer {
	a := &contracts.Answer{Blocks: []contracts.Block{{
		Kind: contracts.BlockText, Text: cmp.Or(u.Question, "I did not understand that as something that I can do."),
	}}}
	if len(u.Choices) > 0 {
		list := contracts.Block{Kind: contracts.BlockList, Title: "What I can do"}
		for _, c := range u.Choices {
			list.Items = append(list.Items, cmp.Or(c.Description, c.Domain+"."+c.Capability))
		}
		a.Blocks = append(a.Blocks, list)
	}
	a.Blocks = append(a.Blocks, WithoutModel(u.Calls)...)
	return a
}
