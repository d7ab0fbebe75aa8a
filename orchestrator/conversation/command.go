package conversation

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/answer"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/gates"
)

// chatPlace is where a command was given.
type chatPlace struct {
	session orchestrator.Session
	known   bool
	turn    ChatTurn
}

// cameLater tells that something began only after the command was said.
func (at chatPlace) cameLater(begun time.Time) bool {
	return !at.turn.Said.IsZero() && begun.After(at.turn.Said)
}

// reply is what a command came to: what to say, and the run to go on
// showing.
type reply struct {
	notice string
	runID  string
	// sessionID is that of the run, if it is another than the chat's.
	sessionID string
	after     int64
	// failed says that a fault of ours was in the way: the same may be said again.
	failed bool
}

// commandTurn does what a command asks for, and keeps what came of it. One that
// was interrupted is done again, and means what it meant when it was said.
func (s *Conversation) commandTurn(ctx context.Context, who access.Principal, a Accepted, turn orchestrator.Turn) (ChatState, error) {
	at := a.at
	if at.turn.Said.IsZero() || turn.CreatedAt.Before(at.turn.Said) {
		at.turn.Said = turn.CreatedAt
	}
	state, r, err := s.command(ctx, who, at, *a.command)
	if err != nil || r.failed {
		return state, err
	}
	turn.Outcome, turn.Command, turn.Notice, turn.RunID = orchestrator.TurnAnswered, a.command.Verb, r.notice, r.runID
	return state, s.turns.SaveTurn(ctx, turn)
}

// commandAgain gives the reply to a command that is repeated: what it was told,
// and where the run that it was about stands now.
func (s *Conversation) commandAgain(ctx context.Context, who access.Principal, at chatPlace, t orchestrator.Turn) (ChatState, error) {
	switch {
	case t.RunID != "":
		view, err := s.runner.View(ctx, t.RunID)
		if contracts.CodeOf(err) == contracts.CodeNotFound {
			return swept(t.SessionID, at.session.Name, t.Notice), nil
		}
		if err != nil {
			return ChatState{}, err
		}
		state, err := s.chatState(ctx, who, view.SessionID, orchestrator.TurnKey{}, t.RunID, 0)
		state.Notice = t.Notice
		return state, err
	case t.Command == chat.Status:
		state, _, err := s.command(ctx, who, at, chat.Command{Verb: chat.Status})
		return state, err
	}
	return ChatState{SessionID: t.SessionID, Name: at.session.Name, Notice: t.Notice}, nil
}

// command does what a message of the fixed grammar asks for. The reply says also
// which run it was about, if it was about one.
func (s *Conversation) command(ctx context.Context, who access.Principal, at chatPlace, c chat.Command) (ChatState, reply, error) {
	var r reply
	var err error
	switch c.Verb {
	case chat.Approve, chat.Reject:
		r, err = s.chatDecision(ctx, who, at, c)
	case chat.Assent:
		r.notice = chatAssent
	case chat.Cancel:
		r.notice, err = s.chatCancel(ctx, who, at)
	case chat.List:
		r.notice, err = s.chatList(ctx, who, at)
	case chat.Help:
		r.notice = chat.Render(answer.Overview(s.catalogs.Catalog(), who, at.turn.Model)) + "\n\n" + chatHelp
		return ChatState{SessionID: knownID(at), Notice: r.notice}, r, nil
	case chat.Status:
		if !at.known {
			r.notice, err = s.chatList(ctx, who, at)
		}
	}
	id := cmp.Or(r.sessionID, knownID(at))
	if err != nil || id == "" || c.Verb == chat.List {
		r.notice = cmp.Or(r.notice, "Nothing has been asked in this chat yet.")
		return ChatState{SessionID: id, Notice: r.notice}, r, err
	}
	state, err := s.chatState(ctx, who, id, orchestrator.TurnKey{}, r.runID, r.after)
	state.Notice = r.notice
	switch c.Verb {
	case chat.Cancel:
		state.Answer = nil // what had come in before the cancel is not news
	case chat.Status:
		r.runID = state.RunID
	default:
	}
	return state, r, err
}

func knownID(at chatPlace) string {
	if !at.known {
		return ""
	}
	return at.session.ID
}

