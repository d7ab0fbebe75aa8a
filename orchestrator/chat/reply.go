package chat

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
)

// Frame is how a chat shows a view: what only the frontend and the reader know.
type Frame struct {
	// Links are the pages on which the reader may decide a gate, by its code.
	Links map[string]string
	// Shown are the codes of gates that stand above in the same message already.
	Shown []string
	// Rich tells that the frontend folds <details> and draws mermaid.
	Rich bool
}

// Compose writes the whole reply of a chat. It is never empty: frontends keep
// waiting for a reply without text.
func Compose(v orchestrator.SessionView, f Frame) string {
	var parts []string
	for _, part := range []string{v.Notice, Render(v.Answer), plan(v, f), questions(v, f)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	switch {
	case v.Running:
		parts = append(parts, "It is still running. Write `status` to see how far it is, or `cancel`.")
	case v.Waits:
		parts = append(parts, "It waits for its turn, or for a service that is busy, and goes on by itself. Write `status` to see how far it is.")
	case len(parts) == 0:
		parts = append(parts, "There is nothing to show.")
	}
	return strings.Join(parts, "\n\n")
}

// plan shows the steps of a run while a person has to decide about it.
func plan(v orchestrator.SessionView, f Frame) string {
	if len(v.Rows) < 2 || len(v.Open) == 0 || len(f.Shown) > 0 {
		return ""
	}
	var out strings.Builder
	if f.Rich {
		fmt.Fprintf(&out, "<details>\n<summary>Plan: %d steps</summary>\n\n", len(v.Rows))
	}
	out.WriteString("| # | step | after | risk | approval |\n| --- | --- | --- | --- | --- |\n")
	for _, r := range v.Rows {
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n",
			Escape(r.NodeID), Escape(r.Step), Escape(strings.Join(r.DependsOn, ", ")), Escape(string(r.Risk)), Escape(r.Approval))
	}
	if f.Rich {
		if v.Mermaid != "" && !strings.Contains(v.Mermaid, "```") {
			out.WriteString("\n```mermaid\n" + strings.TrimSpace(v.Mermaid) + "\n```\n")
		}
		out.WriteString("\n</details>")
	}
	return strings.TrimRight(out.String(), "\n")
}

// questions writes what waits for a person, with how to answer.
func questions(v orchestrator.SessionView, f Frame) string {
	var parts []string
	for _, i := range v.Open {
		mayApprove := slices.Contains(v.MayApprove, i.Code)
		switch {
		case !i.Type.Expires():
			parts = append(parts, question(i))
		case slices.Contains(f.Shown, i.Code):
			parts = append(parts, "It stays open. "+howToDecide(i.Code, mayApprove))
		default:
			parts = append(parts, gate(i, mayApprove, f.Links[i.Code]))
		}
	}
	return strings.Join(parts, "\n\n")
}

func gate(i contracts.Interrupt, mayApprove bool, link string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "**%s** `%s`\n\n", Escape(headline(i)), i.Code)
	if i.Action != nil {
		out.WriteString("| parameter | value |\n| --- | --- |\n")
		for _, name := range slices.Sorted(maps.Keys(i.Action.Sent())) {
			fmt.Fprintf(&out, "| %s | %s |\n", Escape(name), Escape(Parameter(i, name)))
		}
	}
	for _, d := range i.Difference {
		fmt.Fprintf(&out, "\nchanged: %s from %s to %s\n", Escape(d.Pointer), Escape(Value(d.Before)), Escape(Value(d.After)))
	}
	var facts []string
	for _, c := range Circumstances(i) {
		facts = append(facts, capital(c[0])+": "+Escape(strings.TrimRight(c[1], "."))+".")
	}
	if i.ExpiresAt != nil {
		facts = append(facts, "Open until "+i.ExpiresAt.UTC().Format("2006-01-02 15:04 UTC")+".")
	}
	out.WriteString("\n" + strings.Join(facts, " "))
	if i.Status != "" && i.Status != contracts.InterruptOpen {
		return strings.TrimSpace(out.String())
	}
	out.WriteString("\n\n" + howToDecide(i.Code, mayApprove))
	if link != "" {
		fmt.Fprintf(&out, "\n\nOr [look at it on a page](%s), which is yours alone: do not pass it on.", link)
	}
	return out.String()
}

// headline is what a gate asks, without the values that stand in the table below
// it.
func headline(i contracts.Interrupt) string {
	asks := "Approve " + i.ToolName + "?"
	if i.Action != nil && i.ToolName != "" && strings.HasPrefix(i.Prompt, asks) {
		return asks
	}
	return i.Prompt
}

func howToDecide(code string, mayApprove bool) string {
	if mayApprove {
		return fmt.Sprintf("Reply `approve %s` or `reject %s`.", code, code)
	}
	return fmt.Sprintf("Somebody else has to approve it, with `approve %s`. You can withdraw it: `reject %s`.", code, code)
}

