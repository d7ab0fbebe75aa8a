package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation/command"
	"github.com/manifold-run/manifold/orchestrator/gates"
)

// Resolve finds the session of an input and rejects invalid input before any model call. It is
// quick, so that a frontend can acknowledge the message; Handle resolves an input that was not
// resolved before.
func (c *Conversation) Resolve(ctx context.Context, who access.Principal, in Input) (Input, error) {
	var err error
	if in.resolved == nil {
		in = in.withoutSecrets()
	}
	switch {
	case in.resolved != nil:
	case in.Start != nil:
		in.resolved = &resolvedInput{known: true}
		in.Message = in.Start.Message
		in.resolved.session, err = c.threads.Start(ctx, who, *in.Start, in.Key)
	case in.Resume != nil:
		in.resolved = &resolvedInput{known: true}
	case in.Thread != nil:
		in.resolved, err = c.resolveChat(ctx, who, in)
	default:
		in.resolved = &resolvedInput{known: true}
		if in.resolved.session, err = c.dir.Own(ctx, who, in.SessionID); err == nil {
			err = orchestrator.CheckMessage(in.Message)
		}
		if err == nil {
			in.resolved.command, err = c.command(ctx, who, in)
		}
	}
	return in, err
}

// resolveChat finds or creates the session of a chat message. A command creates none.
func (c *Conversation) resolveChat(ctx context.Context, who access.Principal, in Input) (*resolvedInput, error) {
	session, known, err := c.threads.Find(ctx, who, *in.Thread, in.Message)
	if err != nil {
		return nil, err
	}
	at := &resolvedInput{session: session, known: known}
	in.resolved = at
	if at.command, err = c.command(ctx, who, in); err != nil {
		return nil, err
	}
	if command := at.command; command != nil {
		if !known && len(command.Codes) > 0 {
			// A gate that is not found is reported when the decision is processed.
			if i, err := c.reader.gates.Get(ctx, who, command.Codes[0]); err == nil {
				at.decides = i.SessionID
			}
		}
		return at, nil
	}
	if err := orchestrator.CheckMessage(in.Message); err != nil || known {
		return at, err
	}
	at.session, err = c.threads.Begin(ctx, who, session, *in.Thread)
	at.known = true
	return at, err
}

// command returns the command in a resolved input, nil if it is none. Words that may also be part
// of a request are a command only if they make sense in the session.
func (c *Conversation) command(ctx context.Context, who access.Principal, in Input) (*chat.Command, error) {
	command, ok := commandOf(in)
	if code, bare := chat.BareCode(in.Message); !ok && bare && in.Start == nil && !in.Quoted {
		command, ok = chat.Command{Verb: chat.Show, Codes: []string{code}}, true
	}
	if !ok {
		return nil, nil //nolint:nilnil // it is none
	}
	if answers, err := c.reader.answersQuestion(ctx, in, command); answers || err != nil {
		return nil, err
	}
	switch command.Verb {
	case chat.Assent:
		shown, err := c.reader.shownGates(ctx, who, in)
		if err != nil || len(shown) == 0 { // it answers a question, or refers to nothing
			return nil, err
		}
	case chat.Show:
		if _, err := c.machine.commands.Gate(ctx, who, in.here(), command.Codes[0]); err != nil && in.Command == nil {
			return nil, nil //nolint:nilnil // five letters that are no gate are a word
		}
	case chat.Help:
		if _, _, known := c.machine.commands.Topic(command.Topic); command.Topic != "" && !known {
			return nil, nil //nolint:nilnil // it is none
		}
	}
	return &command, nil
}

// Handle processes one input; all interfaces call it. It is idempotent by Input.Key, finishes an
// input that a crash interrupted, and does not wait for the run.
func (c *Conversation) Handle(ctx context.Context, who access.Principal, in Input) (Outcome, error) {
	in, err := c.Resolve(ctx, who, in)
	if err != nil {
		return Outcome{}, err
	}
	key, kept := c.turnKey(who, in)
	if !kept {
		return c.currentState(ctx, who, in)
	}
	sum := fingerprint(in)
	flight := strings.Join([]string{key.Conversation, key.Key, key.Model, sum}, "\x00")
	taken, err, _ := c.flights.Do(flight, func() (any, error) { return c.handleTurn(ctx, who, in, key, sum) })
	if err != nil {
		return Outcome{}, err
	}
	return taken.(Outcome), nil //nolint:forcetypeassert,errcheck // the function above gives nothing else
}