const chatHelp = "Say what you want to be done. Commands are whole messages: `approve CODE`, `reject CODE`, `status`, `cancel`, `list gates`, `help`."

const chatAssent = "That is not clear enough to approve something. Write `approve CODE` or `reject CODE` with the code that is shown."

// chatDecision approves or rejects the named gates. A bare word means the one
// gate that this chat has shown; several, or none, are listed.
func (s *Conversation) chatDecision(ctx context.Context, who access.Principal, at chatPlace, c chat.Command) (reply, error) {
	codes := c.Codes
	if len(codes) == 0 {
		shown, err := s.shownGates(ctx, who, at)
		if err != nil {
			return reply{}, err
		}
		if len(shown) != 1 {
			notice, err := s.chatList(ctx, who, at)
			return reply{notice: notice}, err
		}
		codes = shown
	}
	r := reply{}
	var lines []string
	for _, code := range codes {
		done := s.decideInChat(ctx, who, at, code, contracts.Decision(c.Verb))
		lines = append(lines, done.notice)
		failed := r.failed || done.failed
		if done.runID != "" && r.runID == "" {
			r = done
		}
		r.failed = failed
	}
	r.notice = strings.Join(lines, "\n")
	return r, nil
}

// shownGates are the codes that a bare word may mean. The last answer of the
// history says which gates it has shown: an approval of what the person has not
// seen is none. Without a marker, as after a frontend has compacted the
// history, only the one open gate of a chat that was answered before can be
// meant. A gate that was decided already counts while no other is open, so that
// the same word again gets the same reply.
func (s *Conversation) shownGates(ctx context.Context, who access.Principal, at chatPlace) ([]string, error) {
	if !at.known || !at.turn.Marked && !at.turn.Continued {
		return nil, nil
	}
	all, err := s.gates.List(ctx, who, gates.Filter{SessionID: at.session.ID})
	if err != nil {
		return nil, err
	}
	var open, closed []string
	for _, i := range all {
		switch {
		case !i.Type.Expires() || at.turn.Marked && !slices.Contains(at.turn.Shown, i.Code) || at.cameLater(i.CreatedAt):
		case i.Status == contracts.InterruptOpen:
			open = append(open, i.Code)
		case at.turn.Marked:
			closed = append(closed, i.Code)
		}
	}
	if len(open) > 0 {
		return open, nil
	}
	return closed, nil
}

// decideInChat decides one gate by its code, which stands for its hash, and
// says in words what became of it. The same decision again by the same person
// is no new one.
func (s *Conversation) decideInChat(ctx context.Context, who access.Principal, at chatPlace, code string, d contracts.Decision) reply {
	i, err := s.gateInChat(ctx, who, at, code)
	if err == nil && !i.Type.Expires() {
		err = contracts.Errorf(contracts.CodeInvalid, "%s is a question, not an approval", code)
	}
	if err != nil {
		return reply{notice: code + ": " + s.fault(ctx, err), failed: passing(err)}
	}
	r := s.followed(ctx, who, i)
	if decidedBy(i, who.Subject(), d) {
		r.after = 0 // the whole of it is shown again
	} else if i.Status == contracts.InterruptOpen {
		i, err = s.decide(ctx, who, i, contracts.Resume{Decision: d, ActionSHA256: i.ActionSHA256, Comment: at.turn.trace(d)})
	}
	switch {
	case err != nil:
		r.notice, r.failed = code+": "+s.fault(ctx, err), passing(err)
	case i.Status == contracts.InterruptOpen:
		r.notice = fmt.Sprintf("%s: noted; it needs %d people.", code, i.Quorum)
	case i.Status == contracts.InterruptSuperseded:
		r.notice = code + " no longer counts: what it was about has changed, or was cancelled."
	default:
		r.notice = fmt.Sprintf("%s is %s.", code, i.Status)
	}
	return r
}

// passing tells a fault that is not the message's: the same may work in a moment.
func passing(err error) bool {
	switch contracts.CodeOf(err) {
	case "", contracts.CodeInternal, contracts.CodeUnavailable, contracts.CodeLeaseLost, contracts.CodeRateLimited:
		return true
	default:
		return false
	}
}

