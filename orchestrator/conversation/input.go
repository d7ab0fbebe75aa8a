package conversation

import (
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// Input is one thing that somebody says or clicks, in any interface: a message, which
// may be a request, an answer or a command, or a decision on one gate.
type Input struct {
	// Key identifies what was said: the same key with the same words again is the
	// same turn, and has no second effect. Without one a repeat is something new.
	Key string
	// PositionalKey means that Key is only the position of the message in the history, because
	// its sender does not identify messages.
	PositionalKey bool

	// Start begins a session of its own with this first message; else SessionID is
	// the session that is spoken to, and else Thread the chat.
	Start     *contracts.StartSession
	SessionID string
	Thread    *Thread

	// Domain is the domain that the chat's model entry ("manifold-DOMAIN") restricts the
	// request to; "" for all.
	Domain  string
	Message string
	// Quoted means that the person's own words could not be told for certain from
	// what stands around them: then they are never a command.
	Quoted bool
	// Command is what was clicked, where an interface has buttons for commands.
	Command *chat.Command
	// Resume decides or answers one gate or question: that of Gate, which is its
	// id or code, else the open one of SessionID.
	Gate   string
	Resume *contracts.Resume
	// Language is the language that its sender has set, by its code, "" for none.
	Language string
	// SaidAt is when it was said, where it may be taken later than that: it cancels
	// and approves nothing that came since. Zero is when it is first taken.
	SaidAt time.Time

	resolved *resolvedInput // where it belongs, once that is found
	secret   bool           // a credential was taken out of it
}

// withoutSecrets is an input in which no credential stands that somebody pasted
// by mistake: it would be kept with the session, and shown to the approver.
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

// Thread is how a chat frontend ties a message to its chat.
type Thread = sessions.Thread

// resolvedInput is the session of an input, and its command if it is one.
type resolvedInput struct {
	session orchestrator.Session
	known   bool
	command *chat.Command
	// decides is the session of the gate that a command names, where nothing was
	// asked in its own chat yet.
	decides string
}

// thread is the chat of an input; outside of chats nothing is known of one.
func (in Input) thread() Thread {
	if in.Thread == nil {
		return Thread{}
	}
	return *in.Thread
}

// here is the session that the input belongs to, "" if there is none yet.
func (in Input) here() string {
	if in.resolved == nil || !in.resolved.known {
		return ""
	}
	return in.resolved.session.ID
}

// Outcome is what an input came to; View shows it.
type Outcome struct {
	SessionID string
	Name      string
	// Turn is the turn that it was, RunID the run that it is about. The run's
	// events after After are news to this reader.
	Turn  orchestrator.TurnKey
	RunID string
	After int64
	// New is the session if it was made with the run and holds nothing else.
	New *orchestrator.Session
	// Notice is the reply to a command. Alone says that it is all there is to
	// show, Quiet that what was found before is no news.
	Notice       string
	Alone, Quiet bool
	// InReplyTo is the turn that this is the reply to.
	InReplyTo orchestrator.TurnKey
	// Language is the one to answer in, "" if that is not known.
	Language string
	// Answer is an answer of its own, Show what it shows instead of where the
	// session stands.
	Answer *contracts.Answer
	Show   []contracts.Interrupt
	// Decided is the gate or question that was decided or answered.
	Decided contracts.Interrupt
}
