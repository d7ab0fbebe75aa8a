package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// ChatTurn is one message that came through a chat frontend.
type ChatTurn struct {
	// SessionID is named by the signed marker of the history, "" without one;
	// Shown are the gates that this history has shown.
	SessionID string
	Shown     []string
	// Conversation is the frontend's id of the chat, "" if it sends none.
	Conversation string
	// Key is the frontend's id of the user's message, "" if it sends none: the
	// same key again attaches to what was begun.
	Key string
	// Model is the domain to choose from, "" for all.
	Model   string
	Message string
}

// ChatState is where a chat stands: what to show now, and whether more comes.
type ChatState struct {
	SessionID string
	Name      string
	// Notice is the reply to a command; it stands before everything else.
	Notice  string
	Answer  *contracts.Answer
	Open    []contracts.Interrupt
	Running bool
	// RunID is the run that the turn belongs to, if it has one.
	RunID  string
	Tokens contracts.Tokens
	// turn is what State looks at.
	turn TurnKey
}

// Chat takes a message from a chat frontend: a command, the answer to an open
// question, or a new request. It never waits for a run; see ChatState.
func (s *Service) Chat(ctx context.Context, who access.Principal, t ChatTurn) (ChatState, error) {
	session, known, err := s.chatSession(ctx, who, t)
	if err != nil {
		return ChatState{}, err
	}
	if command, ok := chat.Parse(t.Message); ok {
		return s.command(ctx, who, session, known, t, command)
	}
	if err := checkMessage(t.Message); err != nil {
		return ChatState{}, err
	}
	turn := Turn{
		TurnKey:   TurnKey{Conversation: session.ID, Key: cmp.Or(t.Key, execution.NewID("msg")), Model: t.Model},
		SessionID: session.ID, Message: t.Message, Fingerprint: fingerprint(t.Message),
	}
	if known {
		answered, err := s.answerOpenQuestion(ctx, who, session, t.Message)
		if err != nil || answered {
			return s.chatState(ctx, session.ID, TurnKey{}, err)
		}
	} else if err := s.beginChat(ctx, who, session); err != nil {
		return ChatState{}, err
	}
	err = s.turn(ctx, who, session, turn)
	return s.chatState(ctx, session.ID, turn.TurnKey, err)
}

// chatSession finds the session of a chat: the one that the marker names if it
// is the caller's, else the one of the chat's id, else a new one.
func (s *Service) chatSession(ctx context.Context, who access.Principal, t ChatTurn) (Session, bool, error) {
	fresh := s.newSession(who, contracts.StartSession{Message: cmp.Or(t.Message, "chat")})
	if t.Conversation != "" {
		fresh.ID = derivedID("ses", who.Subject(), "chat", t.Conversation)
	}
	for _, id := range []string{t.SessionID, fresh.ID} {
		if id == "" {
			continue
		}
		session, err := s.sessions.Session(ctx, id)
		switch {
		case err == nil && who.Subject() == access.SubjectOf(session.Owner):
			return session, true, nil
		case err != nil && contracts.CodeOf(err) != contracts.CodeNotFound:
			return Session{}, false, err
		}
	}
	return fresh, false, nil
}

func (s *Service) beginChat(ctx context.Context, who access.Principal, session Session) error {
	if err := who.May(access.ActionStartSession); err != nil {
		return err
	}
	if err := s.limiter.StartSession(who.Subject()); err != nil {
		return err
	}
	return s.openSession(ctx, session)
}

// ChatState gives where the chat of an earlier state stands now, after waiting
// for more at most as long as wait says.
func (s *Service) ChatState(ctx context.Context, from ChatState, wait time.Duration) (ChatState, error) {
	state := from
	err := s.hub.until(ctx, from.SessionID, wait, func(ctx context.Context) (bool, error) {
		now, err := s.chatState(ctx, from.SessionID, from.turn, nil)
		now.Notice = from.Notice
		state = now
		return !now.Running, err
	})
	return state, err
}

// chatState reads where a turn of a chat stands; without a turn, where the
// whole session stands.
func (s *Service) chatState(ctx context.Context, sessionID string, key TurnKey, err error) (ChatState, error) {
	if err != nil {
		return ChatState{}, err
	}
	session, err := s.sessions.Session(ctx, sessionID)
	if err != nil {
		return ChatState{}, err
	}
	response, err := s.response(ctx, session)
	if err != nil {
		return ChatState{}, err
	}
	state := ChatState{
		SessionID: sessionID, Name: session.Name, Answer: response.Answer, Open: response.Interrupts,
		Running: response.Status == contracts.SessionRunning, Tokens: response.Tokens, turn: key,
	}
	if key.Key == "" {
		return state, nil
	}
	return s.ofTurn(ctx, state)
}

// ofTurn narrows a state to its turn: a message that is regenerated shows its
// own outcome, whatever came after it.
func (s *Service) ofTurn(ctx context.Context, state ChatState) (ChatState, error) {
	turns, err := s.turns.SessionTurns(ctx, state.SessionID)
	if err != nil {
		return state, err
	}
	at := slices.IndexFunc(turns, func(t Turn) bool { return t.TurnKey == state.turn })
	if at < 0 {
		return state, nil
	}
	t := turns[at]
	if t.RunID == "" {
		state.Running, state.Answer = t.Outcome == "", t.Answer
		return state, nil
	}
	view, err := s.runner.View(ctx, t.RunID)
	if err != nil {
		return state, err
	}
	state.RunID, state.Answer, state.Open = t.RunID, s.compose(view), view.Interrupts
	state.Running = view.State == contracts.RunRunning || view.State == contracts.RunCancelling
	if state.Answer != nil {
		state.Answer.Blocks = append(state.Answer.Blocks, remarks(t)...)
	}
	return state, nil
}