// fault says what is wrong with a decision; of what is ours to mend the text
// stays in the log.
func (s *Conversation) fault(ctx context.Context, err error) string {
	if code := contracts.CodeOf(err); code != "" && code != contracts.CodeInternal {
		return chat.Escape(err.Error())
	}
	s.cfg.Logger.ErrorContext(ctx, "decision in a chat failed", slog.Any("error", err))
	return "something went wrong here; the log has it. Look with `status` what became of it."
}

// gateInChat finds a gate by its code: an open one that is the caller's own or
// theirs to decide, else one of this chat, which may be closed.
func (s *Conversation) gateInChat(ctx context.Context, who access.Principal, at chatPlace, code string) (contracts.Interrupt, error) {
	i, err := s.gates.Get(ctx, who, code)
	if err == nil && s.concerns(ctx, who, at, i) {
		return i, nil
	}
	if err != nil && contracts.CodeOf(err) != contracts.CodeNotFound {
		return i, err
	}
	if at.known {
		all, err := s.gates.List(ctx, who, gates.Filter{SessionID: at.session.ID})
		if err != nil {
			return i, err
		}
		for _, i := range slices.Backward(all) {
			if i.Code == code {
				return i, nil
			}
		}
	}
	return contracts.Interrupt{}, contracts.Errorf(contracts.CodeNotFound, "there is no gate %s that waits for you", code)
}

// concerns tells whether a question is the caller's own, or theirs to approve.
// Who may look at everything for operation is not asked by everything. Where
// many people share a key, and nobody knows who is asking, only what this chat
// began concerns it.
func (s *Conversation) concerns(ctx context.Context, who access.Principal, at chatPlace, i contracts.Interrupt) bool {
	if who.Shared() && (!at.known || i.SessionID != at.session.ID) {
		return false
	}
	owner, err := s.dir.Owner(ctx, i.SessionID)
	if err != nil {
		return false
	}
	return access.SubjectOf(owner) == who.Subject() || i.Type.Expires() && who.MayDecide(i, contracts.DecisionReject) == nil
}

// followed tells which run a decision goes on with, if the caller may see it.
func (s *Conversation) followed(ctx context.Context, who access.Principal, i contracts.Interrupt) reply {
	session, err := s.dir.Get(ctx, i.SessionID)
	if err != nil || access.SubjectOf(session.Owner) != who.Subject() {
		return reply{}
	}
	after, err := orchestrator.LastSeq(ctx, s.runs, i.SessionID)
	if err != nil {
		return reply{}
	}
	return reply{runID: i.RunID, sessionID: i.SessionID, after: after}
}

func decidedBy(i contracts.Interrupt, subject string, d contracts.Decision) bool {
	return slices.ContainsFunc(i.Decisions, func(x contracts.InterruptDecided) bool {
		return x.DecidedBy == subject && x.Decision == d && x.ActionSHA256 == i.ActionSHA256
	})
}

func (s *Conversation) chatCancel(ctx context.Context, who access.Principal, at chatPlace) (string, error) {
	if !at.known {
		return "", nil
	}
	runs, err := s.runs.ListRuns(ctx, execution.RunFilter{SessionID: at.session.ID, Limit: orchestrator.MaxPage, Brief: true})
	if err != nil {
		return "", err
	}
	cancelled := 0
	for _, r := range runs {
		if r.State.Terminal() || at.cameLater(r.CreatedAt) {
			continue
		}
		if _, err := s.runUse.Cancel(ctx, who, r.ID); err != nil {
			return "", err
		}
		cancelled++
	}
	if cancelled == 0 {
		return "Nothing is running or waiting in this chat.", nil
	}
	return "Cancelled. What was written before stays as it is.", nil
}

// chatList names everything that waits for this person.
func (s *Conversation) chatList(ctx context.Context, who access.Principal, at chatPlace) (string, error) {
	open, err := s.gates.List(ctx, who, gates.Filter{Status: contracts.InterruptOpen})
	if err != nil {
		return "", err
	}
	open = slices.DeleteFunc(open, func(i contracts.Interrupt) bool { return !s.concerns(ctx, who, at, i) })
	if len(open) == 0 {
		return "Nothing is waiting.", nil
	}
	lines := []string{"Waiting:", ""}
	for _, i := range open {
		lines = append(lines, fmt.Sprintf("- `%s` %s", i.Code, chat.Escape(i.Prompt)))
	}
	return strings.Join(lines, "\n"), nil
}
