package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/manifold-run/manifold/cmd/manifold/internal/report"
	"github.com/manifold-run/manifold/contracts"
)

func (p printer) runs(runs []contracts.RunSummary) {
	if len(runs) == 0 {
		p.printf("There are no runs.\n")
		return
	}
	rows := make([][]string, len(runs))
	for i, r := range runs {
		state := string(r.State)
		if r.HeldSince != nil {
			state += ", held"
		}
		rows[i] = []string{r.RunID, state, string(r.Verdict), r.Owner, when(r.CreatedAt), machineTime(r), report.Lasted(r.HumanMS), r.Goal}
	}
	p.table("", []string{"RUN", "STATE", "VERDICT", "OWNER", "STARTED", "TOOK", "WAITED", "GOAL"}, rows)
}

// machineTime returns the duration of an ended run without the time spent waiting for people.
func machineTime(r contracts.RunSummary) string {
	if r.FinishedAt == nil {
		return ""
	}
	return report.Duration(r.FinishedAt.Sub(r.CreatedAt).Milliseconds() - r.HumanMS)
}

// run prints a run as a tree: each node below the last one that it depends on.
func (p printer) run(v contracts.RunView) {
	p.printf("%s: %s\n%s\n\n", v.RunID, v.State, v.Plan.Goal)
	if v.HeldSince != nil {
		p.printf("In quarantine since %s, after a restore: manifold run release %s, or cancel it.\n\n", when(*v.HeldSince), v.RunID)
	}
	t := report.Tree(v.Nodes)
	rows := make([][]string, 0, len(v.Nodes))
	for _, line := range t {
		n := line.Node
		detail := n.Summary
		if n.Error != nil {
			detail = n.Error.Message
		}
		if n.QueuedFor != "" {
			detail = "waits for " + n.QueuedFor
		}
		rows = append(rows, []string{
			line.Indent + sign(n.State) + " " + n.NodeID, cmp.Or(n.Title, n.Tool, string(n.Kind)), string(n.State),
			attempts(n.Attempts), stepTime(n), report.Lasted(n.HumanMS), detail,
		})
	}
	p.table("", []string{"NODE", "STEP", "STATE", "TRIES", "TOOK", "WAITED", "RESULT"}, rows)
	for _, i := range v.Interrupts {
		if i.Status == contracts.InterruptOpen {
			p.question(i)
			p.hint(i)
		}
	}
	if v.Answer != nil {
		p.printf("\n")
		p.answer(v.Answer)
	}
	report.Words(p.w, v)
	report.Skills(p.w, v)
	report.Flags(p.w, v)
	p.printf("\nsession %s\n", v.SessionID)
	if v.TraceURL != "" {
		p.printf("trace %s\n", v.TraceURL)
	}
}

// state prints the state of a run, by domain.
func (p printer) state(s contracts.DomainState) {
	p.printf("%s: %s\n", s.RunID, s.State)
	for _, domain := range slices.Sorted(maps.Keys(s.Debug)) {
		p.printf("\n%s\n", domain)
		var rows [][]string
		for _, name := range slices.Sorted(maps.Keys(s.Facts[domain])) {
			rows = append(rows, []string{name, oneLine(text(s.Facts[domain][name]))})
		}
		for _, name := range slices.Sorted(maps.Keys(s.Artifacts[domain])) {
			rows = append(rows, []string{name, s.Artifacts[domain][name]})
		}
		if len(rows) > 0 {
			p.table("  ", []string{"FACT", "VALUE"}, rows)
		}
		rows = nil
		for _, d := range s.Debug[domain] {
			again := ""
			if d.Round > 0 {
				again = "made anew by " + d.By
			}
			rows = append(rows, []string{d.NodeID, d.Tool, string(d.State), attempts(d.Attempts), report.Lasted(d.DurationMS), again})
		}
		p.table("  ", []string{"CALL", "OF", "STATE", "TRIES", "TOOK", ""}, rows)
	}
}

// stepTime returns the machine time of an ended step.
func stepTime(n *contracts.NodeView) string {
	if n.StartedAt == nil || n.FinishedAt == nil {
		return ""
	}
	return report.Duration(n.MachineMS)
}

func attempts(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func sign(s contracts.NodeState) string {
	switch s {
	case contracts.NodeCompleted:
		return "✓"
	case contracts.NodeFailed, contracts.NodeRejected:
		return "✗"
	case contracts.NodeSkipped, contracts.NodeCancelled:
		return "–"
	case contracts.NodeAwaitingApproval, contracts.NodeAwaitingInput, contracts.NodeOutcomeUnknown:
		return "?"
	case contracts.NodePending, contracts.NodeReady, contracts.NodeQueued, contracts.NodeRunning, contracts.NodeBlocked:
	}
	return "·"
}

func (p printer) ledger(entries []contracts.LedgerEntry) {
	rows := make([][]string, len(entries))
	for i, e := range entries {
		who := e.Actor
		if e.Kind == contracts.LedgerDecision && e.Key != "" {
			who += ", its requester"
		}
		rows[i] = []string{strconv.FormatInt(e.Seq, 10), when(e.At), string(e.Kind), e.NodeID, e.Tool, who, short(e.ActionSHA256), short(e.Hash)}
	}
	p.table("", []string{"SEQ", "AT", "KIND", "NODE", "TOOL", "WHO", "ACTION", "HASH"}, rows)
}

func short(hash string) string {
	if len(hash) <= 12 {
		return hash
	}
	return fmt.Sprintf("%.12s…", hash)
}
