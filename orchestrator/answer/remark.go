package answer

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// Remarks returns notes about the parts of a message that were not used, and about what was left
// out of the plan.
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

// WithoutModel returns a note if a model call about a message failed.
func WithoutModel(calls []contracts.ModelCall) []contracts.Block {
	for _, c := range calls {
		if c.Error != "" {
			return []contracts.Block{{Kind: contracts.BlockNote, Text: "Read without the model: " + contracts.CleanSummary(c.Error) + "."}}
		}
	}
	return nil
}

// Withheld returns the roles that the caller lacks for a message that is understood if roles are
// ignored, or nil if none is missing. Anybody who may read the catalog may see the role names.
// Nothing is said about capabilities outside the scopes of the caller's key, nor what the
// capabilities do.
func Withheld(catalog *contracts.Catalog, who access.Principal, anyone intent.Understanding) *contracts.Answer {
	list := contracts.Block{Kind: contracts.BlockList}
	for _, in := range anyone.Intents {
		entry, ok := catalog.Capability(in.Ref())
		if !ok || anyone.Outcome != contracts.ReadingAccepted || who.Covers(entry.Domain, entry.Policy.SideEffectClass) != nil {
			continue
		}
		if roles := rolesFor(entry, who); len(roles) > 0 {
			list.Items = append(list.Items, "“"+contracts.CleanSummary(in.Clause)+"”: "+strings.Join(roles, " / "))
		}
	}
	if len(list.Items) == 0 {
		return nil
	}
	return &contracts.Answer{Blocks: []contracts.Block{{Kind: contracts.BlockError, Text: LacksRole}, list}}
}

// LacksRole is the text above the list of missing roles.
const LacksRole = "This needs a role that you do not have. Whoever runs Manifold here can give it to you:"

// Declined answers that a message was not understood, with the nearest capabilities. absent are the
// registered domains that are not available now.
func Declined(u intent.Understanding, absent ...string) *contracts.Answer {
	a := &contracts.Answer{Blocks: []contracts.Block{{
		Kind: contracts.BlockText, Text: cmp.Or(u.Question, "I did not understand that as something that I can do."),
	}}}
	if len(u.Choices) > 0 {
		list := contracts.Block{Kind: contracts.BlockList, Title: "What I can do"}
		for _, o := range Options(u.Choices) {
			list.Items = append(list.Items, o.Label)
		}
		a.Blocks = append(a.Blocks, list)
	}
	if len(absent) > 0 {
		text := "Registered, but not in service now: " + strings.Join(absent, ", ") + ". A domain that has just been added takes a moment."
		a.Blocks = append(a.Blocks, contracts.Block{Kind: contracts.BlockNote, Text: text})
	}
	a.Blocks = append(a.Blocks, WithoutModel(u.Calls)...)
	return a
}

// Options returns the alternatives of a message as the options of a question.
func Options(choices []contracts.Alternative) []contracts.InterruptOption {
	out := make([]contracts.InterruptOption, len(choices))
	for i, c := range choices {
		ref := c.Domain + "." + c.Capability
		out[i] = contracts.InterruptOption{ID: ref, Label: cmp.Or(c.Description, ref)}
	}
	return out
}

// RunStatusLines describes the gates at which a run waits and why, and its verdict, unless that is
// a shadow verdict.
func RunStatusLines(run contracts.RunView) []string {
	var lines []string
	for _, i := range run.Interrupts {
		if i.Type.IsGate() {
			lines = append(lines, fmt.Sprintf("It waits at `%s`, because %s. Risk: %s.", i.Code, chat.Escape(cmp.Or(i.Reason, "its policy asks for an approval")), i.RiskLevel))
		}
	}
	if v := told(run.Verdict); v != nil {
		lines = append(lines, chat.Escape("It came to: "+strings.ReplaceAll(string(v.Status), "_", " ")+". "+strings.Join(v.Reasons, "; ")))
	}
	return lines
}
