package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Summary returns the audit of a session in Markdown: the messages, plans, decisions and results.
// Texts of domains are escaped.
func (a *Audit) Summary(ctx context.Context, who access.Principal, id string) (string, error) {
	session, err := a.sessions.Read(ctx, who, id)
	if err != nil {
		return "", err
	}
	response, err := a.talks.Session(ctx, who, id, 0)
	if err != nil {
		return "", err
	}
	turns, err := a.talks.ListTurns(ctx, id)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", escape(session.Name))
	fmt.Fprintf(&b, "- session: `%s`\n- owner: %s\n- status: %s\n- started: %s\n\n",
		id, escape(access.SubjectOf(session.Owner)), response.Status, stamp(session.CreatedAt))
	for _, t := range turns {
		fmt.Fprintf(&b, "> %s\n\n", escape(contracts.CleanSummary(t.Message)))
		if t.Notice != "" {
			fmt.Fprintf(&b, "%s\n\n", t.Notice) // Markdown from our own texts
		}
		if t.Answer != nil {
			for _, block := range t.Answer.Blocks {
				fmt.Fprintf(&b, "%s\n\n", escape(block.Text))
			}
		}
	}
	for _, runID := range response.RunIDs {
		if err := a.summarizeRun(ctx, &b, runID); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func (a *Audit) summarizeRun(ctx context.Context, b *strings.Builder, runID string) error {
	view, err := a.runner.View(ctx, runID)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "## Run `%s`: %s\n\n", runID, view.State)
	fmt.Fprintf(b, "Goal: %s. Strategy: %s. Plan hash: `%s`. Flags: %s.\n\n", escape(view.Plan.Goal), view.Plan.Strategy, view.Plan.PlanHash, metrics.Effective(view.Plan.Flags))
	b.WriteString("| node | step | state | attempts | time | result |\n|---|---|---|---|---|---|\n")
	calls := map[string]int{}
	for _, n := range view.Nodes {
		text := n.Summary
		if n.Error != nil {
			text = n.Error.Type + ": " + n.Error.Message
		}
		if n.Tool != "" {
			calls[n.Tool] += n.Attempts
		}
		fmt.Fprintf(b, "| %s | %s | %s | %d | %s | %s |\n", n.NodeID, escape(n.Title+" "+n.Tool), n.State, n.Attempts, took(n), escape(text))
	}
	if err := a.summarizeLedger(ctx, b, runID); err != nil {
		return err
	}
	b.WriteString("\nCalls:")
	tools := make([]string, 0, len(calls))
	for tool, n := range calls {
		tools = append(tools, fmt.Sprintf(" %s × %d", tool, n))
	}
	slices.Sort(tools)
	b.WriteString(strings.Join(tools, ",") + ".\n")
	if v := view.Verdict; v != nil {
		only := ""
		if v.Shadow {
			only = " (recorded, not acted on)"
		}
		fmt.Fprintf(b, "\nVerdict: **%s**%s. %s\n", v.Status, only, escape(strings.Join(v.Reasons, "; ")))
	}
	b.WriteString("\n")
	return nil
}

func (a *Audit) summarizeLedger(ctx context.Context, b *strings.Builder, runID string) error {
	entries, err := a.store.Ledger(ctx, runID, 0, 0)
	if err != nil {
		return err
	}
	b.WriteString("\n| at | ledger | node | who | action |\n|---|---|---|---|---|\n")
	for _, e := range entries {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", stamp(e.At), e.Kind, e.NodeID, escape(e.Actor), short(e.ActionSHA256))
	}
	return nil
}

// took returns the machine time of a node, and how long it waited for people.
func took(n contracts.NodeView) string {
	if n.StartedAt == nil || n.FinishedAt == nil {
		return ""
	}
	text := (time.Duration(n.MachineMS) * time.Millisecond).String()
	if n.HumanMS > 0 {
		text += " and " + (time.Duration(n.HumanMS) * time.Millisecond).String() + " of people"
	}
	return text
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

func short(hash string) string {
	if len(hash) < 12 {
		return hash
	}
	return "`" + hash[:12] + "`"
}

// escape keeps foreign text from being interpreted as Markdown or HTML.
func escape(s string) string {
	return strings.NewReplacer(
		"\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "#", "\\#", "\n", " ",
	).Replace(s)
}
