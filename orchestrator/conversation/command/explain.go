package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/answer"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation/change"
	"github.com/manifold-run/manifold/orchestrator/gates"
)

// why describes how the last request was understood, and its result.
func (c *Commands) why(ctx context.Context, here string) (string, error) {
	turns, err := c.turns.ListTurns(ctx, orchestrator.TurnFilter{SessionID: here})
	if err != nil || here == "" {
		return "", err
	}
	last := answer.LastSubstance(turns)
	if last == nil {
		return "", nil
	}
	lines := []string{"You said: “" + chat.Escape(contracts.CleanSummary(change.Goal(*last))) + "”."}
	for _, in := range last.Intents {
		lines = append(lines, answer.Reading(c.catalogs.Catalog(), in))
	}
	if len(last.Intents) == 0 {
		lines = append(lines, "I did not find in it what I can do.")
	}
	if last.RunID == "" {
		return strings.Join(lines, "\n\n"), nil
	}
	run, err := c.runner.View(ctx, last.RunID)
	if err != nil {
		return strings.Join(lines, "\n\n"), nil //nolint:nilerr // what was said is known without the run
	}
	return strings.Join(append(lines, answer.RunStatusLines(run)...), "\n\n"), nil
}

// show displays the gate of a code, with its result.
func (c *Commands) show(ctx context.Context, t orchestrator.Turn, here string) (orchestrator.Turn, error) {
	i, err := c.Gate(ctx, t.By, here, t.Codes[0])
	if contracts.CodeOf(err) == contracts.CodeNotFound && !t.By.Shared() { // anybody who may read it may display it
		i, err = c.gates.Get(ctx, t.By, t.Codes[0])
	}
	if err != nil {
		if Retryable(err) {
			return t, err
		}
		t.Notice = chat.Escape(err.Error())
		return t, nil
	}
	t.RedisplayedQuestionID = i.InterruptID
	if i.Status != contracts.InterruptOpen {
		t.Notice = c.ended(ctx, i)
	}
	return t, nil
}

// ended describes the result of a decided gate and of its action.
func (c *Commands) ended(ctx context.Context, i contracts.Interrupt) string {
	by := ""
	if n := len(i.Decisions); n > 0 {
		by = " by " + chat.Escape(i.Decisions[n-1].DecidedBy)
	}
	line := fmt.Sprintf("`%s` is %s%s.", i.Code, i.Status, by)
	if i.Status == contracts.InterruptApproved {
		line += " " + c.cameTo(ctx, i)
	}
	return line
}

// cameTo describes the result of the approved action of a gate.
func (c *Commands) cameTo(ctx context.Context, i contracts.Interrupt) string {
	n, _, err := c.node(ctx, i)
	switch {
	case err != nil || n == nil:
		return ""
	case n.State == contracts.NodeCompleted:
		return "Done: " + chat.Escape(cmp.Or(n.Summary, n.Title, n.Tool)) + "."
	case n.State.Terminal() && n.Error != nil:
		return "It did not work: " + chat.Escape(n.Error.Message) + "."
	case n.State.Terminal():
		return "It came to: " + strings.ReplaceAll(string(n.State), "_", " ") + "."
	}
	return "It is under way; `show " + i.Code + "` says what came of it."
}

// node returns the node that a gate is about, and whether the node or its run has ended.
func (c *Commands) node(ctx context.Context, i contracts.Interrupt) (*contracts.NodeView, bool, error) {
	run, err := c.runner.View(ctx, i.RunID)
	if err != nil {
		return nil, false, err
	}
	at := slices.IndexFunc(run.Nodes, func(n contracts.NodeView) bool { return n.NodeID == i.NodeID })
	if at < 0 {
		return nil, run.State.Terminal(), nil
	}
	return &run.Nodes[at], run.State.Terminal() || run.Nodes[at].State.Terminal(), nil
}

// resultWait is how long an approver waits for the result of another person's write.
const resultWait = 10 * time.Second

