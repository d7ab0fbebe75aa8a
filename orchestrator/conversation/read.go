package conversation

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/gates"
)

// classifier decides what an input is before it has any effect. It changes nothing.
type classifier struct {
	now      func() time.Time
	store    execution.Gates
	gates    *gates.Gates
	turns    orchestrator.Turns
	local    *local.Reader
	intents  *intent.Adapter
	catalogs orchestrator.Catalogs
	runner   *execution.Runner
}

// commandOf returns the command in an input: a clicked one, or one of the grammar. The first
// message of a session is never a command.
func commandOf(in Input) (chat.Command, bool) {
	switch {
	case in.Command != nil:
		return *in.Command, true
	case in.Start != nil || in.Quoted:
		return chat.Command{}, false
	}
	return chat.Parse(in.Message)
}

// read returns the new turn for an input.
func (r *classifier) read(ctx context.Context, who access.Principal, in Input) (orchestrator.Turn, error) {
	t := orchestrator.Turn{
		SessionID: cmp.Or(in.resolved.decides, in.resolved.session.ID), Elsewhere: in.resolved.decides != "", Kind: orchestrator.TurnRequest, By: who, Message: in.Message, CreatedAt: r.now(), SaidAt: in.SaidAt,
	}
	if thread := in.thread(); thread.Place != "" && thread.Conversation != "" {
		t.HistoryPosition = thread.Conversation + " " + thread.Place
	}
	switch {
	case in.Resume != nil:
		return r.resumed(ctx, who, in, t)
	case in.resolved.command != nil:
		return r.commanded(ctx, who, in, t)
	case in.Start != nil:
		t.DryRun, t.Unattended, t.Phase = in.Start.DryRun, in.Start.Unattended, in.Start.Phase
		return t, nil
	}
	if r.intents.HasModel() {
		return r.forModel(ctx, in, t)
	}
	return r.classifyMessage(ctx, who, in, t)
}

// linkAskingTurn stores in t the run or the turn that has asked the question.
func (r *classifier) linkAskingTurn(ctx context.Context, i contracts.Interrupt, t orchestrator.Turn) (orchestrator.Turn, error) {
	if i.RunID != "" {
		t.RunID = i.RunID
		return t, nil
	}
	asking, err := waitingFor(ctx, r.turns, i.InterruptID)
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		return t, nil
	}
	t.AskingTurn = &asking.TurnKey
	return t, err
}

// resumed reads an input with a Resume: a decision about one gate, or the answer to one question.
func (r *classifier) resumed(ctx context.Context, who access.Principal, in Input, t orchestrator.Turn) (orchestrator.Turn, error) {
	i, err := r.gateOf(ctx, who, in)
	if err != nil {
		return t, err
	}
	t.SessionID, t.Resume, t.Message = i.SessionID, in.Resume, said(i, *in.Resume)
	if i.Type.IsGate() {
		t.Kind, t.Gate = orchestrator.TurnDecision, i.InterruptID
		return t, nil
	}
	if d := in.Resume.Decision; d != "" && d != contracts.DecisionAnswer && !slices.Contains(i.Answers, string(d)) {
		return t, contracts.Errorf(contracts.CodeInvalid, "%s is a question: answer it with a response", i.Code)
	}
	t.Kind, t.AnsweredQuestionID = orchestrator.TurnReply, i.InterruptID
	if words, ok := in.Resume.Response.(string); ok { // the answer may be free text
		read := *in.Resume
		t.Resume = &read
		if picked := chat.MatchOption(i, words); picked != strings.TrimSpace(words) {
			read.Response = picked
		} else if _, err := decision.Value(i, words); err != nil {
			if value, fits := r.value(ctx, who, i, words); fits {
				read.Response = value
			}
		}
	}
	return r.linkAskingTurn(ctx, i, t)
}

func (r *classifier) gateOf(ctx context.Context, who access.Principal, in Input) (contracts.Interrupt, error) {
	if in.Gate != "" {
		return r.gates.Get(ctx, who, in.Gate)
	}
	return r.gates.Open(ctx, who, in.SessionID, in.Resume.InterruptID)
}

// said returns a decision or an answer as the text of a message.
func said(i contracts.Interrupt, body contracts.Resume) string {
	if i.Type.IsGate() || body.Response == nil {
		return string(body.Decision) + " " + i.Code
	}
	return chat.FormatValue(body.Response)
}

// commanded reads a command. An approval without a code refers to the only gate that the chat has
// displayed.
func (r *classifier) commanded(ctx context.Context, who access.Principal, in Input, t orchestrator.Turn) (orchestrator.Turn, error) {
	c := *in.resolved.command
	t.Kind, t.Command, t.Codes, t.Topic = orchestrator.TurnCommand, c.Verb, c.Codes, c.Topic
	if c.Verb != chat.Approve && c.Verb != chat.Reject {
		return t, nil
	}
	t.Kind = orchestrator.TurnDecision
	var err error
	if len(t.Codes) == 0 {
		var shown []string
		if shown, err = r.shownGates(ctx, who, in); len(shown) == 1 {
			t.Codes = shown
		}
	}
	if thread := in.thread(); thread.Marked {
		t.SeenGateCodes = slices.DeleteFunc(slices.Clone(t.Codes), func(code string) bool { return !slices.Contains(thread.Shown, code) })
	}
	return t, err
}

// cameLater reports whether something began after the input was sent.
func (in Input) cameLater(begun time.Time) bool { return !in.SaidAt.IsZero() && begun.After(in.SaidAt) }

