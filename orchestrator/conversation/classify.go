package conversation

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation/change"
)

const (
	// questionTTL is how long a displayed question may be answered by a bare value: later the
	// question is displayed again first.
	questionTTL = time.Hour
	// requestTTL is how long a request can be continued by a fragment.
	requestTTL = 24 * time.Hour
)

// sessionContext is the state of the session that the meaning of a message depends on.
type sessionContext struct {
	now   time.Time
	turns []orchestrator.Turn
	// questions and gates are the open ones.
	questions, gates []contracts.Interrupt
	// question is the last displayed question, if an answer to it is accepted now.
	question *contracts.Interrupt
	// last is the request that a fragment continues.
	last *orchestrator.Turn
}

// loadSessionContext reads the state of the input's session.
func (r *classifier) loadSessionContext(ctx context.Context, in Input) (sessionContext, error) {
	s := sessionContext{now: r.now()}
	if in.here() == "" {
		return s, nil
	}
	open, err := r.store.Interrupts(ctx, execution.InterruptFilter{SessionID: in.here(), Status: contracts.InterruptOpen})
	if err != nil {
		return s, err
	}
	for _, i := range open {
		if i.Type.IsGate() {
			s.gates = append(s.gates, i)
		} else {
			s.questions = append(s.questions, i)
		}
	}
	if s.turns, err = r.turns.ListTurns(ctx, orchestrator.TurnFilter{SessionID: in.here()}); err != nil {
		return s, err
	}
	// Decisions that others made here from another chat are not part of this dialogue.
	s.turns = slices.DeleteFunc(s.turns, func(t orchestrator.Turn) bool { return t.Elsewhere })
	s.question, s.last = s.shownLast(in), s.lastRequest()
	return s, nil
}

// shownLast returns the question that a bare value answers: the one displayed by the last answer,
// according to the marker or else the last turn. Outside of chats every answer displays all open
// questions.
func (s sessionContext) shownLast(in Input) *contracts.Interrupt {
	if len(s.questions) == 0 || len(s.turns) == 0 || s.now.Sub(s.turns[len(s.turns)-1].CreatedAt) > questionTTL {
		return nil
	}
	thread := in.thread()
	if thread.Marked {
		return s.single(func(i contracts.Interrupt) bool { return slices.Contains(thread.Shown, i.Code) })
	}
	if in.Thread == nil {
		return s.single(func(contracts.Interrupt) bool { return true })
	}
	last := s.turns[len(s.turns)-1]
	if last.AskingTurn != nil {
		if at := slices.IndexFunc(s.turns, func(t orchestrator.Turn) bool { return t.TurnKey == *last.AskingTurn }); at >= 0 {
			last = s.turns[at]
		}
	}
	if last.RedisplayedQuestionID != "" {
		return s.single(func(i contracts.Interrupt) bool { return i.InterruptID == last.RedisplayedQuestionID })
	}
	if last.Kind == orchestrator.TurnCommand || last.Kind == orchestrator.TurnDecision {
		return s.single(func(contracts.Interrupt) bool { return true })
	}
	return s.single(func(i contracts.Interrupt) bool {
		return i.InterruptID == last.InterruptID || i.RunID != "" && i.RunID == last.RunID
	})
}

// single returns the only open question that satisfies meant, or nil if there are several.
func (s sessionContext) single(meant func(contracts.Interrupt) bool) *contracts.Interrupt {
	var found *contracts.Interrupt
	for n := range s.questions {
		if !meant(s.questions[n]) {
			continue
		}
		if found != nil {
			return nil
		}
		found = &s.questions[n]
	}
	return found
}

// lastRequest returns the newest turn that a fragment can continue.
func (s sessionContext) lastRequest() *orchestrator.Turn {
	for n := range slices.Backward(s.turns) {
		t := &s.turns[n]
		if s.now.Sub(t.CreatedAt) > requestTTL {
			return nil
		}
		if len(t.Intents) > 0 && t.Understood && (t.Outcome == orchestrator.TurnRun || t.Outcome == orchestrator.TurnClarifying) {
			return t
		}
	}
	return nil
}

