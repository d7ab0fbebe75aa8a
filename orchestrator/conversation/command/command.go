package command

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/answer"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/gates"
	"github.com/manifold-run/manifold/orchestrator/runs"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// Deps are the use cases and ports that commands call.
type Deps struct {
	Sessions *sessions.Directory
	Gates    *gates.Gates
	Runs     *runs.Runs
	Views    *answer.Views
	Turns    orchestrator.Turns
	Store    execution.Store
	Runner   *execution.Runner
	Catalogs orchestrator.Catalogs
	Notifier orchestrator.Notifier
	Now      func() time.Time
	Logger   *slog.Logger
}

// Commands executes the commands of the chat grammar. It has no state: the effect of a command
// follows from its turn.
type Commands struct {
	now      func() time.Time
	logger   *slog.Logger
	notifier orchestrator.Notifier
	dir      *sessions.Directory
	gates    *gates.Gates
	runs     *runs.Runs
	store    execution.Store
	catalogs orchestrator.Catalogs
	turns    orchestrator.Turns
	runner   *execution.Runner
	views    *answer.Views
}

// New returns the commands of a store.
func New(deps Deps) *Commands {
	return &Commands{
		now: deps.Now, logger: deps.Logger, notifier: deps.Notifier, dir: deps.Sessions, gates: deps.Gates, runs: deps.Runs,
		store: deps.Store, catalogs: deps.Catalogs, turns: deps.Turns, runner: deps.Runner, views: deps.Views,
	}
}

// Turn executes a stored command or decision and returns the turn with the reply. After an internal
// error the turn is unchanged, so that the command can be repeated.
func (c *Commands) Turn(ctx context.Context, t orchestrator.Turn) (orchestrator.Turn, error) {
	here := t.SessionID
	if t.Elsewhere {
		here = ""
	}
	t, failed, err := c.Do(ctx, t, here)
	if err != nil {
		return t, err
	}
	if failed != "" {
		return t, &NoticeError{failed}
	}
	t.Outcome = orchestrator.TurnAnswered
	return t, nil
}

// NoticeError is a reply to a command that had no effect because of a fault of the server: it is
// not saved, so that the command can be tried again.
type NoticeError struct{ Notice string }

func (u *NoticeError) Error() string { return u.Notice }

// Do executes a command in the session here, "" if its chat has no session yet. failed is the reply
// after an internal error.
func (c *Commands) Do(ctx context.Context, t orchestrator.Turn, here string) (_ orchestrator.Turn, failed string, err error) {
	switch t.Command {
	case chat.Approve, chat.Reject:
		return c.decide(ctx, t, here)
	case chat.Assent:
		t.Notice = assent
	case chat.Cancel:
		t.Notice, err = c.cancel(ctx, t, here)
	case chat.Drop:
		t.Notice, err = c.drop(ctx, t, here)
	case chat.List:
		t.Notice, err = c.list(ctx, t.By, here, c.now())
	case chat.Help:
		t.Notice = c.help(t)
	case chat.Status:
		if here == "" {
			t.Notice, err = c.list(ctx, t.By, here, c.now())
			break
		}
		t.RunID, err = c.underWay(ctx, here)
	case chat.Show:
		t, err = c.show(ctx, t, here)
	case chat.Undo:
		t, err = c.undo(ctx, t, here)
	case chat.Back:
		t, err = c.back(ctx, t, here)
	case chat.Why:
		t.Notice, err = c.why(ctx, here)
	case chat.WhoAmI:
		t.Notice = answer.WhoIs(t.By)
	case chat.Thanks:
		t.Notice = "You are welcome."
	}
	return t, "", err
}

const usage = "Say what you want to be done. Commands are whole messages: `status`, `cancel`, `never mind`, `undo`, `why`, `back`, `list gates`, `show CODE`, `approve CODE`, `reject CODE`, `who am i`, `help`, and `help` with a topic: `approvals`, `questions`, or the name of a system."

// topics are the help texts about topics other than domains.
var topics = map[string]string{
	"approvals": "What is written waits for a person, who sees exactly what will be sent. `list gates` names what waits, `show CODE` shows one, `approve CODE` and `reject CODE` decide it. Who asked may withdraw it with `reject CODE`, or change it in words, such as “make it 3”: then it waits anew.",
	"questions": "Answer in your own words, by the number or name of an option, or with “the second one”. `never mind` drops the question, `back` returns to one that waits. Words in quotation marks are always taken as they are.",
}