// Follow gives the events of a session after a number, waiting for the first
// of them at most as long as wait says.
func (s *Service) Follow(ctx context.Context, who access.Principal, sessionID string, after int64, wait time.Duration) ([]contracts.Event, error) {
	if _, err := s.readSession(ctx, who, sessionID); err != nil {
		return nil, err
	}
	var events []contracts.Event
	err := s.hub.until(ctx, sessionID, wait, func(ctx context.Context) (bool, error) {
		var err error
		events, err = s.runs.Events(ctx, sessionID, after, eventPage(0))
		return len(events) > 0, err
	})
	return events, err
}

// command does what a message of the fixed grammar asks for.
func (s *Service) command(ctx context.Context, who access.Principal, session Session, known bool, t ChatTurn, c chat.Command) (ChatState, error) {
	var notice string
	var err error
	switch c.Verb {
	case chat.Approve, chat.Reject:
		notice, err = s.chatDecision(ctx, who, session, known, t, c)
	case chat.Cancel:
		notice, err = s.chatCancel(ctx, who, session, known)
	case chat.List:
		notice, err = s.chatList(ctx, who)
	case chat.Help:
		notice = chatHelp
	case chat.Status:
		if !known {
			notice, err = s.chatList(ctx, who)
		}
	}
	if err != nil || !known {
		return ChatState{Notice: cmp.Or(notice, "Nothing has been asked in this chat yet.")}, err
	}
	state, err := s.chatState(ctx, session.ID, TurnKey{}, nil)
	state.Notice = notice
	return state, err
}

const chatHelp = "Say what you want to be done. Commands are whole messages: `approve CODE`, `reject CODE`, `status`, `cancel`, `list gates`."

// chatDecision approves or rejects the named gates. A bare word means the one
// gate that this chat has shown and that is still open; several are listed.
func (s *Service) chatDecision(ctx context.Context, who access.Principal, session Session, known bool, t ChatTurn, c chat.Command) (string, error) {
	codes := c.Codes
	if len(codes) == 0 {
		shown, err := s.shownGates(ctx, who, session, known, t.Shown)
		if err != nil {
			return "", err
		}
		if len(shown) != 1 {
			return s.chatList(ctx, who)
		}
		codes = []string{shown[0].Code}
	}
	var lines []string
	for _, code := range codes {
		lines = append(lines, s.decideInChat(ctx, who, code, contracts.Decision(c.Verb)))
	}
	return strings.Join(lines, "\n"), nil
}

// shownGates are the open approvals of this chat that its history shows: an
// approval of what the person has not seen is none.
func (s *Service) shownGates(ctx context.Context, who access.Principal, session Session, known bool, shown []string) ([]contracts.Interrupt, error) {
	if !known {
		return nil, nil
	}
	open, err := s.Gates(ctx, who, GatesFilter{SessionID: session.ID, Status: contracts.InterruptOpen})
	return slices.DeleteFunc(open, func(i contracts.Interrupt) bool {
		return !i.Type.Expires() || (len(shown) > 0 && !slices.Contains(shown, i.Code))
	}), err
}

// decideInChat decides one gate by its code, which stands for its hash, and
// says in words what became of it.
func (s *Service) decideInChat(ctx context.Context, who access.Principal, code string, d contracts.Decision) string {
	i, err := s.Gate(ctx, who, code)
	if err == nil && !i.Type.Expires() {
		err = contracts.Errorf(contracts.CodeInvalid, "%s is a question, not an approval", code)
	}
	if err == nil {
		i, err = s.decide(ctx, who, i, contracts.Resume{Decision: d, ActionSHA256: i.ActionSHA256})
	}
	switch {
	case err != nil:
		return fmt.Sprintf("%s: %s", code, chat.Escape(err.Error()))
	case i.Status == contracts.InterruptOpen:
		return fmt.Sprintf("%s: noted; it needs %d people.", code, i.Quorum)
	default:
		return fmt.Sprintf("%s is %s.", code, i.Status)
	}
}

func (s *Service) chatCancel(ctx context.Context, who access.Principal, session Session, known bool) (string, error) {
	if !known {
		return "", nil
	}
	runs, err := s.runs.ListRuns(ctx, execution.RunFilter{SessionID: session.ID, Limit: maxSessions, Brief: true})
	if err != nil {
		return "", err
	}
	cancelled := 0
	for _, r := range runs {
		if r.State.Terminal() {
			continue
		}
		if _, err := s.CancelRun(ctx, who, r.ID); err != nil {
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
func (s *Service) chatList(ctx context.Context, who access.Principal) (string, error) {
	open, err := s.Gates(ctx, who, GatesFilter{Status: contracts.InterruptOpen})
	if err != nil {
		return "", err
	}
	if len(open) == 0 {
		return "Nothing is waiting.", nil
	}
	lines := []string{"Waiting:"}
	for _, i := range open {
		lines = append(lines, fmt.Sprintf("- `%s` %s", i.Code, chat.Escape(i.Prompt)))
	}
	return strings.Join(lines, "\n"), nil
}