// turnKey returns the key of the input's turn. It returns false if the input is not stored as a
// turn: it only displays something, or its chat has no session yet.
func (c *Conversation) turnKey(who access.Principal, in Input) (orchestrator.TurnKey, bool) {
	fresh := execution.NewID("msg")
	switch {
	case in.Resume != nil: // not by the gate's session: a repeat may no longer find the gate by its code
		return orchestrator.TurnKey{Conversation: "decisions of " + who.Subject(), Key: cmp.Or(in.Key, fresh)}, true
	case in.Start != nil:
		return orchestrator.TurnKey{Conversation: in.resolved.session.ID, Key: cmp.Or(in.Key, "first")}, true
	}
	key := orchestrator.TurnKey{Conversation: in.resolved.session.ID, Key: cmp.Or(in.Key, fresh), Model: in.Domain}
	if in.resolved.command == nil {
		return key, true
	}
	switch in.resolved.command.Verb {
	case chat.Approve, chat.Reject, chat.Cancel, chat.Undo, chat.Drop, chat.Back, chat.Show:
		// A positional key cannot tell a repeat from the same word sent again, so it is treated as
		// sent again.
		if in.PositionalKey && !in.thread().Continued {
			key.Key = fresh
		}
		if in.resolved.decides != "" {
			key.Conversation = gates.DecisionsConversation(who.Subject(), in.thread().Conversation)
		}
		return key, in.resolved.known || in.resolved.decides != ""
	case chat.Status:
		return key, in.resolved.known && in.Key != "" && (!in.PositionalKey || in.thread().Continued)
	default:
		return key, false
	}
}

// fingerprint returns a hash of the input, to detect other content under the same key.
func fingerprint(in Input) string {
	var said any = in.Message
	switch {
	case in.Start != nil:
		said = in.Start
	case in.Resume != nil:
		said = []any{in.Gate, in.SessionID, in.Resume}
	}
	hash, err := contracts.Hash(said)
	if err != nil {
		return ""
	}
	return hash
}

// handleTurn finds or creates the turn of an input, and finishes it.
func (c *Conversation) handleTurn(ctx context.Context, who access.Principal, in Input, key orchestrator.TurnKey, words string) (Outcome, error) {
	t, again, err := c.beginTurn(ctx, who, in, key, words)
	if err != nil {
		return Outcome{}, err
	}
	after := int64(0)
	if !again {
		if after, err = orchestrator.LastSeq(ctx, c.journal, t.SessionID); err != nil {
			return Outcome{}, err
		}
	}
	resumed := again && t.Outcome != orchestrator.TurnRefused
	if again && t.Outcome == orchestrator.TurnRefused {
		t.Outcome, t.Refusal = "", nil // it had no effect, so it is tried again
	}
	ctx, cancel := DetachContext(ctx)
	defer cancel()
	t, err = c.machine.finish(ctx, t, resumed)
	if failed, ok := errors.AsType[*command.NoticeError](err); ok {
		t.Notice = failed.Notice
		return commanded(t, in.here(), after, false), nil
	}
	if err != nil {
		return Outcome{}, err
	}
	return c.outcome(ctx, in, t, after, again)
}

// beginTurn returns the turn of an input: the existing one with its key, or a new one, which is
// committed before it has any effect.
func (c *Conversation) beginTurn(ctx context.Context, who access.Principal, in Input, key orchestrator.TurnKey, words string) (t orchestrator.Turn, again bool, err error) {
	t, err = c.turns.Turn(ctx, key)
	switch {
	case err == nil:
		again = true
	case contracts.CodeOf(err) != contracts.CodeNotFound:
		return t, false, err
	default:
		if in.Start == nil && in.Resume == nil {
			if err = c.dir.AllowMessage(cmp.Or(in.here(), key.Conversation)); err != nil {
				return t, false, err
			}
		}
		if t, err = c.reader.read(ctx, who, in); err != nil {
			return t, false, err
		}
		t.TurnKey, t.Fingerprint, t.Trace = key, words, trail(in)
		if t.News, err = c.news(ctx, who, in); err != nil {
			return t, false, err
		}
		var created bool
		if t, created, err = c.turns.BeginTurn(ctx, t); err != nil {
			return t, false, err
		}
		again = !created
	}
	if t.Fingerprint != words {
		return t, again, contracts.Errorf(contracts.CodeConflict, "this key was used with other words")
	}
	return t, again, nil
}

