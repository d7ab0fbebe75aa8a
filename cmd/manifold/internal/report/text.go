// Package report formats runs: as text for a terminal, and as one HTML file for audits, which loads and
// runs nothing and can be read without a server.
package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
)

// page is the output. Write errors are ignored: the terminal is gone.
type page struct{ w io.Writer }

func (p page) printf(format string, args ...any) { _, _ = fmt.Fprintf(p.w, format, args...) }

func (p page) table(heads []string, rows [][]string) {
	tw := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{heads}, rows...) {
		_, _ = fmt.Fprintln(tw, strings.Join(row, "\t"))
	}
	_ = tw.Flush()
}

// Duration formats a duration in milliseconds.
func Duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d >= time.Second {
		d = d.Round(100 * time.Millisecond)
	}
	return d.String()
}

// Lasted is like Duration, but returns "" for 0.
func Lasted(ms int64) string {
	if ms == 0 {
		return ""
	}
	return Duration(ms)
}

// Stats prints the aggregated metrics of runs.
func Stats(w io.Writer, s metrics.Stats) {
	p := page{w}
	if s.Runs == 0 {
		p.printf("There are no runs.\n")
		return
	}
	more, since := "", "ever"
	if s.Since != nil {
		since = s.Since.Local().Format(time.DateTime)
	}
	if s.More {
		more = " (there are older ones: --last)"
	}
	p.printf("%d runs since %s%s\n\n", s.Runs, since, more)
	rows := [][]string{groupRow("all", s.All)}
	for _, g := range s.ByStrategy {
		rows = append(rows, groupRow("  "+g.Name, g))
	}
	for _, g := range s.ByFlags {
		rows = append(rows, groupRow("  flags: "+g.Name, g))
	}
	p.table([]string{"RUNS", "N", "FIRST", "TOOK", "p95", "WAITED", "CRITICAL", "SIDE BY SIDE", "COMPLETED", "DEGRADED", "REJECTED", "DRIFT", "SCORE", "CALLS", "TOKENS"}, rows)
	p.printf("\n")
	p.phases(s.Phases)
	p.calls(s.Calls, s.Repairs)
	if len(s.Fingerprints) > 0 {
		p.printf("fingerprints   %s\n", strings.Join(s.Fingerprints, " "))
	}
	p.safety(s.Safety)
	if len(s.Unsafe) > 0 {
		p.printf("in             %s\n", strings.Join(s.Unsafe, " "))
	}
}