// asking returns the request that a question belongs to.
func (s sessionContext) asking(q contracts.Interrupt) *orchestrator.Turn {
	for n := range slices.Backward(s.turns) {
		t := &s.turns[n]
		if len(t.Intents) > 0 && (t.InterruptID == q.InterruptID || q.RunID != "" && t.RunID == q.RunID) {
			return t
		}
	}
	return nil
}

// shownAgain reports whether the last turn only displayed the question again.
func (s sessionContext) shownAgain(q contracts.Interrupt) bool {
	return len(s.turns) > 0 && s.turns[len(s.turns)-1].RedisplayedQuestionID == q.InterruptID && s.turns[len(s.turns)-1].Command == again
}

// again is the command of a turn that only displays a question again.
const again orchestrator.Verb = "again"

// classifyMessage decides how a message without an explicit command is handled. The rules are tried
// in the order of the table.
//
//	the message is                    with an open question      else
//	edited in the chat's history      as in the next column      replaces the original, if that still waits
//	a value that fits                 its answer                 the question again, if it has expired
//	yes or no                         asked again                says how to decide
//	"change it back"                  -                          the state before a pending change; else undo
//	"no, the other one"               -                          asks which, instead of a pending write
//	about the last table              -                          the table, sorted, cut, counted
//	"delete it again"                 -                          undo of what the last request has made
//	"and what does she earn?"         -                          a request about whom the last one was about
//	"no, Bruno", "make it 3"          corrects the request       changes the last request, or its gate
//	"and for Bruno?", "Bruno"         -                          the last request with other values
//	"rename it to Sales"              the request's name         the name in the last request, or in its gate
//	"the US one"                      the option, the value      the value in the last request; else a row of the table
//	an understandable request         a request; the question is parked, and named
//	anything else                     the question once more, then parked; else the reading of the matcher
func (r *classifier) classifyMessage(ctx context.Context, who access.Principal, in Input, t orchestrator.Turn) (orchestrator.Turn, error) {
	s, err := r.loadSessionContext(ctx, in)
	if err != nil {
		return t, err
	}
	if old := s.edited(t, in); old != nil {
		return r.edit(ctx, *old, t)
	}
	if s.question != nil {
		return r.classifyAnswer(ctx, who, in, s, t)
	}
	if i, ok := r.expiredQuestion(ctx, who, in, s); ok {
		return show(t, i, "This question is still open:"), nil
	}
	if next, ok, err := r.withdrawnByMessage(ctx, who, in.Message, s, t); ok || err != nil {
		return next, err
	}
	if o, ok := chat.ReadTableOrder(in.Message); ok {
		if next, ok, err := r.answerFromTable(ctx, s, o, t); ok || err != nil {
			return next, err
		}
	}
	if next, ok, err := r.undoByMessage(ctx, who, in, s, t); ok || err != nil {
		return next, err
	}
	if next, ok, err := r.resolveReference(ctx, who, in, s, t, false); ok || err != nil {
		return next, err
	}
	if f, ok := r.fragment(in.Message, s); ok && !r.isNewRequest(ctx, who, in.Message, f, s.last.Intents) {
		if next, ok, err := r.applyFragment(ctx, *s.last, f, t); ok || err != nil {
			return next, err
		}
	}
	if word, ok := chat.ParseSelection(in.Message); ok {
		if next, ok, err := r.answerFromTable(ctx, s, chat.TableOrder{Filter: word}, t); ok || err != nil {
			return next, err
		}
	}
	if next, ok, err := r.resolveReference(ctx, who, in, s, t, true); ok || err != nil {
		return next, err
	}
	return t, nil
}

// withdrawnByMessage handles a message that reverts the last request, or asks for another object
// than the one named.
func (r *classifier) withdrawnByMessage(ctx context.Context, who access.Principal, message string, s sessionContext, t orchestrator.Turn) (orchestrator.Turn, bool, error) {
	if chat.IsRevert(message) || r.restoresForReason(ctx, who, message) {
		if next, ok, err := r.revertChange(ctx, s, t); ok || err != nil {
			return next, ok, err
		}
	}
	if chat.IsOtherOne(message) {
		return r.reselectTarget(ctx, s, t)
	}
	return t, false, nil
}