// await waits until the node of an approved gate has ended, and describes the result.
func (c *Commands) await(ctx context.Context, i contracts.Interrupt) string {
	_ = orchestrator.WaitFor(ctx, c.notifier, i.SessionID, resultWait, func(ctx context.Context) (bool, error) { // on error the current state is described
		_, over, err := c.node(ctx, i)
		return over, err
	})
	return c.cameTo(ctx, i)
}

// undo undoes the last write of the session: a pending one is cancelled, a completed one is
// compensated by a run with its own gate.
func (c *Commands) undo(ctx context.Context, t orchestrator.Turn, here string) (orchestrator.Turn, error) {
	if here == "" {
		t.Notice = NothingAsked
		return t, nil
	}
	found, err := c.store.ListRuns(ctx, execution.RunFilter{SessionID: here, Limit: contracts.MaxPageLimit, Brief: true})
	if err != nil {
		return t, err
	}
	for _, r := range found.Items { // the newest first
		if r.CreatedAt.After(spoken(t)) {
			continue
		}
		run, err := c.runner.View(ctx, r.ID)
		if err != nil {
			return t, err
		}
		next, done, err := c.undoRun(ctx, t, run)
		if done || err != nil {
			return next, err
		}
	}
	t.Notice = "Nothing was written here that I could undo."
	return t, nil
}

// undoRun undoes the writes of one run. It returns false if the run has written nothing.
func (c *Commands) undoRun(ctx context.Context, t orchestrator.Turn, run contracts.RunView) (orchestrator.Turn, bool, error) {
	written := change.Written(run)
	waiting := slices.ContainsFunc(run.Interrupts, func(i contracts.Interrupt) bool { return i.Type.IsGate() })
	if len(written) == 0 && waiting && !run.State.Terminal() {
		_, err := c.runs.Cancel(ctx, t.By, run.RunID)
		t.Notice = "It was not done yet, and is withdrawn."
		return t, true, err
	}
	if len(written) == 0 {
		return t, false, nil
	}
	if t.Topic == chat.All {
		return c.compensate(ctx, t, run, "", "To undo, the last first:", summaries(answer.Undoable(c.catalogs.Catalog(), run)))
	}
	n, err := strconv.Atoi(cmp.Or(t.Topic, "1"))
	if err != nil || n > len(written) || len(written) > 1 && t.Topic == "" {
		lines := []string{"Which one? Write `undo` and its number, or `undo all` for all of them, the last first.", ""}
		for at, w := range summaries(written) {
			lines = append(lines, fmt.Sprintf("%d. %s", at+1, w))
		}
		t.Notice = strings.Join(lines, "\n")
		return t, true, nil
	}
	w := written[n-1]
	if w.State == contracts.NodeOutcomeUnknown {
		t.Notice = "What became of it is not known, so it cannot be undone from here: " + chat.Escape(cmp.Or(w.Title, w.Tool)) + "."
		return t, true, nil
	}
	return c.compensate(ctx, t, run, w.NodeID, "To undo:", summaries(written[n-1:n]))
}

func summaries(nodes []contracts.NodeView) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, chat.Escape(cmp.Or(n.Summary, n.Title, n.Tool)))
	}
	return out
}

// compensate starts the run that undoes a write, or all writes of a run, and says what it undoes.
func (c *Commands) compensate(ctx context.Context, t orchestrator.Turn, run contracts.RunView, nodeID, head string, what []string) (orchestrator.Turn, bool, error) {
	_, undo, err := c.runs.Compensate(ctx, t.By, run.RunID, nodeID)
	if err != nil {
		if Retryable(err) {
			return t, true, err
		}
		t.Notice = chat.Escape(err.Error())
		return t, true, nil
	}
	t.RunID, t.Notice = undo, head+" "+strings.Join(what, "; ")+"."
	return t, true, nil
}

// parkedFor and maxParked limit the questions that `back` returns to.
const parkedFor, maxParked = 24 * time.Hour, 3

