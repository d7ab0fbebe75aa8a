package conversation

import (
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// Input is one message or click of a user, in any interface: a request, an answer, a command, or a
// decision on one gate.
type Input struct {
	// Key is the idempotency key of the input: the same key with the same content is the same turn,
	// and has no second effect. Without a key every input is a new turn.
	Key string
	// PositionalKey means that Key is only the position of the message in the history, because its
	// sender does not identify messages.
	PositionalKey bool

	// Start creates a new session with this first message. Otherwise SessionID is the session, or
	// Thread identifies the chat.
	Start     *contracts.StartSession
	SessionID string
	Thread    *Thread

	// Domain is the domain that the chat's model entry ("manifold-DOMAIN") restricts the request
	// to; "" for all.
	Domain  string
	Message string
	// Quoted means that the person's own text could not be separated reliably from quoted text.
	// Such a message is never treated as a command.
	Quoted bool
	// Command is the command of a button that was clicked.
	Command *chat.Command
	// Resume decides a gate or answers a question: the one whose id or code is Gate, or else the
	// open one of SessionID.
	Gate   string
	Resume *contracts.Resume
	// Language is the code of the language that the sender has set, "" for none.
	Language string
	// SaidAt is when the message was sent, if it may be processed later than that: it must not
	// cancel or approve anything newer. Zero means now.
	SaidAt time.Time

	resolved *resolvedInput // its session, once found
	secret   bool           // a credential was removed
}

// withoutSecrets returns the input without credentials that were pasted by mistake: they would be
// stored with the session and shown to the approver.
func (in Input) withoutSecrets() Input {
	if in.Start != nil {
		start := *in.Start
		start.Message, in.secret = chat.WithoutSecrets(start.Message)
		in.Start = &start
		return in
	}
	in.Message, in.secret = chat.WithoutSecrets(in.Message)
	return in
}

const noCredential = "There was a key or token in your message. I have not kept it; but it stands in this chat now, so change it where it is used."

// Thread identifies the chat of a message from a chat frontend.
type Thread = sessions.Thread

// resolvedInput is the session of an input, and its command if it is one.
type resolvedInput struct {
	session orchestrator.Session
	known   bool
	command *chat.Command
	// decides is the session of the gate that a command names, if the command's own chat has no
	// session yet.
	decides string
}

// thread returns the chat of an input, zero outside of chats.
func (in Input) thread() Thread {
	if in.Thread == nil {
		return Thread{}
	}
	return *in.Thread
}

// here returns the id of the input's session, "" if there is none yet.
func (in Input) here() string {
	if in.resolved == nil || !in.resolved.known {
		return ""
	}
	return in.resolved.session.ID
}

// Outcome is the outcome of an input; Conversation.View displays it.
type Outcome struct {
	SessionID string
	Name      string
	// Turn is the input's turn, RunID the run that it is about. The run's events after After are
	// new to this reader.
	Turn  orchestrator.TurnKey
	RunID string
	After int64
	// New is the session if it was created together with the run and has nothing else.
	New *orchestrator.Session
	// Notice is the reply to a command. Alone means that nothing else is displayed, Quiet that
	// earlier events are not repeated.
	Notice       string
	Alone, Quiet bool
	// InReplyTo is the turn that this replies to.
	InReplyTo orchestrator.TurnKey
	// Language is the language to answer in, "" if unknown.
	Language string
	// Answer is displayed instead of the answer of the run, Show instead of the session's open
	// interrupts.
	Answer *contracts.Answer
	Show   []contracts.Interrupt
	// Decided is the gate or question that was decided or answered.
	Decided contracts.Interrupt
}