// restoresForReason reports whether a message asks to revert something and gives the reason in a
// second clause that is no request: "take that off again, legal wants to look first".
func (r *classifier) restoresForReason(ctx context.Context, who access.Principal, message string) bool {
	first, rest, ok := chat.SplitClauses(message)
	if !ok {
		return false
	}
	for _, c := range [][2]string{{first, rest}, {rest, first}} {
		if chat.IsRevert(c[0]) && chat.IsReason(c[1]) && !r.saysWhatToDo(ctx, who, c[1], nil) {
			return true
		}
	}
	return false
}

// answersQuestion reports whether a bare command word, such as "approve" or "stop", is an answer to
// the procedure's question that was displayed last.
func (r *classifier) answersQuestion(ctx context.Context, in Input, c chat.Command) (bool, error) {
	if len(c.Codes) > 0 || in.Command != nil || in.Start != nil {
		return false, nil
	}
	s, err := r.loadSessionContext(ctx, in)
	if err != nil || s.question == nil || len(s.question.Answers) == 0 || len(s.gates) > 0 {
		return false, err
	}
	_, unfit := decision.Value(*s.question, strings.TrimRight(chat.MatchOption(*s.question, in.Message), ".!"))
	return unfit == nil, nil
}

// edited returns the earlier request that the message replaces because it was edited in the chat's
// history, or nil.
func (s sessionContext) edited(t orchestrator.Turn, in Input) *orchestrator.Turn {
	if t.HistoryPosition == "" {
		return nil
	}
	for n := range slices.Backward(s.turns) {
		old := &s.turns[n]
		if old.HistoryPosition == t.HistoryPosition && old.Key != in.Key && old.Model == in.Domain && old.Kind == orchestrator.TurnRequest {
			return old
		}
	}
	return nil
}

// edit makes a request replace the one that it was edited from, if that still waits. If that has
// already written something, the message is a new request and a notice names undo.
func (r *classifier) edit(ctx context.Context, old, t orchestrator.Turn) (orchestrator.Turn, error) {
	if old.RunID == "" {
		if old.Outcome == orchestrator.TurnClarifying {
			t.Replaces = &orchestrator.Replaced{InterruptID: old.InterruptID}
		}
		return t, nil
	}
	run, err := r.runner.View(ctx, old.RunID)
	switch {
	case contracts.CodeOf(err) == contracts.CodeNotFound:
		return t, nil
	case err != nil:
		return t, err
	case len(change.Written(run)) > 0:
		t.Notice = "What the message said before it was edited is done already: write `undo` to take that back."
	case run.State == contracts.RunWaiting:
		t.Replaces = &orchestrator.Replaced{RunID: old.RunID}
	}
	return t, nil
}

// classifyAnswer decides how a message is handled if a question was displayed last.
func (r *classifier) classifyAnswer(ctx context.Context, who access.Principal, in Input, s sessionContext, t orchestrator.Turn) (orchestrator.Turn, error) {
	q := *s.question
	if next, ok := r.talkAtQuestion(who, in.Message, q, t); ok {
		return next, nil
	}
	if name, ok := namedInstead(in.Message); ok && takesWords(q, name) {
		in.Message = name
	}
	value, fits := r.value(ctx, who, q, in.Message)
	if next, ok, err := r.answerWithExtraValues(ctx, who, in.Message, s, fits, t); ok || err != nil {
		return next, err
	}
	if fits {
		t.Kind, t.AnsweredQuestionID, t.Resume = orchestrator.TurnReply, q.InterruptID, &contracts.Resume{Response: value}
		return r.linkAskingTurn(ctx, q, t)
	}
	if c, ok := chat.Parse(in.Message); ok && c.Verb == chat.Assent {
		return show(t, q, "That can mean more than one thing here:"), nil
	}
	if slices.Contains(q.Answers, contracts.SayIterate) && !r.isRequest(ctx, who, in.Message) {
		return show(t, q, "To go back with these words, write `iterate: "+chat.Escape(contracts.CleanSummary(in.Message))+"`."), nil
	}
	if f, ok := chat.ReadFragment(in.Message); ok && q.Workflow == "" {
		if base := s.asking(q); base != nil {
			if next, ok, err := r.applyFragment(ctx, *base, f, t); ok || err != nil {
				return next, err
			}
		}
	}
	if next, ok := r.refineChoice(ctx, who, in.Message, q, t); ok {
		return next, nil
	}
	if r.isRequest(ctx, who, in.Message) {
		if freeText(q) {
			return show(t, q, "Is that the answer, or a new request? Put it in quotation marks to use it as the answer, or write `never mind` first. I asked:"), nil
		}
		t.ParkedQuestionID = q.InterruptID
		return t, nil
	}
	if s.shownAgain(q) {
		t.ParkedQuestionID = q.InterruptID
		return t, nil
	}
	return show(t, q, "I could not take that as an answer."), nil
}