// back displays the question that was left open last.
func (c *Commands) back(ctx context.Context, t orchestrator.Turn, here string) (orchestrator.Turn, error) {
	if here == "" {
		t.Notice = NothingAsked
		return t, nil
	}
	open, err := c.store.Interrupts(ctx, execution.InterruptFilter{SessionID: here, Status: contracts.InterruptOpen})
	if err != nil {
		return t, err
	}
	open = slices.DeleteFunc(open, func(i contracts.Interrupt) bool { return i.Type.IsGate() || t.CreatedAt.Sub(i.CreatedAt) > parkedFor })
	if len(open) == 0 {
		t.Notice = "No question of mine is open here."
		return t, nil
	}
	t.RedisplayedQuestionID, t.Notice = open[len(open)-1].InterruptID, "Back to this:"
	if more := min(len(open), maxParked) - 1; more > 0 {
		t.Notice = fmt.Sprintf("Back to this (%d more wait):", more)
	}
	return t, nil
}

// drop closes the questions of the session; if there are none, it cancels its open runs.
func (c *Commands) drop(ctx context.Context, t orchestrator.Turn, here string) (string, error) {
	closed, err := c.closeQuestions(ctx, t, here)
	if err != nil {
		return "", err
	}
	if closed > 0 {
		return "Never mind, then. Nothing was done about it.", nil
	}
	return c.cancel(ctx, t, here)
}

// closeQuestions closes the questions that belong to no run.
func (c *Commands) closeQuestions(ctx context.Context, t orchestrator.Turn, here string) (closed int, err error) {
	if here == "" {
		return 0, nil
	}
	open, err := c.store.Interrupts(ctx, execution.InterruptFilter{SessionID: here, Status: contracts.InterruptOpen})
	if err != nil {
		return 0, err
	}
	for _, i := range open {
		if i.RunID != "" || i.CreatedAt.After(spoken(t)) {
			continue
		}
		if _, err := c.gates.Drop(ctx, t.By, i); err != nil {
			return closed, err
		}
		closed++
	}
	return closed, nil
}

// list lists the gates that this person can decide: the requester, the action, the age and the
// risk.
func (c *Commands) list(ctx context.Context, who access.Principal, here string, now time.Time) (string, error) {
	f := gates.Filter{Status: contracts.InterruptOpen, Mine: true, Gates: true}
	if who.Shared() { // the caller's identity is unknown, so only the gates of this chat are listed
		if here == "" {
			return "Nothing is waiting.", nil
		}
		f.SessionID = here
	}
	open, err := c.gates.List(ctx, who, f)
	if err != nil {
		return "", err
	}
	if len(open.Items) == 0 {
		return "Nothing is waiting.", nil
	}
	lines := []string{"Waiting:", ""}
	for _, i := range open.Items {
		facts := []string{"asked by " + cmp.Or(strings.Join(i.Requesters, ", "), "nobody"), answer.Age(now.Sub(i.CreatedAt))}
		if i.RiskLevel != "" {
			facts = append(facts, "risk "+string(i.RiskLevel))
		}
		lines = append(lines, fmt.Sprintf("- `%s` %s (%s)", i.Code, chat.Escape(i.Prompt), chat.Escape(strings.Join(facts, ", "))))
	}
	if open.Next != "" {
		lines = append(lines, "", "There is more; these have waited the longest.")
	}
	return strings.Join(append(lines, "", "`show CODE` shows one in full."), "\n"), nil
}

// News describes the gates of a session that others have decided since its last turn, for the
// requester.
func (c *Commands) News(ctx context.Context, who access.Principal, here string, since time.Time) (string, error) {
	all, err := c.store.Interrupts(ctx, execution.InterruptFilter{SessionID: here, Types: gates.WaitingTypes()})
	if err != nil {
		return "", err
	}
	var lines []string
	for _, i := range all {
		n := len(i.Decisions)
		if i.Status == contracts.InterruptOpen || n == 0 || i.Decisions[n-1].DecidedBy == who.Subject() || !i.Decisions[n-1].DecidedAt.After(since) {
			continue
		}
		lines = append(lines, c.ended(ctx, i))
	}
	if len(lines) == 0 {
		return "", nil
	}
	return "Meanwhile: " + strings.Join(lines, " "), nil
}
