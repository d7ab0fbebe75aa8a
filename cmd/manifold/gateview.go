package main

import (
	"cmp"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
)

func (p printer) gates(gates []contracts.Interrupt) {
	if len(gates) == 0 {
		p.printf("Nothing waits for a person.\n")
		return
	}
	rows := make([][]string, len(gates))
	for i, g := range gates {
		rows[i] = []string{
			g.Code, string(g.Type), string(g.Status), cmp.Or(g.ToolName, "–"), cmp.Or(string(g.RiskLevel), "–"),
			cmp.Or(strings.Join(g.Requesters, ", "), "–"), when(g.CreatedAt), g.Prompt,
		}
	}
	p.table("", []string{"CODE", "TYPE", "STATUS", "TOOL", "RISK", "ASKED BY", "SINCE", "QUESTION"}, rows)
}

// gate prints everything that an approver should read.
func (p printer) gate(g contracts.Interrupt) {
	p.asks(g, gateview.Asks(g))
	rows := [][]string{{"code", g.Code}, {"status", string(g.Status)}, {"run", g.RunID}, {"step", g.NodeID}}
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, []string{name, value})
		}
	}
	add("risk", string(g.RiskLevel))
	add("why", g.Reason)
	add("asked by", strings.Join(g.Requesters, ", "))
	add("approvers", strings.Join(g.Roles, " or "))
	for _, term := range gateview.Terms(g) {
		add(term[0], term[1])
	}
	add("escalates", after(strings.Join(g.EscalateTo, ", ")+", ", whenPtr(g.EscalateAt)))
	switch g.Eyes() {
	case contracts.EyesFour:
		add("four eyes", "somebody must approve who neither asked nor has a part in it")
	case contracts.EyesStrict:
		add("four eyes", "somebody must approve who has a part in nothing of the run")
	case contracts.EyesTwoPersons:
		add("two persons", "who asked and somebody else must both approve exactly this")
	case contracts.EyesOwn: // gateview.Terms prints it
	}
	add("mind", g.Warning)
	add("expires", whenPtr(g.ExpiresAt))
	p.table("  ", nil, rows)
	p.action(g)
	p.decisions(g)
}

// action prints the action that an approval is bound to.
func (p printer) action(g contracts.Interrupt) {
	if a := g.Action; a != nil {
		p.printf("\nAction: %s%s\n", a.Capability, after(" on ", a.Instance))
		p.sheet(g)
		if lines := a.Utterance.Lines(); len(lines) > 0 {
			rows := make([][]string, len(lines))
			for n, l := range lines {
				rows[n] = l[:]
			}
			p.printf("\nSentence\n")
			p.table("  ", nil, rows)
		}
	}
	if len(g.Evidence) > 0 {
		p.printf("\nEvidence\n")
		rows := make([][]string, len(g.Evidence))
		for i, e := range g.Evidence {
			rows[i] = []string{e.Path, text(e.Value)}
		}
		p.table("  ", nil, rows)
	}
	if len(g.Difference) > 0 {
		p.printf("\nDifferent from the gate before\n")
		rows := make([][]string, len(g.Difference))
		for i, d := range g.Difference {
			rows[i] = []string{d.Pointer, text(d.Before), "→ " + text(d.After)}
		}
		p.table("  ", nil, rows)
	}
}

// sheet prints the parameters to be sent, by the names that an edit uses.
func (p printer) sheet(g contracts.Interrupt) {
	var rows [][]string
	for _, r := range gateview.Of(g) {
		rows = append(rows, []string{r.Parameter, text(r.Value), other(r.Label, text(r.Value)), r.From.Words()})
	}
	p.table("  ", nil, rows)
}

func (p printer) decisions(g contracts.Interrupt) {
	for _, d := range g.Decisions {
		by := d.DecidedBy
		if d.Decision == contracts.DecisionApprove && d.Relation != "" {
			by += ", its requester,"
		}
		p.printf("%s by %s%s at %s%s\n", d.Decision, by, after(" through ", d.Via), when(d.DecidedAt), after(": ", oneLine(d.Comment)))
	}
}

// question prints a question with its options.
func (p printer) question(i contracts.Interrupt) { p.asks(i, i.Prompt) }

func (p printer) asks(i contracts.Interrupt, prompt string) {
	p.printf("\n? %s\n", prompt)
	if i.Type.IsGate() {
		return // approve, reject and edit are the same for all gates
	}
	if lines := gateview.Lines(i); len(lines) > 0 {
		rows := make([][]string, len(lines))
		for n, l := range lines {
			rows[n] = l[:]
		}
		p.table("    ", nil, rows)
		p.printf("\n")
	}
	rows := make([][]string, len(i.Options))
	for n, o := range i.Options {
		rows[n] = []string{o.ID, other(o.Label, o.ID), other(o.Detail, o.ID)}
	}
	p.table("    ", nil, rows)
}

// other returns text, or "" if it equals there.
func other(text, there string) string {
	if text == there {
		return ""
	}
	return text
}

// hint prints the command to continue with.
func (p printer) hint(i contracts.Interrupt) {
	if i.Status != contracts.InterruptOpen || i.Code == "" {
		return
	}
	switch {
	case i.Type.IsGate():
		p.printf("  manifold approve %s   or   manifold reject %s\n", i.Code, i.Code)
	case i.Type == contracts.InterruptOutcomeUnknown:
		p.printf("  manifold settle %s applied|not-applied|look-again\n", i.Code)
	case len(i.Options) > 0 && len(gateview.Words(i)) > 0:
		p.printf("  manifold answer %s CHOICE\n", i.Code)
		for _, words := range gateview.Words(i) {
			p.printf("  manifold answer %s %q\n", i.Code, words)
		}
	default:
		p.printf("  manifold answer %s VALUE\n", i.Code)
		for _, words := range gateview.Words(i) {
			p.printf("  manifold answer %s %q\n", i.Code, words)
		}
	}
}