// Topic finds the topic of a word: one of topics, or a domain by its name or title.
func (c *Commands) Topic(word string) (text, domain string, ok bool) {
	for name, text := range topics {
		if word == name || word+"s" == name {
			return text, "", true
		}
	}
	for _, d := range c.catalogs.Catalog().Domains {
		if strings.EqualFold(d.Name, word) || d.Manifest != nil && strings.EqualFold(d.Manifest.Title, word) {
			return "", d.Name, true
		}
	}
	return "", "", false
}

func (c *Commands) help(t orchestrator.Turn) string {
	text, domain, _ := c.Topic(t.Topic)
	if text != "" {
		return text
	}
	return chat.Render(answer.Overview(c.catalogs.Catalog(), t.By, cmp.Or(domain, t.Model))) + "\n\n" + usage
}

const assent = "That is not clear enough to approve something. Write `approve CODE` or `reject CODE` with the code that is shown."

// NothingAsked is the reply to a command in a chat without requests.
const NothingAsked = "Nothing has been asked in this chat yet."

// underWay returns the newest run of a session, or "" if the session waits for a person: the last
// request may not have led to a run.
func (c *Commands) underWay(ctx context.Context, sessionID string) (string, error) {
	session, err := c.dir.Get(ctx, sessionID)
	if err != nil {
		return "", err
	}
	view, err := c.views.Session(ctx, session)
	if err != nil || len(view.Open) > 0 && !view.Running || len(view.RunIDs) == 0 {
		return "", err
	}
	return view.RunIDs[len(view.RunIDs)-1], nil
}

// decide approves or rejects the gates of the turn. Without a code it lists the waiting gates.
func (c *Commands) decide(ctx context.Context, t orchestrator.Turn, here string) (_ orchestrator.Turn, failed string, err error) {
	if len(t.Codes) == 0 {
		t.Notice, err = c.list(ctx, t.By, here, c.now())
		return t, "", err
	}
	lines, passed := make([]string, 0, len(t.Codes)), true
	for _, code := range t.Codes {
		i, line, err := c.decideOne(ctx, &t, here, code)
		if err != nil {
			line, passed = code+": "+c.fault(ctx, err), passed && !Retryable(err)
		}
		lines = append(lines, line)
		if t.RunID == "" && err == nil && t.RedisplayedQuestionID == "" {
			t.RunID, t.RunSession = c.followed(ctx, t.By, i)
		}
	}
	t.Notice = strings.Join(lines, "\n")
	if !passed {
		return t, t.Notice, nil
	}
	return t, "", nil
}

// decideOne commits the decision on the gate with the code, for its current action hash, and
// returns the reply. Repeating a decision has no effect.
func (c *Commands) decideOne(ctx context.Context, t *orchestrator.Turn, here, code string) (contracts.Interrupt, string, error) {
	d := contracts.Decision(t.Command)
	i, err := c.Gate(ctx, t.By, here, code)
	if err == nil && !i.Type.IsGate() && !slices.Contains(i.Answers, string(d)) {
		err = contracts.Errorf(contracts.CodeInvalid, "%s is a question, not an approval", code)
	}
	if err != nil {
		return i, "", err
	}
	if i.Status == contracts.InterruptOpen && !gates.DecidedBy(i, t.By.Subject(), d) {
		if d == contracts.DecisionApprove && i.Type.IsGate() {
			if seen, err := gates.WasShown(ctx, c.turns, *t, i); err != nil || !seen {
				return i, gates.ShowFirst(t, i), err
			}
		}
		body := contracts.Resume{Decision: d, ActionSHA256: i.ActionSHA256}
		if i.Type.IsGate() { // the comment on a question is passed to the procedure
			body.Comment = trace(*t, d)
		}
		if i, err = c.gates.Decide(ctx, t.By, i, body); err != nil {
			return i, "", err
		}
	}
	if i.Status == contracts.InterruptOpen {
		return i, fmt.Sprintf("%s: noted; it needs %d people.", code, gateview.People(i)), nil
	}
	if i.Status == contracts.InterruptSuperseded {
		return i, code + " no longer counts: what it was about has changed, or was cancelled.", nil
	}
	line := fmt.Sprintf("%s is %s.", code, i.Status)
	approver := slices.ContainsFunc(t.By.Contract().Roles, func(role string) bool { return slices.Contains(i.Roles, role) })
	if i.Status == contracts.InterruptRejected && slices.Contains(i.Requesters, t.By.Subject()) && !approver {
		line = code + " is withdrawn. Nothing was done."
	}
	if runID, _ := c.followed(ctx, t.By, i); runID == "" && i.Status == contracts.InterruptApproved {
		line = strings.TrimSpace(line + " " + c.await(ctx, i)) // this is their only notification
	}
	return i, line, nil
}