// shownGates returns the codes of the gates that a bare "yes" may refer to. The marker of the last
// answer lists the gates that it displayed: nobody can approve what they have not seen. Without a
// marker, as after a frontend has compacted the history, only the open gates of a chat with an
// earlier answer count. Gates that are already decided count only while no other is open, so that a
// repeated word gets the same reply.
func (r *classifier) shownGates(ctx context.Context, who access.Principal, in Input) ([]string, error) {
	thread := in.thread()
	if in.here() == "" || !thread.Marked && !thread.Continued {
		return nil, nil
	}
	var open, closed []string
	err := r.gates.Each(ctx, who, gates.Filter{SessionID: in.here()}, func(i contracts.Interrupt) bool {
		switch {
		case !i.Type.IsGate() || thread.Marked && !slices.Contains(thread.Shown, i.Code) || in.cameLater(i.CreatedAt):
		case i.Status == contracts.InterruptOpen:
			open = append(open, i.Code)
		case thread.Marked:
			closed = append(closed, i.Code)
		}
		return false
	})
	if len(open) > 0 {
		return open, err
	}
	return closed, err
}

// value returns the answer in a message: an option, or a value of the parameter that was asked for.
// Free text that is itself an understandable request is no answer.
func (r *classifier) value(ctx context.Context, who access.Principal, i contracts.Interrupt, message string) (any, bool) {
	text := r.stripAnswerPhrases(ctx, i, message)
	if c, ok := chat.Parse(text); ok && c.Verb == chat.Assent && text == strings.TrimSpace(message) {
		kind, _ := i.ResponseSchema["type"].(string)
		return chat.IsAffirmative(text), kind == "boolean" && len(i.Options) == 0 // otherwise a bare yes is no answer
	}
	if inner, ok := chat.ParseQuoted(text); ok && freeText(i) {
		return inner, true
	}
	if n, ok := chat.ParseNumber(text); ok && i.ResponseSchema != nil {
		if value, err := decision.Value(i, n); err == nil {
			return value, true
		}
	}
	if words, ok := decision.SearchAgain(i, text); ok && !r.isRequest(ctx, who, text) {
		return words, true
	}
	if value, err := decision.Value(i, text); err == nil && (len(i.Options) > 0 || !r.isRequest(ctx, who, text)) {
		return value, true
	}
	return r.filled(ctx, i, text)
}

// stripAnswerPhrases returns the relevant part of an answer: the option or name in it, or the words
// to search for.
func (r *classifier) stripAnswerPhrases(ctx context.Context, i contracts.Interrupt, message string) string {
	text := chat.MatchOption(i, message)
	if text != strings.TrimSpace(message) {
		return text
	}
	if name, ok := chat.ParseName(message); ok && freeText(i) && r.asksName(ctx, i) {
		return name
	}
	aimed, ok := chat.StripBeneficiary(message)
	if !ok {
		return text
	}
	if option := chat.MatchOption(i, aimed); option != aimed {
		return option
	}
	if !isName(aimed) {
		return text
	}
	if _, searches := decision.SearchAgain(i, aimed); searches {
		return aimed
	}
	// If a name is asked for, only the name is taken; if a text is, the whole answer.
	if value, ok := r.filled(ctx, i, message); ok && value == aimed && freeText(i) {
		return aimed
	}
	return text
}

// asksName reports whether the question asks for the name of something.
func (r *classifier) asksName(ctx context.Context, i contracts.Interrupt) bool {
	t, err := waitingFor(ctx, r.turns, i.InterruptID)
	return err == nil && t.AnswerTarget != nil && chat.IsNameParameter(gateview.ParameterWords(t.AnswerTarget.Param))
}

// filled extracts a value of the asked parameter from a text.
func (r *classifier) filled(ctx context.Context, i contracts.Interrupt, text string) (any, bool) {
	t, err := waitingFor(ctx, r.turns, i.InterruptID)
	if err != nil || t.AnswerTarget == nil || t.AnswerTarget.Param == "" {
		return nil, false
	}
	for _, in := range t.Intents {
		if in.ID != t.AnswerTarget.IntentID {
			continue
		}
		entry, ok := r.catalogs.Catalog().Capability(in.Ref())
		if !ok {
			return nil, false
		}
		values, _ := r.local.Fill(entry, text, []string{t.AnswerTarget.Param}, r.now())
		for _, value := range values { // a list parameter may be filled instead of the single one
			if _, err := decision.Value(i, value); err == nil {
				return value, true
			}
		}
	}
	return nil, false
}

func (r *classifier) isRequest(ctx context.Context, who access.Principal, text string) bool {
	return len(r.requests(ctx, who, text)) > 0
}

// saysWhatToDo reports whether a text states a request, and not only a value from which one can be
// guessed, such as "Ana Souza?". An incomplete request for a capability of before does not count:
// it only gives values for that request.
func (r *classifier) saysWhatToDo(ctx context.Context, who access.Principal, text string, before []contracts.Intent) bool {
	return slices.ContainsFunc(r.requests(ctx, who, text), func(in contracts.Intent) bool {
		again := len(in.Missing) > 0 && slices.ContainsFunc(before, func(b contracts.Intent) bool { return b.Ref() == in.Ref() })
		return !again && (in.Utterance == nil || slices.ContainsFunc(in.Utterance.Words, func(w contracts.WordUse) bool { return w.Class == contracts.WordCommand }))
	})
}

// requests returns the intents that the local reader finds in a text without any context.
func (r *classifier) requests(ctx context.Context, who access.Principal, text string) []contracts.Intent {
	u, err := r.intents.Understand(ctx, intent.Request{Message: text, Catalog: r.catalogs.Catalog(), Roles: rolesOf(who), Now: r.now(), Local: true})
	if err != nil || u.Outcome != contracts.ReadingAccepted {
		return nil
	}
	return u.Intents
}