func groupRow(name string, g metrics.GroupStats) []string {
	return []string{
		name, strconv.Itoa(g.Runs), Duration(g.FirstUsefulMS.P50), Duration(g.MachineMS.P50), Duration(g.MachineMS.P95), Lasted(g.HumanMS.P50), Duration(g.CriticalMS.P50),
		fmt.Sprintf("%.2f", g.Parallelism), percent(g.Completion), percent(g.Degraded), percent(g.Rejected), percent(g.Drift),
		fmt.Sprintf("%.2f", g.Score), strconv.Itoa(g.Calls), tokens(g.Tokens),
	}
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

func tokens(t metrics.Tokens) string {
	if t == (metrics.Tokens{}) {
		return ""
	}
	return fmt.Sprintf("%d + %d", t.In, t.Out)
}

// Run prints the metrics of one run.
func Run(w io.Writer, f metrics.RunMetrics) {
	p := page{w}
	p.printf("%s: %s, %s\n\n", f.RunID, f.State, f.Strategy)
	p.printf("took           %s of machine time, and %s of people; %s in all\n", Duration(f.MachineMS), Duration(f.HumanMS), Duration(f.WallMS))
	if f.FirstUsefulMS != nil {
		p.printf("first result   after %s\n", Duration(*f.FirstUsefulMS))
	}
	p.printf("critical path  %s: %s of machine time, %s of people\n", strings.Join(f.CriticalPath.Nodes, " → "), Duration(f.CriticalPath.MachineMS), Duration(f.CriticalPath.HumanMS))
	p.printf("side by side   %s of work in %s: %.2f\n", Duration(f.WorkMS), Duration(f.BusyMS), f.Parallelism)
	p.printf("steps          %d of %d completed, %d degraded, %d rejected by a check, %d of %d otherwise than planned\n", f.Completed, f.Steps, f.Degraded, f.VerifierRejections, f.Drifted, f.Planned)
	if f.Score != nil {
		p.printf("verdict        %s, score %.2f\n", f.Verdict, *f.Score)
	}
	if f.ModelCalls > 0 {
		p.printf("models         %d calls, %s tokens\n", f.ModelCalls, tokens(f.Tokens))
	}
	p.phases(f.Phases)
	p.calls(f.Calls, f.Repairs)
	for _, a := range f.Asked {
		p.printf("asked          %s: %s\n", askedOf(a), Duration(a.HumanMS))
	}
	p.printf("fingerprint    %s\n", f.Fingerprint)
	if f.Flags != nil {
		p.printf("flags          %s\n", f.Flags)
	}
	p.safety(f.Safety)
}

// Skills prints the skills that were used in a run, with their digests.
func Skills(w io.Writer, v contracts.RunView) {
	used := map[string]bool{}
	for _, n := range v.Nodes {
		for _, call := range n.Calls {
			if name := skillOf(n.Node); name != "" && call.SkillSHA256 != "" {
				used[fmt.Sprintf("%s %.12s", name, call.SkillSHA256)] = true
			}
		}
	}
	if len(used) > 0 {
		page{w}.printf("\nskills: %s\n", strings.Join(slices.Sorted(maps.Keys(used)), ", "))
	}
}

func skillOf(n contracts.Node) string {
	switch {
	case n.Reason != nil:
		return n.Reason.Skill
	case n.Verify != nil && n.Verify.Judge != nil:
		return n.Verify.Judge.Skill
	default:
		return ""
	}
}

// Flags prints the features that were disabled for a run, and a verdict that was recorded without
// effect.
func Flags(w io.Writer, v contracts.RunView) {
	p := page{w}
	if set := metrics.Effective(v.Plan.Flags); set != metrics.AllOn() {
		p.printf("\nflags: %s\n", set)
	}
	if r := v.Verdict; r != nil && r.Shadow {
		p.printf("recorded, not acted on: %s, score %.2f %s\n", r.Status, *r.Score, contracts.CleanSummary(strings.Join(r.Reasons, "; ")))
	}
}

func (p page) phases(phases []metrics.PhaseMetrics) {
	for _, ph := range phases {
		name := ph.Phase
		if name == "" {
			name = "(no phase)"
		}
		p.printf("phase          %s: %d steps, %s of machine time, %s of people\n", name, ph.Steps, Duration(ph.MachineMS), Duration(ph.HumanMS))
	}
}

func (p page) calls(calls map[string]int, repairs int) {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		all = append(all, fmt.Sprintf("%s × %d", name, calls[name]))
	}
	if len(all) > 0 {
		p.printf("calls          %s\n", strings.Join(all, ", "))
	}
	p.printf("repairs        %d\n", repairs)
}

func (p page) safety(s metrics.Safety) {
	p.printf("must be 0      approvals bypassed %d, write collisions %d, failed resumes %d, holes in the audit %d\n", s.ApprovalsBypassed, s.WriteCollisions, s.FailedResumes, s.AuditHoles)
}

// askedOf describes how often a kind of question was asked, and to whom.
func askedOf(a metrics.QuestionMetrics) string {
	who := "the requester"
	if len(a.Roles) > 0 {
		who = strings.Join(a.Roles, " or ")
	}
	return fmt.Sprintf("%s × %d, %s", a.Type, a.Count, who)
}

// Forecast prints the forecast of a run; nil prints nothing.
func Forecast(w io.Writer, f *metrics.Forecast) {
	if f == nil {
		return
	}
	p := page{w}
	more := tokens(f.Tokens)
	if more != "" {
		more = ", " + more + " tokens"
	}
	if f.Runs > 0 {
		p.printf("\nby %d runs like it: about %s (one in twenty over %s), %d calls%s, %s completed", f.Runs, Duration(f.MachineMS.P50), Duration(f.MachineMS.P95), f.Calls, more, percent(f.Completion))
		if f.HumanMS.P50 > 0 {
			p.printf("; people took %s", Duration(f.HumanMS.P50))
		}
		p.printf("\n")
	} else {
		p.printf("\nno run like it has ended yet\n")
	}
	for _, a := range f.Asked {
		verb := "will"
		if a.Perhaps {
			verb = "may"
		}
		p.printf("%s ask: %s\n", verb, askedOf(a))
	}
}

// Words prints what each sentence of the answer is based on, and why others were dropped.
func Words(w io.Writer, v contracts.RunView) {
	p := page{w}
	for i := range v.Nodes {
		if v.Nodes[i].Kind != contracts.KindAnswer {
			continue
		}
		worded := metrics.WordedIn(v.Nodes[i].Facts)
		for n, s := range worded.Sentences {
			if n == 0 {
				p.printf("\nthe sentences rest on:\n")
			}
			p.printf("  %s  ← %s\n", contracts.CleanSummary(s.Text), cmp.Or(strings.Join(s.Nodes, ", "), "the question"))
		}
		for _, why := range worded.LeftOut {
			p.printf("left out a sentence: %s\n", contracts.CleanSummary(why))
		}
	}
}