// trace identifies the message of an approval for the audit. A rejection has none, because its
// comment is shown to people.
func trace(t orchestrator.Turn, d contracts.Decision) string {
	if d != contracts.DecisionApprove {
		return ""
	}
	return t.Trace
}

// fault returns the text for a failed decision; internal errors are only logged.
func (c *Commands) fault(ctx context.Context, err error) string {
	if code := contracts.CodeOf(err); code != "" && code != contracts.CodeInternal {
		return chat.Escape(err.Error())
	}
	c.logger.ErrorContext(ctx, "decision in a chat failed", slog.Any("error", err))
	return "something went wrong here; the log has it. Look with `status` what became of it."
}

// Gate finds a gate by its code: one that is the caller's own or that they may decide, or else one
// of the session here. It may be closed.
func (c *Commands) Gate(ctx context.Context, who access.Principal, here, code string) (contracts.Interrupt, error) {
	i, err := c.gates.Get(ctx, who, code)
	if err == nil && c.concerns(ctx, who, here, i) {
		return i, nil
	}
	if err != nil && contracts.CodeOf(err) != contracts.CodeNotFound {
		return i, err
	}
	if here != "" {
		var last *contracts.Interrupt
		err := c.gates.Each(ctx, who, gates.Filter{SessionID: here}, func(i contracts.Interrupt) bool {
			if i.Code == code {
				last = &i
			}
			return false
		})
		if err != nil || last != nil {
			return *cmp.Or(last, &i), err
		}
	}
	return contracts.Interrupt{}, contracts.Errorf(contracts.CodeNotFound, "there is no gate %s that waits for you", code)
}

// concerns reports whether an interrupt is the caller's own, or theirs to decide. Operators who may
// read everything are not concerned by everything. If many people share a key, only the interrupts
// of their own chat count, since the caller's identity is unknown.
func (c *Commands) concerns(ctx context.Context, who access.Principal, here string, i contracts.Interrupt) bool {
	if who.Shared() && i.SessionID != here {
		return false
	}
	owner, err := c.dir.Owner(ctx, i.SessionID)
	if err != nil {
		return false
	}
	return access.SubjectOf(owner) == who.Subject() || gates.MayReject(who, owner, i) == nil && len(access.AskedRoles(i)) > 0
}

// followed returns the run of a decided gate and its session, if they are the caller's.
func (c *Commands) followed(ctx context.Context, who access.Principal, i contracts.Interrupt) (runID, sessionID string) {
	owner, err := c.dir.Owner(ctx, i.SessionID)
	if err != nil || access.SubjectOf(owner) != who.Subject() {
		return "", ""
	}
	return i.RunID, i.SessionID
}

// cancel cancels the runs that were open when the command was sent.
func (c *Commands) cancel(ctx context.Context, t orchestrator.Turn, here string) (string, error) {
	if here == "" {
		return "", nil
	}
	found, err := c.store.ListRuns(ctx, execution.RunFilter{SessionID: here, Limit: answer.MaxViewRuns, Brief: true})
	if err != nil {
		return "", err
	}
	cancelled := 0
	for _, r := range found.Items {
		if r.State.Terminal() || r.CreatedAt.After(spoken(t)) {
			continue
		}
		if _, err := c.runs.Cancel(ctx, t.By, r.ID); err != nil {
			return "", err
		}
		cancelled++
	}
	if cancelled == 0 {
		return nothingRuns, nil
	}
	return "Cancelled. What was written before stays as it is.", nil
}

const nothingRuns = "Nothing is running or waiting in this chat."

// spoken returns when a turn was sent, as far as is known.
func spoken(t orchestrator.Turn) time.Time {
	if !t.SaidAt.IsZero() && t.SaidAt.Before(t.CreatedAt) {
		return t.SaidAt
	}
	return t.CreatedAt
}

// Retryable reports whether an error is temporary, so that the same message may succeed later.
func Retryable(err error) bool {
	switch contracts.CodeOf(err) {
	case "", contracts.CodeInternal, contracts.CodeUnavailable, contracts.CodeLeaseLost, contracts.CodeRateLimited:
		return true
	default:
		return false
	}
}
