package conversation

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
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// ChatTurn is one message that came through a chat frontend.
type ChatTurn struct {
	// Marked tells whether the last answer of the history carries a marker that
	// was signed for this caller; SessionID and Shown are what it says.
	Marked    bool
	SessionID string
	Shown     []string
	// Continued tells whether the history has an answer before this message.
	Continued bool
	// Conversation is the frontend's id of the chat, "" if it sends none.
	Conversation string
	// Request identifies the request of a client that counts its own repeats,
	// where nothing else ties it to a chat; Try is how often it was sent before.
	Request string
	Try     int
	// Key identifies the user's message: the same key with the same words again
	// attaches to what was begun.
	Key string
	// Placed says that Key is no more than the place of the message in the
	// history, because its sender does not name messages.
	Placed bool
	// Model is the domain to choose from, "" for all.
	Model   string
	Message string
	// Quoted says that the person's own words could not be told for certain from
	// what stands around them: then they are never a command.
	Quoted bool
	// Card is the answer of an approval card, if the message is one.
	Card *ChatCard
	// Look asks only where the chat stands; nothing is begun.
	Look bool
	// Said is when the message came in, where it may be taken later than that: it
	// cancels and approves nothing that came since. Zero is when it is first taken.
	Said time.Time
}

// trace says for the audit in which chat, and with which message, something was
// approved. The comment of a rejection is shown to people, so there is none.
func (t ChatTurn) trace(d contracts.Decision) string {
	if d != contracts.DecisionApprove {
		return ""
	}
	message, _, _ := strings.Cut(t.Key, ":")
	return contracts.CleanSummary(fmt.Sprintf("chat %s, message %s", cmp.Or(t.Conversation, "without an id"), cmp.Or(message, "without an id")))
}

// ChatCard is what was clicked on an approval card.
type ChatCard struct {
	Code     string
	Decision contracts.Decision
}

// Chat takes a message from a chat frontend: a command, the answer to an open
// question, or a new request. It never waits for a run; see ChatState. The same
// message that comes twice at once is taken once.
func (s *Conversation) Chat(ctx context.Context, who access.Principal, t ChatTurn) (ChatState, error) {
	a, err := s.Accept(ctx, who, t)
	if err != nil {
		return ChatState{}, err
	}
	return s.Take(ctx, who, a)
}

// Accepted is a message that belongs to a chat, and that nothing speaks
// against.
type Accepted struct {
	at      chatPlace
	command *chat.Command // what it orders, if it is a command
}

// Accept finds the chat that a message belongs to, and refuses what is refused
// without understanding it. It is quick, so that a frontend can be told at once
// that its message is taken; Take does the rest.
func (s *Conversation) Accept(ctx context.Context, who access.Principal, t ChatTurn) (Accepted, error) {
	session, known, err := s.chatSession(ctx, who, t)
	if err != nil {
		return Accepted{}, err
	}
	at := chatPlace{session, known, t}
	command, ok := commandOf(t)
	if ok && command.Verb == chat.Assent {
		shown, err := s.shownGates(ctx, who, at)
		if err != nil {
			return Accepted{}, err
		}
		ok = len(shown) > 0 // else it answers a question, or nothing at all
	}
	if ok {
		return Accepted{at, &command}, nil
	}
	if err := orchestrator.CheckMessage(t.Message); err != nil {
		return Accepted{}, err
	}
	if !known {
		at.session, err = s.beginChat(ctx, who, session, t)
	}
	return Accepted{at: at}, err
}

// kept tells whether a message is remembered as a turn of its chat. A command
// that was repeated must not have a second effect; where nothing tells a repeat
// from the same word said again, it is not taken for one. What only looks, looks
// anew each time.
func (a Accepted) kept() bool {
	if a.command == nil {
		return true
	}
	t := a.at.turn
	switch a.command.Verb {
	case chat.Approve, chat.Reject, chat.Cancel, chat.Status:
		return a.at.known && t.Key != "" && (!t.Placed || t.Continued)
	default:
		return false
	}
}

// Take takes an accepted message to where it leads.
func (s *Conversation) Take(ctx context.Context, who access.Principal, a Accepted) (ChatState, error) {
	if !a.kept() {
		state, _, err := s.command(ctx, who, a.at, *a.command)
		return state, err
	}
	t := a.at.turn
	key := orchestrator.TurnKey{Conversation: a.at.session.ID, Key: cmp.Or(t.Key, execution.NewID("msg")), Model: t.Model}
	turn := orchestrator.Turn{TurnKey: key, SessionID: a.at.session.ID, Message: t.Message, Fingerprint: fingerprint(t.Message), CreatedAt: s.cfg.Now()}
	flight := strings.Join([]string{key.Conversation, key.Key, key.Model, turn.Fingerprint}, "\x00")
	state, err, _ := s.flights.Do(flight, func() (any, error) { return s.chatTurn(ctx, who, a, turn) })
	if err != nil {
		return ChatState{}, err
	}
	return state.(ChatState), nil //nolint:forcetypeassert,errcheck // the function above gives nothing else
}

// commandOf reads what a message orders: the click on a card, a look, or a
// command of the grammar.
func commandOf(t ChatTurn) (chat.Command, bool) {
	switch {
	case t.Card != nil:
		return chat.Command{Verb: chat.Verb(t.Card.Decision), Codes: []string{t.Card.Code}}, true
	case t.Look:
		return chat.Command{Verb: chat.Status}, true
	case t.Quoted:
		return chat.Command{}, false
	}
	return chat.Parse(t.Message)
}

