package chat

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Render writes an answer as Markdown. Texts of domains are text: nothing in
// them is read as markup, as a think tag or as a marker.
func Render(a *contracts.Answer) string {
	if a == nil {
		return ""
	}
	var parts []string
	for _, b := range a.Blocks {
		parts = append(parts, block(b))
	}
	if v := a.Verdict; v != nil && v.Status != contracts.VerdictVerified {
		text := "*" + strings.ReplaceAll(string(v.Status), "_", " ") + "*"
		if len(v.Reasons) > 0 {
			text += ": " + Escape(strings.Join(v.Reasons, "; "))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n")
}

func block(b contracts.Block) string {
	var out strings.Builder
	if b.Title != "" {
		out.WriteString("**" + Escape(b.Title) + "**\n\n")
	}
	switch b.Kind {
	case contracts.BlockTable:
		table(&out, b)
	case contracts.BlockList:
		for _, item := range b.Items {
			out.WriteString("- " + Escape(item) + "\n")
		}
	case contracts.BlockError:
		out.WriteString("⚠️ " + Escape(b.Text))
	case contracts.BlockText, contracts.BlockNote:
		out.WriteString(Escape(b.Text))
	}
	return strings.TrimRight(out.String(), "\n")
}

func table(out *strings.Builder, b contracts.Block) {
	heads := make([]string, len(b.Columns))
	for i, c := range b.Columns {
		heads[i] = Escape(c.Title)
		if c.Unit != "" {
			heads[i] += " (" + Escape(c.Unit) + ")"
		}
	}
	out.WriteString("| " + strings.Join(heads, " | ") + " |\n|" + strings.Repeat(" --- |", len(heads)) + "\n")
	for _, row := range b.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			if v != nil {
				cells[i] = Escape(fmt.Sprint(v))
			}
		}
		out.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
}

// Questions writes what waits for a person, with how to answer.
func Questions(open []contracts.Interrupt) string {
	var parts []string
	for _, i := range open {
		if i.Type.Expires() {
			parts = append(parts, gate(i))
			continue
		}
		parts = append(parts, question(i))
	}
	return strings.Join(parts, "\n\n")
}

func gate(i contracts.Interrupt) string {
	var out strings.Builder
	fmt.Fprintf(&out, "**%s** `%s`\n\n", Escape(i.Prompt), i.Code)
	if i.Action != nil {
		out.WriteString("| parameter | value |\n| --- | --- |\n")
		for _, name := range slices.Sorted(maps.Keys(i.Action.Parameters)) {
			fmt.Fprintf(&out, "| %s | %s |\n", Escape(name), Escape(fmt.Sprint(i.Action.Parameters[name])))
		}
	}
	for _, d := range i.Difference {
		fmt.Fprintf(&out, "\nchanged: %s from %s to %s\n", Escape(d.Pointer), Escape(fmt.Sprint(d.Before)), Escape(fmt.Sprint(d.After)))
	}
	fmt.Fprintf(&out, "\nRisk: %s. Why: %s.", i.RiskLevel, Escape(i.Reason))
	fmt.Fprintf(&out, "\n\nReply `approve %s` or `reject %s`.", i.Code, i.Code)
	return out.String()
}

func question(i contracts.Interrupt) string {
	var out strings.Builder
	out.WriteString("**" + Escape(i.Prompt) + "**")
	for n, o := range i.Options {
		fmt.Fprintf(&out, "\n%d. %s", n+1, Escape(o.Label))
	}
	return out.String()
}

// FollowUps are the commands that fit where a session stands; frontends show
// them as buttons.
func FollowUps(r contracts.SessionResponse) []string {
	out := []string{}
	for _, i := range r.Interrupts {
		switch {
		case i.Type.Expires():
			out = append(out, "Approve "+i.Code, "Reject "+i.Code)
		case len(i.Options) > 0 && len(r.Interrupts) == 1:
			for n, o := range i.Options {
				if n < 4 {
					out = append(out, o.Label)
				}
			}
		}
	}
	if r.Status == contracts.SessionRunning {
		out = append(out, "Status", "Cancel")
	}
	return out
}

var escaper = strings.NewReplacer(
	"\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]",
	"#", "\\#", "\n", " ", "\r", " ", "◁", "&#9665;", "{{", "{\u200b{",
)

// Escape makes text show as it is in Markdown, whatever it contains.
func Escape(s string) string { return escaper.Replace(s) }
