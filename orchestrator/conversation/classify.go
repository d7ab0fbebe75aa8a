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
	// questions and gates are what is open.
	questions, gates []contracts.Interrupt
	// question is the one that was shown last, if its answer may come now.
	question *contracts.Interrupt
	// last is the request that a fragment goes on from.
	last *orchestrator.Turn
}

// loadSessionContext reads the state of the session for its sender.
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
	// What others have decided here, from elsewhere, is no part of what is said here.
	s.turns = slices.DeleteFunc(s.turns, func(t orchestrator.Turn) bool { return t.Elsewhere })
	s.question, s.last = s.shownLast(in), s.lastRequest()
	return s, nil
}

// shownLast is the question that a bare value answers: the one that the last
// answer has shown, which a marker says, or else the last turn. Outside of chats
// every answer shows all that is open.
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

// single returns the one open question that is meant; several are none.
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

// lastRequest is the newest turn that a fragment can go on from.
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

// asking is the request that a question belongs to.
func (s sessionContext) asking(q contracts.Interrupt) *orchestrator.Turn {
	for n := range slices.Backward(s.turns) {
		t := &s.turns[n]
		if len(t.Intents) > 0 && (t.InterruptID == q.InterruptID || q.RunID != "" && t.RunID == q.RunID) {
			return t
		}
	}
	return nil
}

// shownAgain reports whether the last turn was nothing but a question once more.
func (s sessionContext) shownAgain(q contracts.Interrupt) bool {
	return len(s.turns) > 0 && s.turns[len(s.turns)-1].RedisplayedQuestionID == q.InterruptID && s.turns[len(s.turns)-1].Command == again
}

// again is the command of a turn that shows a question once more.
const again orchestrator.Verb = "again"

// classifyMessage decides how a message without an explicit command is handled. Rules are
// tried in the order of the code; the table lists their effects.
//
//	the message is                    with an open question      else
//	a value that fits                 its answer                 the question again, if it has expired
//	yes or no                         asked again                says how to decide
//	"no, Bruno", "make it 3"          corrects the request       changes the last request, or its gate
//	"and what does she earn?"         -                          a request about whom the last one was about
//	"and for Bruno?", "Bruno"         -                          the last request with other values
//	"rename it to Sales"              the request's name         the name in the last request, or in its gate
//	"delete it again"                 -                          undo of what the last request has made
//	"no, the other one"               -                          asks which, instead of a pending write
//	"change it back"                  -                          the state before a pending change; else undo
//	"the US one"                      the option, the value      the value in the last request; else a row of the table
//	about the last table              -                          the table, sorted, cut, counted
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

// withdrawnByMessage handles a message that reverts the last request, or asks for another
// object than was named.
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

// restoresForReason tells a message that wants what was done undone and says why in a
// clause of its own, which asks for nothing: "take that off again, legal wants to look first".
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

// answersQuestion reports whether a bare word of the grammar, such as "approve" or
// "stop", is an answer to the question of a procedure that was shown last.
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

// edited is the request that a message takes the place of in its history, if
// somebody has edited it there.
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

// edit makes a request take the place of the one that it was edited from, as far
// as that still waits: an edited message is no second write.
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

// classifyAnswer decides what a message is if a question was displayed last.
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

// show makes a turn of nothing but a question once more.
func show(t orchestrator.Turn, q contracts.Interrupt, notice string) orchestrator.Turn {
	t.Kind, t.Command, t.RedisplayedQuestionID, t.Notice, t.RunID = orchestrator.TurnCommand, again, q.InterruptID, notice, q.RunID
	return t
}

// expiredQuestion returns an open question that the message would answer, had it been
// displayed recently.
func (r *classifier) expiredQuestion(ctx context.Context, who access.Principal, in Input, s sessionContext) (contracts.Interrupt, bool) {
	if in.thread().Marked || len(s.questions) != 1 || len(strings.Fields(in.Message)) > 3 {
		return contracts.Interrupt{}, false
	}
	_, fits := r.value(ctx, who, s.questions[0], in.Message)
	return s.questions[0], fits
}

// takesWords reports whether any words would be an answer, to take or to search by.
func takesWords(q contracts.Interrupt, words string) bool {
	_, searches := decision.SearchAgain(q, words)
	return searches || freeText(q)
}

func freeText(q contracts.Interrupt) bool {
	kind, _ := q.ResponseSchema["type"].(string)
	return len(q.Options) == 0 && kind == "string" && q.ResponseSchema["pattern"] == nil && q.ResponseSchema["format"] == nil && q.ResponseSchema["enum"] == nil
}

// fragment reads a message as one that goes on from the last request. A bare
// number changes its one number.
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

// isNewRequest reports whether a fragment is a request by itself: "wait, who is Bruno?" It is
// not if it only gives a name, or values for what was asked: "no, in the sales channel".
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

// maxBare is how many words a message may have that is nothing but values.
const maxBare = 4

// namedInstead reads "no, Bruno" to a question whose answer may be any text: a
// name is the answer. What is said in small letters may be the text itself.
func namedInstead(message string) (string, bool) {
	f, ok := chat.ReadFragment(message)
	return f.Rest, ok && f.Kind == chat.FragmentCorrect && isName(f.Rest)
}

// isName tells a few words that are all written as names are.
func isName(text string) bool {
	words := strings.Fields(text)
	small := slices.ContainsFunc(words, func(w string) bool { first, _ := utf8.DecodeRuneInString(w); return !unicode.IsUpper(first) })
	return len(words) > 0 && len(words) <= maxBare && !small
}