// Circumstances are what somebody who decides should know besides the
// parameters, by name: on which installation, who asks, why they are asked, and what was said.
func Circumstances(i contracts.Interrupt) [][2]string {
	var out [][2]string
	add := func(name, value string) {
		if value != "" {
			out = append(out, [2]string{name, value})
		}
	}
	if i.Action != nil {
		out = append(out, i.Action.Said.Lines()...)
		add("where", i.Action.Instance)
	}
	add("asked by", strings.Join(i.Requesters, ", "))
	add("risk", string(i.RiskLevel))
	add("why", i.Reason)
	return out
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// Parameter writes a value of a gate's action: what was chosen from a list with
// the words of the list, beside the id that will be sent.
func Parameter(i contracts.Interrupt, name string) string {
	value, from := Value(i.Action.Sent()[name]), ""
	if said := i.Action.Said; said != nil {
		from = said.Values[name].Words()
	}
	if label := brief(i.Label(name), 80); label != "" && label != value {
		value = label + " [" + value + "]"
	}
	if from != "" {
		value += " (" + from + ")"
	}
	return value
}

func question(i contracts.Interrupt) string {
	var out strings.Builder
	out.WriteString("**" + Escape(i.Prompt) + "**\n")
	for n, o := range i.Options {
		fmt.Fprintf(&out, "\n%s %s", Mark(i, n), Escape(o.Label))
		if o.Detail != "" {
			out.WriteString(" – " + Escape(o.Detail))
		}
	}
	return strings.TrimRight(out.String(), "\n")
}

// FollowUps are the commands that fit where a chat stands; frontends show them
// as buttons.
func FollowUps(v orchestrator.SessionView) []string {
	out := []string{}
	for _, i := range v.Open {
		switch {
		case i.Type.Expires():
			switch {
			case i.Status != "" && i.Status != contracts.InterruptOpen:
			case slices.Contains(v.MayApprove, i.Code):
				out = append(out, "Approve "+i.Code, "Reject "+i.Code)
			default:
				out = append(out, "Status", "Withdraw "+i.Code)
			}
		case len(v.Open) == 1:
			for n := range min(len(i.Options), 4) {
				out = append(out, Choice(i, n))
			}
		}
	}
	if v.Running || v.Waits {
		out = append(out, "Status", "Cancel")
	}
	return out
}

// Choice is the nth option of a question as words that mean it and nothing else:
// its mark and its label. A label is a domain's own, and may be "cancel", or the
// number of another.
func Choice(i contracts.Interrupt, n int) string {
	return Mark(i, n) + " " + brief(i.Options[n].Label, 60)
}

// Mark is what stands before the nth option: a number, or a letter where the
// question asks for a number.
func Mark(i contracts.Interrupt, n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	if AsksNumber(i) && n < len(letters) {
		return letters[n:n+1] + "."
	}
	return strconv.Itoa(n+1) + "."
}

// Place reads a mark, and gives the place of its option from 1.
func Place(i contracts.Interrupt, text string) (int, bool) {
	text = strings.ToLower(strings.TrimRight(text, ".)"))
	if AsksNumber(i) {
		if len(text) != 1 || text[0] < 'a' || text[0] > 'z' {
			return 0, false
		}
		return int(text[0]-'a') + 1, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// AsksNumber tells whether the answer to a question is a number.
func AsksNumber(i contracts.Interrupt) bool {
	kind, _ := i.ResponseSchema["type"].(string)
	numeric := kind == "integer" || kind == "number"
	return numeric || len(i.Options) > 0 && !slices.ContainsFunc(i.Options, func(o contracts.InterruptOption) bool {
		switch o.Value.(type) {
		case float64, int, int64:
			return false
		}
		return true
	})
}

// brief is a foreign text on one line of bounded length.
func brief(s string, most int) string {
	runes := []rune(contracts.CleanSummary(s))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}

// Progress writes one event as a line of plain text, "" if it is no news to
// people.
func Progress(e contracts.Event) string {
	name := e.NodeName
	if name == "" {
		name = e.NodeID
	}
	line := func(mark, text string) string {
		if e.Summary != "" {
			text += ": " + e.Summary
		}
		return mark + " " + contracts.CleanSummary(text)
	}
	switch e.Type {
	case contracts.EventNodeStart:
		return "· " + contracts.CleanSummary(name)
	case contracts.EventNodeEnd:
		return line("✓", name)
	case contracts.EventNodeError:
		return line("✗", name)
	case contracts.EventInterrupt:
		return "? " + contracts.CleanSummary(e.Summary)
	case contracts.EventInterruptResolved:
		return line("=", e.Status)
	case contracts.EventToolCallStart, contracts.EventToolCallEnd, contracts.EventExpand, contracts.EventVerdict, contracts.EventDone:
	}
	return ""
}