// show turns t into a turn that only displays the question again.
func show(t orchestrator.Turn, q contracts.Interrupt, notice string) orchestrator.Turn {
	t.Kind, t.Command, t.RedisplayedQuestionID, t.Notice, t.RunID = orchestrator.TurnCommand, again, q.InterruptID, notice, q.RunID
	return t
}

// expiredQuestion returns an open question that the message would answer, had it been displayed
// recently.
func (r *classifier) expiredQuestion(ctx context.Context, who access.Principal, in Input, s sessionContext) (contracts.Interrupt, bool) {
	if in.thread().Marked || len(s.questions) != 1 || len(strings.Fields(in.Message)) > 3 {
		return contracts.Interrupt{}, false
	}
	_, fits := r.value(ctx, who, s.questions[0], in.Message)
	return s.questions[0], fits
}

// takesWords reports whether the question accepts these words as the answer, or as a new search.
func takesWords(q contracts.Interrupt, words string) bool {
	_, searches := decision.SearchAgain(q, words)
	return searches || freeText(q)
}

func freeText(q contracts.Interrupt) bool {
	kind, _ := q.ResponseSchema["type"].(string)
	return len(q.Options) == 0 && kind == "string" && q.ResponseSchema["pattern"] == nil && q.ResponseSchema["format"] == nil && q.ResponseSchema["enum"] == nil
}

// fragment reads a message as a continuation of the last request. A bare number changes the
// request's only number.
func (r *classifier) fragment(message string, s sessionContext) (chat.Fragment, bool) {
	if s.last == nil {
		return chat.Fragment{}, false
	}
	if f, ok := chat.ReadFragment(message); ok {
		return f, true
	}
	if word, ok := chat.ParseSelection(message); ok {
		return chat.Fragment{Kind: chat.FragmentValue, Rest: word}, true
	}
	if _, ok := chat.ParseNumber(message); ok {
		return chat.Fragment{Kind: chat.FragmentChange, Rest: strings.TrimSpace(message)}, true
	}
	if len(strings.Fields(message)) <= maxBare && !strings.Contains(strings.TrimSpace(message), "\n") {
		return chat.Fragment{Kind: chat.FragmentValue, Rest: strings.TrimSpace(strings.TrimRight(message, "? \n"))}, true
	}
	return chat.Fragment{}, false
}

// isNewRequest reports whether a fragment is a complete request: "wait, who is Bruno?" It is not if
// it only has a name, or values for the last request: "no, in the sales channel".
func (r *classifier) isNewRequest(ctx context.Context, who access.Principal, message string, f chat.Fragment, before []contracts.Intent) bool {
	switch f.Kind {
	case chat.FragmentValue:
		return r.saysWhatToDo(ctx, who, message, nil)
	case chat.FragmentCorrect:
		if name, ok := chat.StripBeneficiary(f.Rest); isName(f.Rest) || ok && isName(name) {
			return false
		}
		return r.saysWhatToDo(ctx, who, f.Rest, before)
	default:
		return false
	}
}

// maxBare is the maximum number of words in a message that consists of values only.
const maxBare = 4

// namedInstead reads "no, Bruno" to a free-text question: the name is the answer. Words in lower
// case do not count as a name, since they may be the text itself.
func namedInstead(message string) (string, bool) {
	f, ok := chat.ReadFragment(message)
	return f.Rest, ok && f.Kind == chat.FragmentCorrect && isName(f.Rest)
}

// isName reports whether the text is a few words, all capitalised.
func isName(text string) bool {
	words := strings.Fields(text)
	small := slices.ContainsFunc(words, func(w string) bool { first, _ := utf8.DecodeRuneInString(w); return !unicode.IsUpper(first) })
	return len(words) > 0 && len(words) <= maxBare && !small
}