// chatTurn takes a message to where it leads. A message that was taken before is
// not taken again.
func (s *Conversation) chatTurn(ctx context.Context, who access.Principal, a Accepted, turn orchestrator.Turn) (ChatState, error) {
	before, err := orchestrator.LastSeq(ctx, s.runs, turn.SessionID)
	if err != nil {
		return ChatState{}, err
	}
	if a.command != nil {
		turn.Command = a.command.Verb
	}
	existing, created, err := s.turns.BeginTurn(ctx, turn)
	if err != nil {
		return ChatState{}, err
	}
	switch {
	case created:
	case existing.Fingerprint != turn.Fingerprint:
		return ChatState{}, contracts.Errorf(contracts.CodeConflict, "this message id was used with other words")
	case existing.Outcome != "" && existing.Command != "":
		return s.commandAgain(ctx, who, a.at, existing)
	case existing.Outcome != "":
		return s.chatState(ctx, who, turn.SessionID, turn.TurnKey, "", 0)
	default:
		turn = existing
	}
	if a.command != nil {
		return s.commandTurn(ctx, who, a, turn)
	}
	answered, err := s.answerInChat(ctx, who, a.at.session, &turn, a.at.turn)
	if err == nil && !answered {
		err = s.understand(ctx, who, a.at.session, turn)
	}
	if err != nil {
		return ChatState{}, err
	}
	return s.chatState(ctx, who, turn.SessionID, turn.TurnKey, "", before)
}

// answerInChat takes a message as the answer to the open question, if there is
// one that this chat has shown and the words fit. The turn then belongs to what
// its answer went on with, so that it can be shown again.
func (s *Conversation) answerInChat(ctx context.Context, who access.Principal, session orchestrator.Session, turn *orchestrator.Turn, t ChatTurn) (bool, error) {
	open, err := s.runs.Interrupts(ctx, execution.InterruptFilter{SessionID: session.ID, Status: contracts.InterruptOpen})
	if err != nil {
		return false, err
	}
	open = slices.DeleteFunc(open, func(i contracts.Interrupt) bool {
		return i.Type.Expires() || t.Marked && !slices.Contains(t.Shown, i.Code)
	})
	if len(open) != 1 {
		return false, nil
	}
	i := open[0]
	value, fits := s.readAnswer(ctx, who, i, numbered(i, turn.Message))
	if !fits {
		return false, nil
	}
	var asking orchestrator.Turn
	if i.RunID == "" {
		if asking, err = s.turns.TurnByInterrupt(ctx, i.InterruptID); err != nil {
			return false, err
		}
	}
	if _, err := s.decide(ctx, who, i, contracts.Resume{Response: value}); err != nil {
		return false, err
	}
	turn.Outcome, turn.RunID = orchestrator.TurnAnswered, i.RunID
	if i.RunID == "" {
		after, err := s.turnByKey(ctx, session.ID, asking.TurnKey)
		if err != nil {
			return false, err
		}
		turn.RunID, turn.Answer = after.RunID, after.Answer
	}
	if turn.RunID != "" {
		turn.Outcome = orchestrator.TurnRun
	}
	return true, s.turns.SaveTurn(ctx, *turn)
}

// numbered turns "2", or the words of a button, into the second option, which is
// how questions are shown, and "yes" into the only one.
func numbered(i contracts.Interrupt, message string) string {
	if len(i.Options) == 1 && chat.Affirms(message) {
		return i.Options[0].ID
	}
	for n, o := range i.Options {
		if strings.TrimSpace(message) == chat.Choice(n, o) {
			return o.ID
		}
	}
	n, err := strconv.Atoi(strings.TrimRight(strings.TrimSpace(message), ".)"))
	if err != nil || n < 1 || n > len(i.Options) {
		return message
	}
	return i.Options[n-1].ID
}

func (s *Conversation) turnByKey(ctx context.Context, sessionID string, key orchestrator.TurnKey) (orchestrator.Turn, error) {
	turns, err := s.turns.SessionTurns(ctx, sessionID)
	if err != nil {
		return orchestrator.Turn{}, err
	}
	at := slices.IndexFunc(turns, func(t orchestrator.Turn) bool { return t.TurnKey == key })
	if at < 0 {
		return orchestrator.Turn{}, nil
	}
	return turns[at], nil
}

// Conversation tells where a chat stands without beginning anything, for the
// background calls of frontends; false means that nothing is known of it.
func (s *Conversation) Conversation(ctx context.Context, who access.Principal, t ChatTurn) (ChatState, bool, error) {
	session, known, err := s.chatSession(ctx, who, t)
	if err != nil || !known {
		return ChatState{}, false, err
	}
	state, err := s.chatState(ctx, who, session.ID, orchestrator.TurnKey{}, "", 0)
	return state, err == nil, err
}

// ChatName makes the name of a chat out of what its first message says.
func ChatName(message string) string { return sessions.NameOf(message) }

// chatPatience bounds the taking of a message once its sender has gone.
const chatPatience = 2 * time.Minute

// Patiently gives a context in which a message is taken to its end even if its
// sender goes away: what was said is said.
func Patiently(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), chatPatience)
}