// news reports what others have decided in the session since the previous turn.
func (c *Conversation) news(ctx context.Context, who access.Principal, in Input) (string, error) {
	if in.here() == "" || in.Start != nil {
		return "", nil
	}
	turns, err := c.turns.ListTurns(ctx, orchestrator.TurnFilter{SessionID: in.here()})
	turns = slices.DeleteFunc(turns, func(t orchestrator.Turn) bool { return t.Elsewhere })
	if err != nil || len(turns) == 0 {
		return "", err
	}
	return c.machine.commands.News(ctx, who, in.here(), turns[len(turns)-1].CreatedAt)
}

// trail identifies the chat and the message of an input for the audit.
func trail(in Input) string {
	if in.Thread == nil {
		return ""
	}
	message, _, _ := strings.Cut(in.Key, ":")
	return contracts.CleanSummary(fmt.Sprintf("chat %s, message %s", cmp.Or(in.Thread.Conversation, "without an id"), cmp.Or(message, "without an id")))
}

// currentState handles a command that is not stored as a turn.
func (c *Conversation) currentState(ctx context.Context, who access.Principal, in Input) (Outcome, error) {
	t, err := c.reader.commanded(ctx, who, in, orchestrator.Turn{By: who, CreatedAt: c.cfg.Now(), SaidAt: in.SaidAt, Trace: trail(in)})
	if err != nil {
		return Outcome{}, err
	}
	t.Model = in.Domain
	after := int64(0)
	if here := in.here(); here != "" {
		if after, err = orchestrator.LastSeq(ctx, c.journal, here); err != nil {
			return Outcome{}, err
		}
	}
	if t, _, err = c.machine.commands.Do(ctx, t, in.here()); err != nil {
		return Outcome{}, err
	}
	return c.outcome(ctx, in, t, after, false)
}

// outcome returns the outcome of a finished turn.
func (c *Conversation) outcome(ctx context.Context, in Input, t orchestrator.Turn, after int64, again bool) (Outcome, error) {
	o := Outcome{SessionID: t.SessionID, Turn: t.TurnKey, RunID: t.RunID, After: after, Notice: t.Notice}
	if t.Kind == orchestrator.TurnCommand || t.Kind == orchestrator.TurnDecision && t.Resume == nil {
		o = commanded(t, in.here(), after, again)
		o.Name = in.resolved.session.Name
	}
	if t.ParkedQuestionID != "" {
		o.Notice = c.parked(ctx, t.ParkedQuestionID)
	}
	o.InReplyTo = t.TurnKey
	o.Notice = strings.TrimSpace(t.News + "\n\n" + o.Notice)
	o.Language = c.language(ctx, in)
	if in.secret {
		o.Notice = strings.TrimSpace(noCredential + "\n\n" + o.Notice)
	}
	var err error
	if t.RedisplayedQuestionID != "" {
		i, reading := execution.GetInterrupt(ctx, c.machine.store, t.RedisplayedQuestionID)
		o.Show, err = []contracts.Interrupt{i}, reading
	}
	if in.Resume != nil && err == nil {
		o.Decided, err = execution.GetInterrupt(ctx, c.machine.store, cmp.Or(t.Gate, t.AnsweredQuestionID))
	}
	return o, err
}

// commanded returns the outcome of a command; repeated means that the command was already processed
// before.
func commanded(t orchestrator.Turn, here string, after int64, repeated bool) Outcome {
	o := Outcome{SessionID: cmp.Or(t.RunSession, here), Notice: t.Notice, RunID: t.RunID, After: after, Answer: t.Answer}
	switch t.Command {
	case chat.Help, chat.List, chat.Why, chat.WhoAmI, chat.Thanks:
		o.Alone = true
	case chat.Cancel, chat.Drop:
		o.Quiet = true
	}
	o.Alone = o.Alone || o.SessionID == "" || repeated && t.RunID == "" && t.Command != chat.Status || t.Answer != nil
	if o.Alone && o.Answer == nil && t.RedisplayedQuestionID == "" {
		o.Notice = cmp.Or(o.Notice, command.NothingAsked)
	}
	return o
}

// parked returns a notice about the question that is left open.
func (c *Conversation) parked(ctx context.Context, id string) string {
	i, err := execution.GetInterrupt(ctx, c.machine.store, id)
	if err != nil || i.Status != contracts.InterruptOpen {
		return ""
	}
	return "My question “" + chat.Escape(contracts.CleanSummary(i.Prompt)) + "” waits; write `back` to return to it."
}

// messageTimeout limits the processing of a message whose sender has disconnected.
const messageTimeout = 2 * time.Minute

// DetachContext returns a copy of ctx that is not cancelled when the client disconnects and that
// expires after messageTimeout.
func DetachContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), messageTimeout)
}
